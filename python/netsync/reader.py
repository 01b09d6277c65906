# SPDX-License-Identifier: LGPL-2.1-or-later
"""A reader of traces, live sessions and texts for a Synchronization."""
from __future__ import annotations

import ctypes
import errno
import os
import uuid
from ctypes import c_void_p
from typing import (Any, Callable, Dict, Iterable, List, NamedTuple, Optional, Protocol,
                    SupportsIndex, Tuple, Union)

from . import structs as s
from .clock import known
from .estimate import Synchronization
from .events import ClockPoint, Packet, UtcBound
from .handles import Handle, Text, as_list, decode, encode, int64, uint
from .libraries import io
from .names import Limit, RelationKind, Role, ValueKind
from .result import Identity, Trace

# The clock's name in CTF traces that netsync has corrected.
CORRECTED_CLOCK = "netsync"

Progress = Callable[[int, int], Any]
Value = Union[int, float, bool, str, bytes]


class HasDescriptor(Protocol):
    """A file, a socket, or the pipe of a process."""
    def fileno(self) -> int: ...


def _descriptor(file: Union[int, HasDescriptor]) -> int:
    return uint(file if isinstance(file, int) else file.fileno(), 31)


def _texts(what: Union[Text, Iterable[Text]]) -> Any:
    texts = [encode(text) for text in as_list(what)]
    return (ctypes.c_char_p * len(texts))(*texts)


class Served(NamedTuple):
    """struct netsync_io_served: a process that serves traces."""
    label: str
    traces: int
    stored_bytes: int
    received_bytes: int
    ended: bool                 # True if the connection ended before all was read
    left_out: int               # number of paths and captures that the server skipped


class LeftOut(NamedTuple):
    """struct netsync_io_left_out: a trace, file or directory that was skipped."""
    what: str                   # path of the skipped input
    why: str


class Span(NamedTuple):
    """struct netsync_io_span: what one member of a relation did."""
    start_ns: int               # host time
    end_ns: int
    host: int
    member: int                 # number of the member, such as its rank
    role: Role


class Relation(NamedTuple):
    """struct netsync_io_relation: spans of all hosts that belong together."""
    group: str                  # name of the members together
    what: str                   # kind of operation, such as "allreduce"
    step: Optional[int]         # step of the program
    members: int                # some of their spans may be missing
    spans: Tuple[Span, ...]     # ordered by host
    kind: RelationKind
    group_id: int               # of the process group or trace; several groups may share a name


class Event(NamedTuple):
    """struct netsync_io_event: an event of a trace, or a loss of events if the name is ""."""
    time_ns: int
    cpu: Optional[int]          # None if unknown
    system: str
    name: str
    fields: Dict[str, Value]
    context: Dict[str, Value]   # context fields; in trace.dat and perf.data, fields of all events
    labels: Dict[str, str]      # names of the numbers in numeric fields
    lost: Optional[int]         # minimum number of lost events; None if unknown


class Frame(NamedTuple):
    """struct netsync_io_frame: a frame of a capture that contains a packet."""
    number: int                 # Wireshark's frame.number
    time_ns: int                # start of the timestamp's tick
    tick_ns: int                # length of a tick
    packet: Packet              # packet, without host, point and direction


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
        None if info.readable is None else decode(info.readable),
        info.wall_shift_ns if info.has_wall else None)


def _relation(pointer: Any) -> Relation:
    relation = pointer[0]
    first = ctypes.cast(relation.spans, c_void_p).value or 0
    # A later version of the library may have larger spans.
    spans = (s.netsync_io_span.from_address(first + i * relation.span_size)
             for i in range(relation.num_spans))
    return Relation(decode(relation.group), decode(relation.what),
                    relation.step if relation.step >= 0 else None, relation.members,
                    tuple(Span(one.start_ns, one.end_ns, one.host, one.member, Role(one.role))
                          for one in spans),
                    RelationKind(relation.kind), relation.group_id[0] << 64 | relation.group_id[1])


