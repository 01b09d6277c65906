# SPDX-License-Identifier: LGPL-2.1-or-later
"""Messages of Babeltrace 2's Python bindings, bt2, with corrected times."""
from __future__ import annotations

import errno
import heapq
from typing import Any, Iterable, Iterator, NamedTuple, Optional, Union

from .errors import Error
from .estimate import Synchronization
from .handles import Text, as_list
from .reader import Reader
from .result import Host, Result


class Corrected(NamedTuple):
    time_ns: int                    # time on the reference clock
    bound_ns: Optional[int]         # largest error of time_ns; None if unknown
    host: str
    msg: Any                        # message of bt2, with the trace's own time


def _bt2() -> Any:
    try:
        import bt2  # type: ignore
    except ImportError as error:
        raise Error(errno.ENOSYS, "The Python module bt2 of Babeltrace 2 is missing; install it "
                    "(Debian: python3-bt2).") from error
    return bt2


def _time(msg: Any) -> Optional[int]:
    """Return the time of the trace's clock, or None if the message has none."""
    for name in "default_clock_snapshot", "beginning_default_clock_snapshot":
        try:
            time: int = getattr(msg, name).ns_from_origin
            return time
        except (AttributeError, ValueError):
            pass                    # another kind of message, or a stream without a clock
    return None


def _correct(messages: Iterable[Any], path: str, host: Host, shift_ns: int,
             extrapolate: bool) -> Iterator[Corrected]:
    clock = host.clock
    for msg in messages:
        shown = _time(msg)
        if shown is None:
            continue
        time_ns = shown + shift_ns
        if not extrapolate and not host.holds(time_ns):
            raise Error(errno.ERANGE, f"{path}: some times are far outside the time range of the "
                        f"result for {host.name}; use the result of this recording, or "
                        "extrapolate=True.")
        yield Corrected(*clock.convert(time_ns, extrapolate=True), host.name, msg)


def messages(result: Result, inputs: Union[Text, Iterable[Text]], *,
             extrapolate: bool = False) -> Iterator[Corrected]:
    """Return all messages that have a time, in the order of the reference clock. Traces
    of formats other than CTF are skipped."""
    bt2 = _bt2()
    # The reader finds traces, identifies their hosts, and keeps the readable parts of
    # damaged traces.
    reader = Reader(Synchronization())
    for what in as_list(inputs):
        reader.add(what)
    corrected = []
    for trace in reader.traces:
        if trace.format != "ctf":
            continue
        host, shift_ns = result.host_of(trace)
        spec = bt2.ComponentSpec.from_named_plugin_and_component_class(
            "ctf", "fs", {"inputs": [trace.readable or trace.path]})
        corrected.append(_correct(bt2.TraceCollectionMessageIterator(spec), trace.path, host,
                                  shift_ns, extrapolate or host.name == result.reference))
    return _merge(corrected, reader)


def _merge(corrected: "list[Iterator[Corrected]]", reader: Reader) -> Iterator[Corrected]:
    yield from heapq.merge(*corrected, key=lambda message: message.time_ns)
    del reader                      # not needed any more
