# SPDX-License-Identifier: LGPL-2.1-or-later
"""A reader: traces, live sessions and texts go in, into a Synchronization."""
from __future__ import annotations

import ctypes
import errno
import os
import uuid
from typing import (Any, Callable, Dict, Iterable, List, NamedTuple, Optional,
                    SupportsIndex, Tuple, Union)

from . import structs as s
from .clock import known
from .estimate import Synchronization
from .handles import Handle, Text, decode, encode, int64, uint
from .libraries import io
from .names import Limit, ValueKind
from .result import Identity, Trace

# The name of the clock in CTF traces whose times netsync has corrected.
CORRECTED_CLOCK = "netsync"

Progress = Callable[[int, int], Any]
Value = Union[int, float, bool, str, bytes]


class Event(NamedTuple):
    """struct netsync_io_event: an event of a trace; or, if the name is "", a loss of some."""
    time_ns: int
    cpu: Optional[int]          # None: not known
    system: str
    name: str
    fields: Dict[str, Value]
    context: Dict[str, Value]   # of trace.dat: the fields that all events have
    labels: Dict[str, str]      # of fields that are numbers with names
    lost: Optional[int]         # at least so many; None: nobody knows how many; 0: none


def _value(value: s.netsync_io_value) -> Value:
    if value.kind in (ValueKind.TEXT, ValueKind.BYTES):
        data = bytes(value.bytes[:value.num_bytes]) if value.bytes else b""
        return data if value.kind == ValueKind.BYTES else decode(data)
    return (value.real if value.kind == ValueKind.REAL else
            bool(value.number) if value.kind == ValueKind.BOOL else
            value.number if value.kind == ValueKind.SIGNED else value.number % 2**64)


def _trace(info: s.netsync_io_trace) -> Trace:
    seen = info.first_ns <= info.last_ns
    clock = uuid.UUID(bytes=bytes(info.clock_uuid)) if info.has_clock_uuid else None
    return Trace(
        decode(info.path), info.shift_ns, info.netns or None,
        None if info.host == s.NO_HOST else info.host, info.packets,
        known(info.first_ns) if seen else None, info.last_ns if seen else None,
        info.lost_events, info.lost_packets, info.damaged, bool(info.running),
        bool(info.late), decode(info.format),
        Identity(decode(info.host_name),
                 None if info.clock_name is None else decode(info.clock_name), clock,
                 info.epoch_ns),
        None if info.readable is None else decode(info.readable))