class Reader:
    """struct netsync_io. @warn is called with each warning."""

    def __init__(self, synchronization: Synchronization,
                 warn: Optional[Callable[[str], Any]] = None) -> None:
        library = self._io = io()
        needs = synchronization._handle
        self._handle = Handle(library.netsync_io_new(needs.pointer), library.netsync_io_free,
                              library.netsync_io_error, needs)
        if warn is not None:
            self._handle.watch(library.netsync_io_set_warn, s.warn_func, decode, warn)
        self._files: List[Any] = []
        synchronization._traces.append(lambda: self.traces)

    def add(self, what: Text) -> int:
        """Open the traces in a file or directory, "PATH" or "NAME=PATH". Return their number."""
        return self._handle.number(self._io.netsync_io_add, encode(what))

    def add_address(self, what: str) -> None:
        """Add an address of a captured host: "NAME=ADDRESS"."""
        self._handle.call(self._io.netsync_io_add_address, encode(what))

    def add_messages(self, path: Text, strict: bool = False) -> None:
        """Add a text file of messages; see netsync-messages(5)."""
        self._handle.call(self._io.netsync_io_add_messages, encode(path), strict)

    def add_packets(self, path: Text, strict: bool = False) -> None:
        """Add a text file of packet events; see netsync-packets(5)."""
        self._handle.call(self._io.netsync_io_add_packets, encode(path), strict)

    def add_clocks(self, path: Text, strict: bool = False) -> None:
        """Add a text file of clock readings; see netsync-clocks(5)."""
        self._handle.call(self._io.netsync_io_add_clocks, encode(path), strict)

    def split_netns(self, split: bool = True) -> None:
        """Treat every network namespace as a separate host."""
        self._handle.call(self._io.netsync_io_set_split_netns, split)

    def split_gpus(self, split: bool = True) -> None:
        """Treat every rank in profiles that are added from now on as a separate host."""
        self._handle.call(self._io.netsync_io_set_split_gpus, split)

    def jobs(self, number: int) -> None:
        """Read this many traces at a time. The default of 0 is the number of processors."""
        self._handle.call(self._io.netsync_io_set_jobs, number)

    def timeout(self, timeout_ns: int) -> None:
        """Stop reading a trace after this time without progress. The default of 0 is 120 s.
        Call this before add()."""
        self._handle.call(self._io.netsync_io_set_timeout, int64(timeout_ns))

    @property
    def left_out(self) -> Tuple[LeftOut, ...]:
        """The traces, files and directories that add() skipped."""
        found: List[LeftOut] = []

        def collect(pointer: int) -> None:
            for i in range(self._io.netsync_io_num_left_out(pointer)):
                info = s.netsync_io_left_out(size=ctypes.sizeof(s.netsync_io_left_out))
                self._io.netsync_io_get_left_out(pointer, i, info)
                found.append(LeftOut(decode(info.what), decode(info.why)))
        self._handle.within(collect)
        return tuple(found)

    @property
    def utc_bounds(self) -> Tuple[UtcBound, ...]:
        """Bounds on hosts' differences from UTC that read() found in files of clock readings."""
        found: List[UtcBound] = []

        def collect(pointer: int) -> None:
            bound = s.netsync_utc_bound()
            while not self._io.netsync_io_get_utc_bound(pointer, len(found), bound,
                                                        ctypes.sizeof(bound)):
                found.append(UtcBound._from(bound))
        self._handle.within(collect)
        return tuple(found)

    def window(self, begin_ns: Optional[int] = None, end_ns: Optional[int] = None, *,
               kind: Limit = Limit.AT) -> None:
        """Read only a part of the time, on each host's own clock. None means no limit."""
        part = s.netsync_io_window(
            size=ctypes.sizeof(s.netsync_io_window),
            begin_is=Limit.NO_LIMIT if begin_ns is None else kind,
            end_is=Limit.NO_LIMIT if end_ns is None else kind,
            begin_ns=int64(begin_ns or 0), end_ns=int64(end_ns or 0))
        self._handle.call(self._io.netsync_io_set_window, part)

    # ---- traces that are served, and parts of them

    def serve(self, what: Union[Text, Iterable[Text]], source: Union[int, HasDescriptor],
              to: Union[int, HasDescriptor]) -> None:
        """Serve traces until the other side has read all of them. The other side calls
        add_served() with the other ends of these descriptors. The reader must be new,
        and is for no other use."""
        array = _texts(what)
        self._handle.call(self._io.netsync_io_serve, array, len(array), _descriptor(source),
                          _descriptor(to))

    def describe(self, what: Union[Text, Iterable[Text]],
                 to: Union[int, HasDescriptor]) -> None:
        """Write the list of these traces, for add_served() in processes where others read
        them; see part(). The reader must be new, and is for no other use."""
        array = _texts(what)
        self._handle.call(self._io.netsync_io_describe, array, len(array), _descriptor(to))

    def add_served(self, label: str, source: Union[int, HasDescriptor],
                   to: Union[int, HasDescriptor], name: Optional[str] = None) -> int:
        """Add the traces of a process that serves them. @label names the machine; @name
        replaces the hosts that the traces name. Return the number of traces."""
        for file in source, to:
            os.set_blocking(_descriptor(file), False)
        # The files must stay open until all traces are read.
        self._files += [source, to]
        return self._handle.number(self._io.netsync_io_add_served, encode(label),
                                   None if name is None else encode(name),
                                   _descriptor(source), _descriptor(to))

    @property
    def served(self) -> Tuple[Served, ...]:
        """The state of each added server."""
        found: List[Served] = []

        def collect(pointer: int) -> None:
            for i in range(self._io.netsync_io_num_served(pointer)):
                info = s.netsync_io_served(size=ctypes.sizeof(s.netsync_io_served))
                self._io.netsync_io_get_served(pointer, i, info)
                found.append(Served(decode(info.label), info.num_traces, info.stored_bytes,
                                    info.received_bytes, bool(info.ended), info.left_out))
        self._handle.within(collect)
        return tuple(found)

    def part(self, part: SupportsIndex, parts: SupportsIndex, *,
             packet: Callable[[Packet], Any], clock: Callable[[ClockPoint], Any],
             slice: Callable[[int, int], SupportsIndex], end: Callable[[], Any]) -> None:
        """Read only this part; readers in other processes read the other parts. The
        functions are called with what is found. They may push to this synchronization.
        @end, called when all was read, may save and merge counts; see
        netsync_io_set_part(3)."""
        def wrap(function: Callable[..., Optional[int]]) -> Callable[..., int]:
            return self._handle.guard.wrap(lambda _, *given: function(*given),
                                           otherwise=-errno.ECANCELED, may_push=True)

        def of_packet(pointer: Any) -> None:
            packet(Packet._from(pointer[0]))

        def of_clock(pointer: Any) -> None:
            clock(ClockPoint._from(pointer[0]))

        def of_end() -> None:
            end()
        self._part = s.netsync_io_part(
            size=ctypes.sizeof(s.netsync_io_part), part=uint(part), parts=uint(parts),
            packet=s.part_func(wrap(of_packet)), clock=s.clock_func(wrap(of_clock)),
            slice=s.slice_func(wrap(lambda done, slices: uint(slice(done, slices), 31))),
            end=s.end_func(wrap(of_end)))
        self._handle.call(self._io.netsync_io_set_part, self._part)

    def save_counts(self) -> bytes:
        """Return the counts of the traces of this part; allowed in @end."""
        return self._handle.written(self._io.netsync_io_save_counts)

    def merge_counts(self, saved: bytes) -> None:
        """Add the counts that the reader of another part saved; allowed in @end."""
        self._handle.within(self._io.netsync_io_merge_counts, bytes(saved), len(saved))

    # ---- reading

    def watch_relations(self, function: Optional[Callable[[Relation], Any]]) -> None:
        """Call a function for each relation, such as a collective operation, from which read()
        makes messages; None ends this."""
        self._handle.watch(self._io.netsync_io_watch_relations, s.relation_func, _relation,
                           function)

    def read(self, progress: Optional[Progress] = None) -> None:
        """Read everything that was added. @progress is called with the amount of data read
        and the total amount. If it returns a true value, reading stops with an Error."""
        self._handle.call(self._io.netsync_io_read, self._progress(progress), None)

    def _progress(self, progress: Optional[Progress]) -> Any:
        """Always pass a function, so that ^C and exceptions of watchers end the reading."""
        guard = self._handle.guard

        def step(_: Any, done: int, total: int) -> int:
            return int(bool(guard.raised or (progress and progress(done, total))))
        return s.progress_func(guard.wrap(step, otherwise=1))

    def _keep(self, keep: Optional[Callable[[int], Any]]) -> Any:
        """Without @keep, a null pointer: all events are kept."""
        def is_kept(_: Any, time_ns: int) -> int:
            return int(bool(keep and keep(time_ns)))
        if not keep:
            return ctypes.cast(0, s.keep_func)
        return s.keep_func(self._handle.guard.wrap(is_kept, otherwise=0))

    def add_live(self, what: str) -> None:
        """
        Follow live sessions of an LTTng relay daemon, "net://HOST[:PORT]...", or a capture that
        is being written, "[NAME=]PATH".
        """
        self._handle.call(self._io.netsync_io_add_live, encode(what))

    def add_live_clocks(self, path: Text) -> None:
        """Follow a file of clock readings, netsync-clocks(5), as it grows."""
        self._handle.call(self._io.netsync_io_add_live_clocks, encode(path))

    def poll(self, timeout_ms: int = 0) -> int:
        """Push the events of live sessions and captures. Return the number of packet events."""
        return self._handle.number(self._io.netsync_io_poll, uint(timeout_ms, 31))

    @property
    def traces(self) -> Tuple[Trace, ...]:
        found: List[Trace] = []

        def collect(pointer: int) -> None:
            for i in range(self._io.netsync_io_num_traces(pointer)):
                info = s.netsync_io_trace(size=ctypes.sizeof(s.netsync_io_trace))
                self._io.netsync_io_get_trace(pointer, i, info)
                found.append(_trace(info))
        self._handle.within(collect)
        return tuple(found)

    # ---- all events

    def read_events(self, sources: Union[Text, Iterable[Tuple[Text, SupportsIndex]]],
                    each: Callable[[Event], Any]) -> None:
        """Read all events of a trace in CTF, trace.dat or perf.data, or of several traces
        of a host, each with a shift (ns) of its times. @each is called with each event
        in the order of time, and stops the reading by returning a true value."""
        guard = self._handle.guard
        if isinstance(sources, (str, bytes, os.PathLike)):
            sources = [(sources, 0)]
        pairs = [s.netsync_io_source(encode(path), int64(shift)) for path, shift in sources]
        array = (s.netsync_io_source * max(1, len(pairs)))(*pairs)

        def take(_: Any, pointer: Any) -> int:
            return int(bool(guard.raised or each(self._event(pointer))))
        callback = s.event_func(guard.wrap(take, otherwise=1))
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

    # ---- frames of captures

    def read_frames(self, path: Text, each: Callable[[Frame], Any]) -> None:
        """Read a capture again for the numbers of its frames. @each is called with each
        frame that contains a packet, and stops the reading by returning a true value."""
        guard = self._handle.guard

        def take(_: Any, pointer: Any) -> int:
            frame = pointer[0]
            return int(bool(guard.raised or each(
                Frame(frame.number, frame.time_ns, frame.tick_ns,
                      Packet._from(frame.packet[0])))))
        callback = s.frame_func(guard.wrap(take, otherwise=1))
        self._handle.call(self._io.netsync_io_read_frames, encode(path), callback, None)

    # ---- copies with other times

    def copy_tracedat(self, source: Text, to: Text,
                      knots: Iterable[Tuple[SupportsIndex, SupportsIndex]],
                      progress: Optional[Progress] = None,
                      keep: Optional[Callable[[int], Any]] = None) -> None:
        """Copy a trace.dat file with corrected times. Knots are pairs of a time in the
        file and its new time; between them, times are interpolated. @keep is called
        with the time of each event; the copy contains those for which it returns a
        true value."""
        pairs = [s.netsync_io_knot(int64(time), int64(new)) for time, new in knots]
        array = (s.netsync_io_knot * max(1, len(pairs)))(*pairs)
        self._handle.call(self._io.netsync_io_copy_tracedat_part, encode(source), encode(to),
                          array, len(pairs), ctypes.sizeof(s.netsync_io_knot),
                          self._keep(keep), self._progress(progress), None)

    def copy_capture(self, source: Text, to: Text,
                     time: Callable[[int], Optional[SupportsIndex]]) -> None:
        """Copy a capture with corrected times. @time is called with each time, and
        returns the new time, or None if it cannot be corrected. The copy contains all
        packets."""
        self._copy(self._io.netsync_io_copy_capture, source, to, time)

    def copy_perf(self, source: Text, to: Text,
                  time: Callable[[int], Optional[SupportsIndex]]) -> None:
        """Copy a perf.data file of perf record with corrected times, as copy_capture() does."""
        self._copy(self._io.netsync_io_copy_perf, source, to, time)

    def copy_kineto(self, source: Text, to: Text,
                    time: Callable[[int], Optional[SupportsIndex]]) -> None:
        """Copy a trace of PyTorch's profiler with corrected times, as copy_capture() does."""
        self._copy(self._io.netsync_io_copy_kineto, source, to, time)

    def copy_retis(self, source: Text, to: Text,
                   time: Callable[[int], Optional[SupportsIndex]]) -> None:
        """Copy a file of Retis with corrected times, as copy_capture() does."""
        self._copy(self._io.netsync_io_copy_retis, source, to, time)

    def copy_spans(self, source: Text, to: Text,
                   time: Callable[[str, int], Optional[SupportsIndex]]) -> None:
        """Copy a file of OTLP, Jaeger or Zipkin with corrected times. @time is called with the
        name of a host in the file, and each of its times, as for copy_capture()."""
        self._copy_hosts(self._io.netsync_io_copy_spans, source, to, time)

    def copy_otf2(self, source: Text, to: Text,
                  time: Callable[[str, int], Optional[SupportsIndex]]) -> None:
        """Copy an OTF2 archive with corrected times. @source and @to are anchor files. @time is
        called with the name of a host in the archive, and some of its times."""
        self._copy_hosts(self._io.netsync_io_copy_otf2, source, to, time)

    def _copy_hosts(self, function: Any, source: Text, to: Text,
                    time: Callable[[str, int], Optional[SupportsIndex]]) -> None:
        def change(_: Any, host: bytes, time_ns: int, new_ns: Any) -> int:
            new = time(decode(host), time_ns)
            if new is None:
                return -errno.ERANGE
            new_ns[0] = int64(new)
            return 0
        callback = s.host_time_func(self._handle.guard.wrap(change, otherwise=-errno.ECANCELED))
        self._handle.call(function, encode(source), encode(to), callback, None)

    def merge_captures(self, captures: Iterable[
            Tuple[Text, Text, Optional[Text], Callable[[int], Optional[SupportsIndex]]]],
                       to: Any, comment: Optional[Text] = None,
                       progress: Optional[Progress] = None) -> None:
        """Merge captures into one pcapng file, in the order of corrected times. Each
        capture is its path, the name of its host, a description of its interfaces or
        None, and a function as for copy_capture(). @to: a file that is open for
        writing, or its descriptor."""
        functions = []
        rows = []
        for path, host, description, time in captures:
            functions.append(self._time(time))
            rows.append(s.netsync_io_capture(
                encode(path), encode(host), None,
                None if description is None else encode(description), functions[-1], None))
        array = (s.netsync_io_capture * max(1, len(rows)))(*rows)
        if not isinstance(to, int):
            to.flush()
            to = to.fileno()
        self._handle.call(self._io.netsync_io_merge_captures, array, len(rows),
                          ctypes.sizeof(s.netsync_io_capture),
                          None if comment is None else encode(comment), to,
                          self._progress(progress), None)

    def _copy(self, function: Any, source: Text, to: Text,
              time: Callable[[int], Optional[SupportsIndex]]) -> None:
        self._handle.call(function, encode(source), encode(to), self._time(time), None)

    def _time(self, time: Callable[[int], Optional[SupportsIndex]]) -> Any:
        def change(_: Any, time_ns: int, new_ns: Any) -> int:
            new = time(time_ns)
            if new is None:
                return -errno.ERANGE
            new_ns[0] = int64(new)
            return 0
        return s.time_func(self._handle.guard.wrap(change, otherwise=-errno.ECANCELED))
