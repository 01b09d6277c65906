# SPDX-License-Identifier: LGPL-2.1-or-later
"""A synchronization: takes hosts and packet events, and returns a Result."""
from __future__ import annotations

import ctypes
import errno
import math
from typing import Any, Callable, Iterable, List, Optional, SupportsIndex, Tuple, Union

from . import structs as s
from .clock import Clock, known
from .errors import Error
from .events import ClockPoint, Message, Packet, UtcBound
from .handles import Handle, decode, encode, int64, uint
from .libraries import core
from .names import Dir, Method, Quality
from .result import Host, Pair, Result, Stack, Stats, Steering, Step, Trace


def method_of(name: Union[str, Method]) -> Method:
    if isinstance(name, str) and name.upper() not in Method.__members__:
        raise Error(errno.EINVAL, f"Unknown method {name!r}; the methods are: "
                    f"{', '.join(m.name.lower() for m in Method)}.")
    return Method[name.upper()] if isinstance(name, str) else name


class Synchronization:
    """struct netsync. Threads may share one; they wait for each other."""

    def __init__(self) -> None:
        self._handle = Handle(core.netsync_new(), core.netsync_free, core.netsync_error)
        # Keep references to functions that the library calls, as long as it may call them.
        # Functions of the readers that push to this object. Each returns a reader's traces.
        self._traces: List[Callable[[], Tuple[Trace, ...]]] = []

    # ---- input

    def add_host(self, name: str) -> int:
        """Add a clock. Return the host's number."""
        return self._handle.number(core.netsync_add_host, encode(name))

    def extend_span(self, host: SupportsIndex, time_ns: SupportsIndex) -> None:
        """Extend the span of time in which the host was traced to this time."""
        self._handle.call(core.netsync_extend_span, uint(host), int64(time_ns))

    def push_packet(self, packet: Packet) -> None:
        self._handle.within(core.netsync_push_packet, packet._struct())

    def advance(self, host: SupportsIndex, time_ns: Optional[SupportsIndex]) -> None:
        """Promise that all the host's packets before this time were pushed. None means all."""
        self._handle.within(core.netsync_advance, uint(host),
                            s.UNKNOWN if time_ns is None else int64(time_ns))

    def pause(self, host: SupportsIndex) -> None:
        """Let packets of other hosts no longer wait for those of this host, which are matched
        whenever they are pushed, until advance() is called."""
        self._handle.within(core.netsync_pause, uint(host))

    def limit_packets(self, num: SupportsIndex) -> None:
        """Keep at most this many packets that have no counterpart yet."""
        self._handle.call(core.netsync_limit_packets, uint(num))

    def use_threads(self, threads: SupportsIndex) -> None:
        """Match with this many threads, including the caller's."""
        self._handle.call(core.netsync_use_threads, uint(threads))

    def keep_shards(self, shards: SupportsIndex) -> None:
        """Match only the packets of these shards, given as a bit mask."""
        self._handle.call(core.netsync_keep_shards, uint(shards))

    def push_message(self, from_host: SupportsIndex, to_host: SupportsIndex,
                     send_ns: SupportsIndex, recv_ns: SupportsIndex) -> None:
        self._handle.within(core.netsync_push_message, uint(from_host), uint(to_host),
                            int64(send_ns), int64(recv_ns))

    def push_clock(self, point: ClockPoint) -> None:
        self._handle.within(core.netsync_push_clock, point._struct())

    # ---- messages matched by others

    def save_messages(self) -> bytes:
        """Return all messages as bytes that another synchronization can merge, on any machine."""
        return self._handle.written(core.netsync_save_messages)

    def merge_messages(self, saved: bytes) -> None:
        """Add the messages that another synchronization saved."""
        self._handle.call(core.netsync_merge_messages, bytes(saved), len(saved))

    # ---- watching

    def watch_packets(self, function: Optional[Callable[[Packet], None]]) -> None:
        """Call a function for each packet event that is pushed; None ends this."""
        self._handle.watch(core.netsync_watch_packets, s.packet_func,
                           lambda struct: Packet._from(struct[0]), function)

    def watch_messages(self, function: Optional[Callable[[Message], None]]) -> None:
        """Call a function for each message that is found; None ends this."""
        self._handle.watch(core.netsync_watch_messages, s.message_func,
                           lambda struct: Message._from(struct[0]), function)

    # ---- solving

    def solve(self, *, method: Union[str, Method] = Method.AUTO,
              reference: Optional[str] = None, max_skew_ppm: float = 0.0,
              max_drift_ppm_s: float = 0.0, threads: int = 0,
              resolution_ns: SupportsIndex = 0) -> Result:
        """Match the remaining packets, and estimate every clock, with this many threads. The
        global interpreter lock is released during the call."""
        options = s.netsync_options(
            size=ctypes.sizeof(s.netsync_options), method=method_of(method),
            reference=None if reference is None else encode(reference),
            max_skew_ppm=max_skew_ppm, max_drift_ppm_s=max_drift_ppm_s, threads=threads,
            resolution_ns=int64(resolution_ns))
        solved: List[Result] = []

        def solve(pointer: int) -> int:
            ret: int = core.netsync_solve(pointer, options)
            if ret == 0:
                solved.append(_collect(pointer))
            return ret
        self._handle.call(solve)
        traces = [trace for of_reader in self._traces for trace in of_reader()]
        for number, host in enumerate(solved[0].hosts.values()):
            own = tuple(trace for trace in traces if trace.host == number)
            if own:
                object.__setattr__(host, "traces", own)
                object.__setattr__(host, "identity", _identity(own[0]))
        return solved[0]

    def utc_clock(self, bounds: Iterable[UtcBound]) -> Clock:
        """Return the clock that converts reference time of the last result to UTC, from bounds
        on the differences between hosts' clocks and UTC."""
        given = list(bounds)
        array = (s.netsync_utc_bound * len(given))(*(bound._struct() for bound in given))
        made: List[Clock] = []

        def make(pointer: int) -> int:
            clock = ctypes.c_void_p()
            ret: int = core.netsync_utc_clock_new(pointer, array, len(given),
                                                  ctypes.sizeof(s.netsync_utc_bound), clock)
            if ret == 0:
                made.append(Clock._adopt(clock))
            return ret
        self._handle.call(make)
        return made[0]


