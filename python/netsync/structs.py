# SPDX-License-Identifier: LGPL-2.1-or-later
"""The structures of netsync.h and netsync-io.h. selftests/python compares their fields,
and the functions of libraries.py, with the headers."""
from __future__ import annotations

import ctypes
from ctypes import (POINTER, Structure, Union, c_char_p, c_double, c_int, c_int32, c_int64,
                    c_size_t, c_uint8, c_uint16, c_uint32, c_uint64, c_void_p)

# Value of NETSYNC_UNKNOWN, an unknown bound or delay.
UNKNOWN = 2**63 - 1
NO_HOST = 2**32 - 1             # NETSYNC_IO_NO_HOST
NO_CPU = 2**32 - 1              # NETSYNC_IO_NO_CPU
LOST_SOME = 2**64 - 1           # NETSYNC_IO_LOST_SOME

Address = c_uint8 * 16


class netsync_packet(Structure):
    class Tcp(Structure):
        _fields_ = [
            ("seq", c_uint32), ("ack", c_uint32), ("flags", c_uint16), ("window", c_uint16),
            ("tsval", c_uint32), ("tsecr", c_uint32),
        ]

    class Udp(Structure):
        _fields_ = [("digest", c_uint64), ("checksum", c_uint16)]

    class Icmp(Structure):
        _fields_ = [("id", c_uint16), ("seq", c_uint16), ("type", c_uint8)]

    class Sctp(Structure):
        _fields_ = [("vtag", c_uint32), ("tsn", c_uint32), ("chunk", c_uint8)]

    class ByProtocol(Union):
        pass

    ByProtocol._fields_ = [("tcp", Tcp), ("udp", Udp), ("icmp", Icmp), ("sctp", Sctp)]
    _anonymous_ = ("by_protocol",)
    _fields_ = [
        ("size", c_uint32), ("host", c_uint32), ("time_ns", c_int64),
        ("fields", c_uint32), ("point", c_uint32), ("skb", c_uint64),
        ("saddr", Address), ("daddr", Address),
        ("sport", c_uint16), ("dport", c_uint16),
        ("dir", c_uint8), ("protocol", c_uint8), ("ip_id", c_uint16),
        ("len", c_uint32), ("netns", c_uint32), ("gso_size", c_uint16),
        ("gso_segs", c_uint16), ("by_protocol", ByProtocol),
    ]


class netsync_clock_point(Structure):
    _fields_ = [
        ("size", c_uint32), ("host", c_uint32), ("time_ns", c_int64), ("raw_ns", c_int64),
        ("within_ns", c_int64), ("rate", c_double), ("was_set", c_uint32),
        ("number", c_uint32),
    ]


class netsync_utc_bound(Structure):
    _fields_ = [
        ("from_ns", c_int64), ("to_ns", c_int64), ("within_ns", c_int64), ("host", c_uint32),
        ("reserved", c_uint32),
    ]


class netsync_message(Structure):
    _fields_ = [
        ("size", c_uint32), ("from", c_uint32), ("to", c_uint32), ("fields", c_uint32),
        ("send_ns", c_int64), ("recv_ns", c_int64), ("saddr", Address), ("daddr", Address),
        ("sport", c_uint16), ("dport", c_uint16), ("len", c_uint32), ("protocol", c_uint8),
        ("reserved", c_uint8 * 7),
    ]


class netsync_options(Structure):
    _fields_ = [
        ("size", c_uint32), ("method", c_uint32), ("reference", c_char_p),
        ("max_skew_ppm", c_double), ("max_drift_ppm_s", c_double),
        ("threads", c_uint32), ("reserved", c_uint32), ("resolution_ns", c_int64),
    ]


class netsync_host_info(Structure):
    _fields_ = [
        ("size", c_uint32), ("quality", c_int), ("name", c_char_p), ("packets", c_uint64),
        ("first_ns", c_int64), ("last_ns", c_int64), ("bound_median_ns", c_int64),
        ("bound_max_ns", c_int64), ("island", c_uint32), ("num_steps", c_uint32),
        ("silent_ns", c_int64),
        ("contradicted", c_uint32),
        ("reserved", c_uint32),
        ("deviation_median_ns", c_int64), ("deviation_max_ns", c_int64),
    ]


