# SPDX-License-Identifier: LGPL-2.1-or-later
"""The result: hosts and their clocks, pairs, statistics. All are copies, independent of
the library's objects."""
from __future__ import annotations

import dataclasses
import errno
from typing import TYPE_CHECKING, Dict, Iterator, List, Optional, Tuple, Union
from uuid import UUID

from .clock import Clock, Span
from .errors import Error
from .handles import Text
from .names import Quality

if TYPE_CHECKING:
    from .traces import Corrected


@dataclasses.dataclass(frozen=True)
class Step:
    """A sudden change of a clock: struct netsync_step."""
    time_ns: int
    within_ns: int
    offset_ns: int
    skew_ppm: float
    known: Optional[bool] = None    # True if reported, False if detected, None if not in the file


@dataclasses.dataclass(frozen=True)
class Stack:
    """Time that packets spend in a host's network stack: struct netsync_stack."""
    packets: int
    min_ns: Optional[int]
    median_ns: Optional[int]
    p99_ns: Optional[int]
    max_ns: Optional[int]


@dataclasses.dataclass(frozen=True)
class Steering:
    """How a host's clock was steered, relative to its oscillator: struct netsync_steering."""
    points: int
    min_ppm: Optional[float]
    max_ppm: Optional[float]
    unknown_ns: int


@dataclasses.dataclass(frozen=True)
class Identity:
    """What identifies the traces of a host: the clock that they were recorded with."""
    host_name: str
    name: Optional[str]
    uuid: Optional[UUID]
    epoch_ns: int


@dataclasses.dataclass(frozen=True)
class Trace:
    """The output of one tracing session: struct netsync_io_trace. In a loaded result,
    only path, shift_ns and netns are known."""
    path: str
    shift_ns: int = 0
    netns: Optional[int] = None
    host: Optional[int] = None
    packets: Optional[int] = None
    first_ns: Optional[int] = None
    last_ns: Optional[int] = None
    lost_events: Optional[int] = None
    lost_packets: Optional[int] = None
    damaged: Optional[int] = None
    running: Optional[bool] = None
    late: Optional[bool] = None
    format: Optional[str] = None
    identity: Optional[Identity] = None
    readable: Optional[str] = None
    wall_shift_ns: Optional[int] = None     # None if the relation to UTC is unknown


@dataclasses.dataclass(frozen=True)
class Host:
    """A host, that is, one clock: struct netsync_host_info, and related data."""
    name: str
    quality: Quality
    packets: int
    first_ns: Optional[int]
    last_ns: Optional[int]
    bound_median_ns: Optional[int]
    bound_max_ns: Optional[int]
    island: int
    corrected: Optional[Clock]      # None if the host could not be corrected
    steps: Tuple[Step, ...]
    stack_out: Stack
    stack_in: Stack
    identity: Optional[Identity] = None     # None if the host has no traces
    traces: Tuple[Trace, ...] = ()
    steering: Optional[Steering] = None     # None if there are no readings
    silent_ns: int = 0      # ns in which the clock may have been steered without a report
    deviation_median_ns: Optional[int] = None       # None if the method computes none
    deviation_max_ns: Optional[int] = None

    @property
    def clock(self) -> Clock:
        """The clock that corrects the host's times. Raise an Error if it is not known."""
        if self.corrected is None:
            raise Error(errno.ENODATA, f"The clock of {self.name} could not be corrected: no "
                        "message connects it with the reference.")
        return self.corrected

    def holds(self, time_ns: int) -> bool:
        """Is this time within the traced span, or near enough?"""
        if self.first_ns is None or self.last_ns is None:
            return True
        return Span("", self.name, self.first_ns, self.last_ns).holds(time_ns)


@dataclasses.dataclass(frozen=True)
class Pair:
    """Two hosts that exchanged messages: struct netsync_pair_info. The second of two
    values is for the opposite direction."""
    hosts: Tuple[str, str]
    quality: Quality
    messages: Tuple[int, int]
    hull: Tuple[int, int]
    min_delay_ns: Tuple[Optional[int], Optional[int]]
    inversions_before: int
    inversions_after: int
    rate_min: float
    rate_max: float
    matched: int
    nat: int
    ambiguous: int
    unmatched: int


@dataclasses.dataclass(frozen=True)
class Stats:
    """What became of packet events: struct netsync_stats."""
    packets: int
    matched: int
    unmatched: int
    ambiguous: int
    loopback: int
    unsupported: int
    nat: int
    evicted: int


@dataclasses.dataclass(frozen=True)
class Utc:
    """How far the common time is from UTC: member "utc" of netsync-sync.json(5)."""
    clock: Clock                    # converts times on the reference clock to UTC
    hosts: Tuple[str, ...]          # hosts whose clocks bound UTC
    bound_median_ns: Optional[int]
    bound_max_ns: Optional[int]


@dataclasses.dataclass(frozen=True)
class Result:
    """The clocks of all hosts relative to that of one host, the reference."""
    reference: str
    hosts: Dict[str, Host]
    pairs: Tuple[Pair, ...]
    stats: Stats
    path: Optional[str] = None      # None if not read from a file
    utc: Optional[Utc] = None       # None if the file does not have it

    def __post_init__(self) -> None:
        for host in self.hosts.values():
            if host.corrected is None or host.first_ns is None or host.last_ns is None or \
                    host.name == self.reference:
                continue
            host.corrected._span = Span(self.path or "the result", host.name, host.first_ns,
                                        host.last_ns)

    def host_of(self, trace: Trace) -> Tuple[Host, int]:
        """Return the host that a trace belongs to, by its clock, and the shift from times
        in the trace to the host's times."""
        clock = trace.identity
        found = [host for host in self.hosts.values() if clock and host.identity and
                 host.identity.name == clock.name and host.identity.uuid == clock.uuid]
        # A UUID identifies a clock even if the host's name differs. But a copied machine
        # may have the same UUID, so a host with the same name is preferred.
        same_name = [host for host in found if clock and host.identity and
                     host.identity.host_name == clock.host_name]
        found = same_name or (found if clock and clock.uuid else [])
        if not found:
            raise Error(errno.ENOENT, f"{trace.path}: the result has no host with this clock; "
                        f"its hosts are: {', '.join(self.hosts)}.")
        # If several hosts match, they are network namespaces of one machine.
        best = min(found, key=lambda host: (host.corrected is None, host.bound_max_ns is None,
                                            host.bound_max_ns))
        assert clock and best.identity
        return best, best.identity.epoch_ns - clock.epoch_ns

    def messages(self, inputs: Union[Text, List[Text]], *,
                 extrapolate: bool = False) -> "Iterator[Corrected]":
        """Return the messages of Babeltrace 2 in CTF traces of these hosts, in the order
        of the reference clock. This needs python3-bt2."""
        from . import traces        # not at the top, because traces imports this module
        return traces.messages(self, inputs, extrapolate=extrapolate)