def _identity(trace: Trace) -> Any:
    """Return the identity of a host, which its first trace gives."""
    clock = trace.identity
    assert clock
    return type(clock)(clock.host_name, clock.name, clock.uuid,
                       clock.epoch_ns + trace.shift_ns)


# ---- results of solving ------------------------------------------------------------

def _filled(struct: Any, get: Callable[..., int], *arguments: Any) -> Any:
    found = struct(size=ctypes.sizeof(struct))
    ret = get(*arguments, found)
    assert ret == 0, ret
    return found


def _stack(pointer: int, host: int, way: Dir) -> Stack:
    stack = _filled(s.netsync_stack, core.netsync_get_stack, pointer, host, way)
    return Stack(stack.packets, known(stack.min_ns), known(stack.median_ns),
                 known(stack.p99_ns), known(stack.max_ns))


def _finite(value: float) -> Optional[float]:
    return value if math.isfinite(value) else None


def _steering(pointer: int, host: int) -> Optional[Steering]:
    info = _filled(s.netsync_steering, core.netsync_get_steering, pointer, host)
    if not info.points:
        return None
    return Steering(info.points, _finite(info.min_ppm), _finite(info.max_ppm),
                    info.unknown_ns)


def _step(pointer: int, host: int, index: int) -> Step:
    step = _filled(s.netsync_step, core.netsync_get_step, pointer, host, index)
    return Step(step.time_ns, step.within_ns, step.offset_ns, step.skew_ppm, bool(step.known))


def _host(pointer: int, host: int) -> Host:
    info = _filled(s.netsync_host_info, core.netsync_get_host, pointer, host)
    clock = core.netsync_host_clock(pointer, host)
    seen = info.first_ns <= info.last_ns
    return Host(
        decode(info.name), Quality(info.quality), info.packets,
        info.first_ns if seen else None, info.last_ns if seen else None,
        known(info.bound_median_ns), known(info.bound_max_ns), info.island,
        Clock._copy(clock) if clock else None,
        tuple(_step(pointer, host, i) for i in range(info.num_steps)),
        _stack(pointer, host, Dir.OUT), _stack(pointer, host, Dir.IN),
        steering=_steering(pointer, host), silent_ns=info.silent_ns,
        deviation_median_ns=known(info.deviation_median_ns),
        deviation_max_ns=known(info.deviation_max_ns))


def _pair(pointer: int, index: int, names: List[str]) -> Pair:
    info = _filled(s.netsync_pair_info, core.netsync_get_pair, pointer, index)
    return Pair((names[info.host[0]], names[info.host[1]]), Quality(info.quality),
                (info.messages[0], info.messages[1]), (info.hull[0], info.hull[1]),
                (known(info.min_delay_ns[0]), known(info.min_delay_ns[1])),
                info.inversions_before, info.inversions_after, info.rate_min, info.rate_max,
                info.matched, info.nat, info.ambiguous, info.unmatched)


def _collect(pointer: int) -> Result:
    hosts = [_host(pointer, i) for i in range(core.netsync_num_hosts(pointer))]
    names = [host.name for host in hosts]
    stats = _filled(s.netsync_stats, core.netsync_get_stats, pointer)
    return Result(
        names[core.netsync_reference(pointer)], dict(zip(names, hosts)),
        tuple(_pair(pointer, i, names) for i in range(core.netsync_num_pairs(pointer))),
        Stats(stats.packets, stats.matched, stats.unmatched, stats.ambiguous, stats.loopback,
              stats.unsupported, stats.nat, stats.evicted))
