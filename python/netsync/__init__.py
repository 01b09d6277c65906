# SPDX-License-Identifier: LGPL-2.1-or-later
"""Bring the clocks of traced machines onto one time base; see netsync-python(3).

    result = netsync.sync(["web", "db"])
    for message in result.messages(["web", "db"]):
        print(message.time_ns, message.host, message.msg.event.name)
"""
from .clock import Clock, Converted, Deviation, Interval, Knot, Segment
from .errors import Error
from .estimate import Synchronization
from .events import ClockPoint, Message, Packet, UtcBound
from .libraries import version
from .names import Dir, Field, Limit, Method, Quality, RelationKind, Role, Sequence
from .reader import CORRECTED_CLOCK, Frame, LeftOut, Reader, Relation, Served, Span
from .result import Host, Identity, Pair, Result, Stack, Stats, Steering, Step, Trace, Utc
from .saved import load
from .sync import sync
from .traces import Corrected

__all__ = [
    "CORRECTED_CLOCK", "Clock", "ClockPoint", "Converted", "Corrected", "Deviation", "Dir",
    "Error", "Field", "Frame", "Host", "Identity", "Interval", "Knot", "LeftOut", "Limit",
    "Message", "Method", "Packet", "Pair", "Quality", "Reader", "Relation", "RelationKind",
    "Result", "Role", "Segment", "Sequence", "Served", "Span", "Stack", "Stats", "Steering",
    "Step", "Synchronization", "Trace", "Utc", "UtcBound", "load", "sync", "version",
]
