# SPDX-License-Identifier: LGPL-2.1-or-later
"""The functions of libnetsync and libnetsync-io. ctypes needs no compiler, works with
every version of Python, and releases Python's lock during each call."""
from __future__ import annotations

import ctypes
import functools
import os
from ctypes import (POINTER, c_char_p, c_int, c_int64, c_size_t, c_uint32, c_void_p)
from typing import Any

from . import structs as s

# Directory into which make install put the libraries; "" if the loader searches it.
LIBDIR = ""

# Types of the result and the arguments of each function.
FUNCTIONS: dict[str, tuple[Any, ...]] = {
    "netsync_version": (c_char_p,),
    "netsync_new": (c_void_p,),
    "netsync_free": (None, c_void_p),
    "netsync_error": (c_char_p, c_void_p),
    "netsync_add_host": (c_int, c_void_p, c_char_p),
    "netsync_extend_span": (c_int, c_void_p, c_uint32, c_int64),
    "netsync_push_packet": (c_int, c_void_p, POINTER(s.netsync_packet)),
    "netsync_advance": (c_int, c_void_p, c_uint32, c_int64),
    "netsync_pause": (c_int, c_void_p, c_uint32),
    "netsync_limit_packets": (None, c_void_p, c_uint32),
    "netsync_use_threads": (None, c_void_p, c_uint32),
    "netsync_packet_shards": (c_uint32, POINTER(s.netsync_packet)),
    "netsync_keep_shards": (c_int, c_void_p, c_uint32),
    "netsync_push_message": (c_int, c_void_p, c_uint32, c_uint32, c_int64, c_int64),
    "netsync_push_clock": (c_int, c_void_p, POINTER(s.netsync_clock_point)),
    "netsync_save_messages": (c_int, c_void_p, s.write_func, c_void_p),
    "netsync_merge_messages": (c_int, c_void_p, c_void_p, c_size_t),
    "netsync_watch_packets": (None, c_void_p, s.packet_func, c_void_p),
    "netsync_watch_messages": (None, c_void_p, s.message_func, c_void_p),
    "netsync_solve": (c_int, c_void_p, POINTER(s.netsync_options)),
    "netsync_quality_name": (c_char_p, c_int),
    "netsync_num_hosts": (c_uint32, c_void_p),
    "netsync_num_pairs": (c_uint32, c_void_p),
    "netsync_reference": (c_int, c_void_p),
    "netsync_get_host": (c_int, c_void_p, c_uint32, POINTER(s.netsync_host_info)),
    "netsync_get_pair": (c_int, c_void_p, c_uint32, POINTER(s.netsync_pair_info)),
    "netsync_get_stats": (c_int, c_void_p, POINTER(s.netsync_stats)),
    "netsync_get_step": (c_int, c_void_p, c_uint32, c_uint32, POINTER(s.netsync_step)),
    "netsync_get_stack": (c_int, c_void_p, c_uint32, c_int, POINTER(s.netsync_stack)),
    "netsync_get_steering": (c_int, c_void_p, c_uint32, POINTER(s.netsync_steering)),
    "netsync_host_clock": (c_void_p, c_void_p, c_uint32),
    "netsync_clock_new": (c_int, POINTER(s.netsync_model), POINTER(c_void_p)),
    "netsync_clock_free": (None, c_void_p),
    "netsync_clock_model": (c_int, c_void_p, POINTER(s.netsync_model)),
    "netsync_model_segment": (POINTER(s.netsync_segment), POINTER(s.netsync_model), c_uint32),
    "netsync_model_knot": (POINTER(s.netsync_knot), POINTER(s.netsync_model), c_uint32),
    "netsync_model_deviation": (POINTER(s.netsync_deviation_knot), POINTER(s.netsync_model),
                                c_uint32),
    "netsync_convert": (c_int, c_void_p, c_int64, POINTER(c_int64), POINTER(c_int64)),
    "netsync_convert_many": (c_int, c_void_p, c_size_t, POINTER(c_int64), POINTER(c_int64),
                             POINTER(c_int64)),
    "netsync_deviation": (c_int64, c_void_p, c_int64),
    "netsync_deviation_many": (None, c_void_p, c_size_t, POINTER(c_int64), POINTER(c_int64)),
    "netsync_interval": (c_int, c_void_p, c_int64, POINTER(c_int64), POINTER(c_int64)),
    "netsync_order": (c_int, c_void_p, c_int64, c_void_p, c_int64),
    "netsync_utc_clock_new": (c_int, c_void_p, POINTER(s.netsync_utc_bound), c_size_t, c_size_t,
                              POINTER(c_void_p)),
    "netsync_utc_interval": (c_int, c_void_p, c_void_p, c_int64, POINTER(c_int64),
                             POINTER(c_int64)),
}
IO_FUNCTIONS: dict[str, tuple[Any, ...]] = {
    "netsync_io_new": (c_void_p, c_void_p),
    "netsync_io_free": (None, c_void_p),
    "netsync_io_error": (c_char_p, c_void_p),
    "netsync_io_set_warn": (None, c_void_p, s.warn_func, c_void_p),
    "netsync_io_add": (c_int, c_void_p, c_char_p),
    "netsync_io_add_address": (c_int, c_void_p, c_char_p),
    "netsync_io_add_messages": (c_int, c_void_p, c_char_p, c_int),
    "netsync_io_add_packets": (c_int, c_void_p, c_char_p, c_int),
    "netsync_io_add_clocks": (c_int, c_void_p, c_char_p, c_int),
    "netsync_io_set_jobs": (None, c_void_p, c_uint32),
    "netsync_io_set_timeout": (None, c_void_p, c_int64),
    "netsync_io_num_left_out": (c_uint32, c_void_p),
    "netsync_io_get_left_out": (c_int, c_void_p, c_uint32, POINTER(s.netsync_io_left_out)),
    "netsync_io_get_utc_bound": (c_int, c_void_p, c_uint32, POINTER(s.netsync_utc_bound),
                                 c_size_t),
    "netsync_io_set_window": (c_int, c_void_p, POINTER(s.netsync_io_window)),
    "netsync_io_watch_relations": (None, c_void_p, s.relation_func, c_void_p),
    "netsync_io_set_split_gpus": (None, c_void_p, c_int),
    "netsync_io_set_split_netns": (None, c_void_p, c_int),
    "netsync_io_set_part": (c_int, c_void_p, POINTER(s.netsync_io_part)),
    "netsync_io_save_counts": (c_int, c_void_p, s.write_func, c_void_p),
    "netsync_io_merge_counts": (c_int, c_void_p, c_void_p, c_size_t),
    "netsync_io_read": (c_int, c_void_p, s.progress_func, c_void_p),
    "netsync_io_add_live": (c_int, c_void_p, c_char_p),
    "netsync_io_add_live_clocks": (c_int, c_void_p, c_char_p),
    "netsync_io_poll": (c_int, c_void_p, c_int),
    "netsync_io_serve": (c_int, c_void_p, POINTER(c_char_p), c_uint32, c_int, c_int),
    "netsync_io_describe": (c_int, c_void_p, POINTER(c_char_p), c_uint32, c_int),
    "netsync_io_add_served": (c_int, c_void_p, c_char_p, c_char_p, c_int, c_int),
    "netsync_io_num_served": (c_uint32, c_void_p),
    "netsync_io_get_served": (c_int, c_void_p, c_uint32, POINTER(s.netsync_io_served)),
    "netsync_io_num_traces": (c_uint32, c_void_p),
    "netsync_io_get_trace": (c_int, c_void_p, c_uint32, POINTER(s.netsync_io_trace)),
    "netsync_io_read_events": (c_int, c_void_p, POINTER(s.netsync_io_source), c_uint32,
                               c_size_t, s.event_func, c_void_p),
    "netsync_io_event_value": (c_int, POINTER(s.netsync_io_event), c_uint32,
                               POINTER(s.netsync_io_value)),
    "netsync_io_read_frames": (c_int, c_void_p, c_char_p, s.frame_func, c_void_p),
    "netsync_io_copy_tracedat": (c_int, c_void_p, c_char_p, c_char_p,
                                 POINTER(s.netsync_io_knot), c_uint32, c_uint32,
                                 s.progress_func, c_void_p),
    "netsync_io_copy_tracedat_part": (c_int, c_void_p, c_char_p, c_char_p,
                                      POINTER(s.netsync_io_knot), c_uint32, c_uint32,
                                      s.keep_func, s.progress_func, c_void_p),
    "netsync_io_copy_capture": (c_int, c_void_p, c_char_p, c_char_p, s.time_func, c_void_p),
    "netsync_io_merge_captures": (c_int, c_void_p, POINTER(s.netsync_io_capture), c_uint32,
                                  c_size_t, c_char_p, c_int, s.progress_func, c_void_p),
    "netsync_io_copy_kineto": (c_int, c_void_p, c_char_p, c_char_p, s.time_func, c_void_p),
    "netsync_io_copy_retis": (c_int, c_void_p, c_char_p, c_char_p, s.time_func, c_void_p),
    "netsync_io_copy_spans": (c_int, c_void_p, c_char_p, c_char_p, s.host_time_func, c_void_p),
    "netsync_io_copy_otf2": (c_int, c_void_p, c_char_p, c_char_p, s.host_time_func, c_void_p),
    "netsync_io_copy_perf": (c_int, c_void_p, c_char_p, c_char_p, s.time_func, c_void_p),
}


def _load(name: str, functions: dict[str, tuple[Any, ...]]) -> Any:
    path = os.path.join(LIBDIR, name)
    try:
        library = ctypes.CDLL(path)
        for function, (result, *arguments) in functions.items():
            getattr(library, function).restype = result
            getattr(library, function).argtypes = arguments
    except OSError as error:
        raise ImportError(f"Cannot load {path}; install libnetsync, or set LD_LIBRARY_PATH to "
                          f"its directory ({error}).") from error
    except AttributeError as error:
        raise ImportError(f"{path} is older than this package, or damaged; install the same "
                          f"version of both ({error}).") from error
    return library


core = _load("libnetsync.so.0", FUNCTIONS)


@functools.lru_cache(maxsize=None)
def io() -> Any:
    """Load libnetsync-io, and Babeltrace 2 with it, when it is first needed."""
    return _load("libnetsync-io.so.0", IO_FUNCTIONS)


def version() -> str:
    """Return the version of the library."""
    text: bytes = core.netsync_version()
    return text.decode()