class Reader:
    """struct netsync_io. @warn is told of what went less than well."""

    def __init__(self, synchronization: Synchronization,
                 warn: Optional[Callable[[str], Any]] = None) -> None:
        library = self._io = io()
        needs = synchronization._handle
        self._handle = Handle(library.netsync_io_new(needs.pointer), library.netsync_io_free,
                              library.netsync_io_error, needs)
        if warn is not None:
            say = warn
            call = needs.guard.told(lambda _, sentence: say(decode(sentence)) and 0)

            def tell(data: Any, sentence: bytes) -> None:
                call(data, sentence)
            self._warn = s.warn_func(tell)
            self._handle.call(library.netsync_io_set_warn, self._warn, None)
        synchronization._traces.append(lambda: self.traces)

    def add(self, what: Text) -> int:
        """Open the traces of a file or folder: "PATH", or "NAME=PATH". Return: how many."""
        return self._handle.number(self._io.netsync_io_add, encode(what))

    def add_address(self, what: str) -> None:
        """An address of a captured host: "NAME=ADDRESS"."""
        self._handle.call(self._io.netsync_io_add_address, encode(what))

    def add_messages(self, path: Text, strict: bool = False) -> None:
        """A text of messages; see netsync-messages(5)."""
        self._handle.call(self._io.netsync_io_add_messages, encode(path), strict)

    def add_packets(self, path: Text, strict: bool = False) -> None:
        """A text of packet events; see netsync-packets(5)."""
        self._handle.call(self._io.netsync_io_add_packets, encode(path), strict)

    def add_clocks(self, path: Text, strict: bool = False) -> None:
        """A text of how clocks were steered; see netsync-clocks(5)."""
        self._handle.call(self._io.netsync_io_add_clocks, encode(path), strict)

    def split_netns(self, split: bool = True) -> None:
        """Make a host of every network namespace."""
        self._handle.call(self._io.netsync_io_set_split_netns, split)

    def jobs(self, number: int) -> None:
        """Read so many traces at a time; 0, as at first: as there are processors."""
        self._handle.call(self._io.netsync_io_set_jobs, number)

    def window(self, begin_ns: Optional[int] = None, end_ns: Optional[int] = None, *,
               kind: Limit = Limit.AT) -> None:
        """Read only a part of the time, by each host's own clock; None: no such limit."""
        part = s.netsync_io_window(
            size=ctypes.sizeof(s.netsync_io_window),
            begin_is=Limit.NO_LIMIT if begin_ns is None else kind,
            end_is=Limit.NO_LIMIT if end_ns is None else kind,
            begin_ns=int64(begin_ns or 0), end_ns=int64(end_ns or 0))
        self._handle.call(self._io.netsync_io_set_window, part)

    def read(self, progress: Optional[Progress] = None) -> None:
        """Read all that was added. @progress is called with how much is done, of how much;
        if it returns anything true, reading stops with an Error."""
        self._handle.call(self._io.netsync_io_read, self._progress(progress), None)

    def _progress(self, progress: Optional[Progress]) -> Any:
        """Called in any case, so that ^C is heard and what watchers raise ends it."""
        guard = self._handle.guard

        def step(_: Any, done: int, total: int) -> int:
            return int(bool(guard.raised or (progress and progress(done, total))))
        return s.progress_func(guard.told(step, otherwise=1))

    def _keep(self, keep: Optional[Callable[[int], Any]]) -> Any:
        """Without one, a null pointer: all are kept."""
        def is_kept(_: Any, time_ns: int) -> int:
            return int(bool(keep and keep(time_ns)))
        if not keep:
            return ctypes.cast(0, s.keep_func)
        return s.keep_func(self._handle.guard.told(is_kept, otherwise=0))

    def add_live(self, url: str) -> None:
        """Follow live sessions of an LTTng relay daemon: "net://HOST[:PORT]..."."""
        self._handle.call(self._io.netsync_io_add_live, encode(url))

    def add_live_clocks(self, path: Text) -> None:
        """Follow a file of how clocks are steered, netsync-clocks(5), as it grows."""
        self._handle.call(self._io.netsync_io_add_live_clocks, encode(path))

    def poll(self, timeout_ms: int = 0) -> int:
        """Push what has come from live sessions. Return: how many packet events."""
        return self._handle.number(self._io.netsync_io_poll, uint(timeout_ms, 31))

    @property
    def traces(self) -> Tuple[Trace, ...]:
        found: List[Trace] = []

        def collect(pointer: int) -> None:
            for i in range(self._io.netsync_io_num_traces(pointer)):
                info = s.netsync_io_trace(size=ctypes.sizeof(s.netsync_io_trace))
                self._io.netsync_io_get_trace(pointer, i, info)
                found.append(_trace(info))
        self._handle.call(collect)
        return tuple(found)

    # ---- all events

    def read_events(self, sources: Union[Text, Iterable[Tuple[Text, SupportsIndex]]],
                    each: Callable[[Event], Any]) -> None:
        """Read all events of a trace of CTF or trace.dat, or of several of a host, each with
        a shift (ns) of its times; @each is told of every one, in the order of time, and
        stops reading by returning anything true."""
        guard = self._handle.guard
        if isinstance(sources, (str, bytes, os.PathLike)):
            sources = [(sources, 0)]
        pairs = [s.netsync_io_source(encode(path), int64(shift)) for path, shift in sources]
        array = (s.netsync_io_source * max(1, len(pairs)))(*pairs)

        def take(_: Any, pointer: Any) -> int:
            return int(bool(guard.raised or each(self._event(pointer))))
        callback = s.event_func(guard.told(take, otherwise=1))
        self._handle.call(self._io.netsync_io_read_events, array, len(pairs),
                          ctypes.sizeof(s.netsync_io_source), callback, None)

    def _event(self, pointer: Any) -> Event:
        event = pointer[0]
        context: Dict[str, Value] = {}
        fields: Dict[str, Value] = {}
        labels: Dict[str, str] = {}
        for i in range(event.num_fields):
            value = s.netsync_io_value(size=ctypes.sizeof(s.netsync_io_value))
            if self._io.netsync_io_event_value(pointer, i, value):
                continue
            name = decode(event.fields[i])
            (context if i < event.num_context else fields)[name] = _value(value)
            if value.kind in (ValueKind.SIGNED, ValueKind.UNSIGNED) and value.num_bytes:
                labels[name] = decode(bytes(value.bytes[:value.num_bytes]))
        return Event(event.time_ns, None if event.cpu == s.NO_CPU else event.cpu,
                     decode(event.system), decode(event.name), fields, context, labels,
                     None if event.lost == s.LOST_SOME else event.lost)

    # ---- copies with other times

    def copy_tracedat(self, source: Text, to: Text,
                      knots: Iterable[Tuple[SupportsIndex, SupportsIndex]],
                      progress: Optional[Progress] = None,
                      keep: Optional[Callable[[int], Any]] = None) -> None:
        """Copy a trace.dat file with other times: between knots, each a time in the file
        and what it is to be, these are interpolated. @keep is called with the time of each
        event: the copy has those for which it returns anything true."""
        pairs = [s.netsync_io_knot(int64(time), int64(new)) for time, new in knots]
        array = (s.netsync_io_knot * max(1, len(pairs)))(*pairs)
        self._handle.call(self._io.netsync_io_copy_tracedat_part, encode(source), encode(to),
                          array, len(pairs), ctypes.sizeof(s.netsync_io_knot),
                          self._keep(keep), self._progress(progress), None)

    def copy_capture(self, source: Text, to: Text,
                     time: Callable[[int], Optional[SupportsIndex]]) -> None:
        """Copy a capture with other times: each is given to @time, which returns what it is
        to be; None: it cannot be changed. The copy has all packets."""
        def change(_: Any, time_ns: int, new_ns: Any) -> int:
            new = time(time_ns)
            if new is None:
                return -errno.ERANGE
            new_ns[0] = int64(new)
            return 0
        callback = s.time_func(self._handle.guard.told(change, otherwise=-errno.ECANCELED))
        self._handle.call(self._io.netsync_io_copy_capture, encode(source), encode(to),
                          callback, None)