class netsync_step(Structure):
    _fields_ = [
        ("size", c_uint32), ("known", c_uint32), ("time_ns", c_int64),
        ("within_ns", c_int64), ("offset_ns", c_int64), ("skew_ppm", c_double),
    ]


class netsync_pair_info(Structure):
    _fields_ = [
        ("size", c_uint32), ("quality", c_int), ("host", c_uint32 * 2),
        ("messages", c_uint64 * 2), ("hull", c_uint64 * 2), ("min_delay_ns", c_int64 * 2),
        ("inversions_before", c_uint64), ("inversions_after", c_uint64),
        ("rate_min", c_double), ("rate_max", c_double), ("matched", c_uint64),
        ("nat", c_uint64), ("ambiguous", c_uint64), ("unmatched", c_uint64),
    ]


class netsync_stats(Structure):
    _fields_ = [
        ("size", c_uint32), ("reserved", c_uint32), ("packets", c_uint64),
        ("matched", c_uint64), ("unmatched", c_uint64), ("ambiguous", c_uint64),
        ("loopback", c_uint64), ("unsupported", c_uint64), ("nat", c_uint64),
        ("evicted", c_uint64),
    ]


class netsync_stack(Structure):
    _fields_ = [
        ("size", c_uint32), ("reserved", c_uint32), ("packets", c_uint64),
        ("min_ns", c_int64), ("median_ns", c_int64), ("p99_ns", c_int64),
        ("max_ns", c_int64),
    ]


class netsync_steering(Structure):
    _fields_ = [
        ("size", c_uint32), ("reserved", c_uint32), ("points", c_uint64),
        ("min_ppm", c_double), ("max_ppm", c_double), ("unknown_ns", c_int64),
        ("until_ns", c_int64),
    ]


class netsync_segment(Structure):
    _fields_ = [
        ("from_ns", c_int64), ("to_ns", c_int64), ("offset_ns", c_int64),
        ("rate", c_double), ("bound_ns", c_int64),
    ]


class netsync_knot(Structure):
    _fields_ = [("time_ns", c_int64), ("below_ns", c_int64), ("above_ns", c_int64)]


class netsync_deviation_knot(Structure):
    _fields_ = [("time_ns", c_int64), ("deviation_ns", c_int64)]


class netsync_model(Structure):
    _fields_ = [
        ("size", c_uint32), ("num_segments", c_uint32), ("num_knots", c_uint32),
        ("segment_size", c_uint32), ("knot_size", c_uint32), ("reserved", c_uint32),
        ("segments", POINTER(netsync_segment)), ("knots", POINTER(netsync_knot)),
        ("growth_ppm", c_double * 2), ("num_deviations", c_uint32),
        ("deviation_size", c_uint32), ("deviations", POINTER(netsync_deviation_knot)),
    ]


class netsync_io_trace(Structure):
    _fields_ = [
        ("size", c_uint32), ("host", c_uint32), ("path", c_char_p), ("shift_ns", c_int64),
        ("packets", c_uint64), ("first_ns", c_int64), ("last_ns", c_int64),
        ("lost_events", c_uint64), ("lost_packets", c_uint64), ("damaged", c_uint32),
        ("netns", c_uint32), ("running", c_uint32), ("late", c_uint32),
        ("format", c_char_p), ("host_name", c_char_p), ("clock_name", c_char_p),
        ("epoch_ns", c_int64), ("has_clock_uuid", c_uint32), ("clock_uuid", Address),
        ("readable", c_char_p), ("killed", c_uint32), ("stuck", c_uint32),
        ("has_wall", c_uint32), ("wall_shift_ns", c_int64),
    ]


class netsync_io_left_out(Structure):
    _fields_ = [
        ("size", c_uint32), ("reserved", c_uint32), ("what", c_char_p), ("why", c_char_p),
    ]


class netsync_io_served(Structure):
    _fields_ = [
        ("size", c_uint32), ("num_traces", c_uint32), ("label", c_char_p),
        ("stored_bytes", c_uint64), ("received_bytes", c_uint64), ("ended", c_uint32),
        ("left_out", c_uint32),
    ]


