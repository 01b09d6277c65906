# SPDX-License-Identifier: LGPL-2.1-or-later
"""The enumerations of netsync.h."""
from __future__ import annotations

import enum


class Dir(enum.IntEnum):
    """enum netsync_dir: does the packet leave the host or arrive there?"""
    OUT = 0
    IN = 1


class Field(enum.IntFlag):
    """enum netsync_packet_fields: the fields that the source of a packet event knows."""
    ADDRS = 1 << 0
    PORTS = 1 << 1
    IP_ID = 1 << 2
    LEN = 1 << 3
    WINDOW = 1 << 4
    TSTAMP = 1 << 5
    NO_TSTAMP = 1 << 6
    SKB = 1 << 7
    NETNS = 1 << 8
    GSO = 1 << 9
    DIGEST = 1 << 10
    CHECKSUM = 1 << 11
    ECHO = 1 << 12
    SCTP = 1 << 13
    TSN = 1 << 14


class Limit(enum.IntEnum):
    """enum netsync_io_limit: what the limits of a time window refer to."""
    NO_LIMIT = 0
    AT = 1
    SINCE_BEGIN = 2


class Method(enum.IntEnum):
    """enum netsync_method: how clocks are estimated."""
    AUTO = 0
    HULL = 1
    REGRESSION = 2
    MODEL = 3


class Quality(enum.IntEnum):
    """enum netsync_quality: how well a clock or a pair is known."""
    ABSENT = 0
    INCOMPLETE = 1
    APPROXIMATE = 2
    ACCURATE = 3


class Role(enum.IntFlag):
    """enum netsync_io_role: what the times of a span say about the others of its relation."""
    BEFORE = 1
    AFTER = 2
    STARTS_FIRST = 4
    STARTS_LAST = 8
    ENDS_FIRST = 16
    ENDS_LAST = 32
    ENCLOSES = 64


class RelationKind(enum.IntEnum):
    """enum netsync_io_relation_kind: what related spans did together."""
    COLLECTIVE = 0
    CALL = 1
    QUEUE = 2


class Sequence(enum.IntEnum):
    """enum netsync_sequence: which of two events came first."""
    BEFORE = -1
    UNCERTAIN = 0
    AFTER = 1


class ValueKind(enum.IntEnum):
    """enum netsync_io_value_kind: the type of an event's field."""
    SIGNED = 1
    UNSIGNED = 2
    TEXT = 3
    BYTES = 4
    REAL = 5
    BOOL = 6