class netsync_io_knot(Structure):
    _fields_ = [("time_ns", c_int64), ("new_ns", c_int64)]


class netsync_io_event(Structure):
    _fields_ = [
        ("size", c_uint32), ("cpu", c_uint32), ("time_ns", c_int64), ("lost", c_uint64),
        ("system", c_char_p), ("name", c_char_p), ("fields", POINTER(c_char_p)),
        ("num_fields", c_uint32), ("num_context", c_uint32), ("reserved", c_void_p),
    ]


class netsync_io_source(Structure):
    _fields_ = [("path", c_char_p), ("shift_ns", c_int64)]


class netsync_io_span(Structure):
    _fields_ = [
        ("start_ns", c_int64), ("end_ns", c_int64), ("host", c_uint32), ("member", c_uint32),
        ("role", c_uint32), ("reserved", c_uint32),
    ]


class netsync_io_relation(Structure):
    _fields_ = [
        ("size", c_uint32), ("members", c_uint32), ("group", c_char_p), ("what", c_char_p),
        ("step", c_int32), ("num_spans", c_uint32), ("span_size", c_uint32),
        ("kind", c_uint32), ("spans", POINTER(netsync_io_span)),
        ("group_id", c_uint64 * 2),
    ]


class netsync_io_frame(Structure):
    _fields_ = [
        ("size", c_uint32), ("reserved", c_uint32), ("number", c_uint64), ("time_ns", c_int64),
        ("tick_ns", c_int64), ("packet", POINTER(netsync_packet)),
    ]


class netsync_io_value(Structure):
    _fields_ = [
        ("size", c_uint32), ("kind", c_uint32), ("number", c_int64),
        ("bytes", POINTER(c_uint8)), ("num_bytes", c_uint32), ("real", c_double),
    ]


part_func = ctypes.CFUNCTYPE(c_int, c_void_p, POINTER(netsync_packet))
clock_func = ctypes.CFUNCTYPE(c_int, c_void_p, POINTER(netsync_clock_point))
slice_func = ctypes.CFUNCTYPE(c_int, c_void_p, c_uint32, c_uint32)
end_func = ctypes.CFUNCTYPE(c_int, c_void_p)


class netsync_io_window(Structure):
    _fields_ = [
        ("size", c_uint32), ("begin_is", c_uint32), ("end_is", c_uint32),
        ("reserved", c_uint32), ("begin_ns", c_int64), ("end_ns", c_int64),
    ]


class netsync_io_part(Structure):
    _fields_ = [
        ("size", c_uint32), ("part", c_uint32), ("parts", c_uint32), ("reserved", c_uint32),
        ("packet", part_func), ("clock", clock_func), ("slice", slice_func),
        ("end", end_func), ("data", c_void_p),
    ]


packet_func = ctypes.CFUNCTYPE(None, c_void_p, POINTER(netsync_packet))
message_func = ctypes.CFUNCTYPE(None, c_void_p, POINTER(netsync_message))
relation_func = ctypes.CFUNCTYPE(None, c_void_p, POINTER(netsync_io_relation))
write_func = ctypes.CFUNCTYPE(c_int, c_void_p, c_void_p, c_size_t)
warn_func = ctypes.CFUNCTYPE(None, c_void_p, c_char_p)
progress_func = ctypes.CFUNCTYPE(c_int, c_void_p, c_uint64, c_uint64)
time_func = ctypes.CFUNCTYPE(c_int, c_void_p, c_int64, POINTER(c_int64))
host_time_func = ctypes.CFUNCTYPE(c_int, c_void_p, c_char_p, c_int64, POINTER(c_int64))
keep_func = ctypes.CFUNCTYPE(c_int, c_void_p, c_int64)


class netsync_io_capture(ctypes.Structure):
    _fields_ = [
        ("path", c_char_p), ("host", c_char_p), ("device", c_char_p),
        ("description", c_char_p), ("time", time_func), ("data", c_void_p),
    ]


event_func = ctypes.CFUNCTYPE(c_int, c_void_p, POINTER(netsync_io_event))
frame_func = ctypes.CFUNCTYPE(c_int, c_void_p, POINTER(netsync_io_frame))
