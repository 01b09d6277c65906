# SPDX-License-Identifier: LGPL-2.1-or-later
"""Packet events, messages, and points of steered clocks."""
from __future__ import annotations

import ctypes
import dataclasses
import errno
import ipaddress
from typing import Any, Dict, Optional, Tuple, Union

from . import structs as s
from .errors import Error
from .handles import int64, uint
from .libraries import core
from .names import Dir, Field

Address = Union[ipaddress.IPv4Address, ipaddress.IPv6Address]

# Fields of struct netsync_packet and struct netsync_message that are known if a bit is set.
_KNOWN: Dict[Field, Tuple[str, ...]] = {
    Field.ADDRS: ("saddr", "daddr"), Field.PORTS: ("sport", "dport"),
    Field.IP_ID: ("ip_id",), Field.LEN: ("len",), Field.WINDOW: ("window",),
    Field.TSTAMP: ("tsval", "tsecr"), Field.SKB: ("skb",), Field.NETNS: ("netns",),
    Field.GSO: ("gso_size", "gso_segs"), Field.DIGEST: ("digest",),
    Field.CHECKSUM: ("checksum",), Field.ECHO: ("icmp_type", "icmp_id", "icmp_seq"),
    Field.SCTP: ("vtag", "chunk"), Field.TSN: ("tsn",),
}
# Fields that only one protocol has: the member of struct netsync_packet for each IP
# protocol number, and the path to each field.
_PARTS: Dict[int, str] = {1: "icmp", 6: "tcp", 17: "udp", 58: "icmp", 132: "sctp"}
_OF_PART: Dict[str, Tuple[str, str]] = {
    **{name: ("tcp", name) for name in ("seq", "ack", "flags", "window", "tsval", "tsecr")},
    "digest": ("udp", "digest"), "checksum": ("udp", "checksum"), "icmp_id": ("icmp", "id"),
    "icmp_seq": ("icmp", "seq"), "icmp_type": ("icmp", "type"),
    **{name: ("sctp", name) for name in ("vtag", "chunk", "tsn")},
}


def _place(struct: Any, name: str) -> Tuple[Any, str]:
    """Return where a field is; None if it belongs to another protocol or structure."""
    part, name = _OF_PART.get(name, ("", name))
    if part:
        return (getattr(struct, part) if part == _PARTS.get(struct.protocol) else None), name
    return (struct if hasattr(struct, name) else None), name


def _pack(address: Union[str, bytes, Address]) -> bytes:
    """Return 16 bytes; an IPv4 address as ::ffff:a.b.c.d."""
    if isinstance(address, bytes) and len(address) == 16:
        return address
    try:
        found = ipaddress.ip_address(address)
    except ValueError as error:
        raise Error(errno.EINVAL, f"{address!r} is not an IPv4 or IPv6 address.") from error
    return found.packed if found.version == 6 else bytes(10) + b"\xff\xff" + found.packed


def _unpack(raw: Any) -> Address:
    address = ipaddress.IPv6Address(bytes(raw))
    return address.ipv4_mapped or address


def _known(struct: Any) -> Dict[str, Any]:
    """Return the fields that a structure declares known."""
    found = {}
    for bit, group in _KNOWN.items():
        for name in group if struct.fields & bit else ():
            holder, field = _place(struct, name)
            if holder is not None:
                value = getattr(holder, field)
                found[name] = _unpack(value) if name.endswith("addr") else value
    return found


@dataclasses.dataclass
class Packet:
    """A packet event: struct netsync_packet. None means that the source does not know a value."""
    host: int
    time_ns: int
    dir: Dir
    protocol: int                   # IP protocol number, such as 6 (TCP) or 17 (UDP)
    seq: int = 0
    ack: int = 0
    flags: int = 0
    point: int = 0                  # observation point on the host
    saddr: Union[str, bytes, Address, None] = None
    daddr: Union[str, bytes, Address, None] = None
    sport: Optional[int] = None
    dport: Optional[int] = None
    ip_id: Optional[int] = None
    len: Optional[int] = None
    window: Optional[int] = None
    tsval: Optional[int] = None
    tsecr: Optional[int] = None
    no_tstamp: bool = False         # True if the packet has no TCP timestamps option
    skb: Optional[int] = None
    netns: Optional[int] = None
    gso_size: Optional[int] = None
    gso_segs: Optional[int] = None
    digest: Optional[int] = None
    checksum: Optional[int] = None
    icmp_type: Optional[int] = None
    icmp_id: Optional[int] = None
    icmp_seq: Optional[int] = None
    vtag: Optional[int] = None
    chunk: Optional[int] = None
    tsn: Optional[int] = None

    @property
    def shards(self) -> int:
        """Return the shards of the packet as a bit mask; see netsync_packet_shards(3)."""
        shards: int = core.netsync_packet_shards(self._struct())
        return shards

    def _struct(self) -> s.netsync_packet:
        struct = s.netsync_packet(size=ctypes.sizeof(s.netsync_packet),
                                  host=uint(self.host), time_ns=int64(self.time_ns))
        for name in "dir", "protocol", "seq", "ack", "flags", "point":
            self._set(struct, name)
        for bit, group in _KNOWN.items():
            given = [getattr(self, name) is not None for name in group]
            if any(given) != all(given):
                raise Error(errno.EINVAL, f"{' and '.join(group)} of a packet must be given "
                            "together or not at all.")
            if all(given):
                struct.fields |= bit
                for name in group:
                    self._set(struct, name)
        if self.no_tstamp:
            struct.fields |= Field.NO_TSTAMP
        return struct

    def _set(self, struct: s.netsync_packet, name: str) -> None:
        value = getattr(self, name)
        holder, field = _place(struct, name)
        if name.endswith("addr"):
            setattr(struct, name, s.Address(*_pack(value)))
        elif holder is not None:
            setattr(holder, field, uint(value, 8 * getattr(type(holder), field).size))

    @classmethod
    def _from(cls, struct: Any) -> "Packet":
        tcp = struct.tcp if struct.protocol == 6 else s.netsync_packet.Tcp()
        return cls(struct.host, struct.time_ns, Dir(struct.dir), struct.protocol, tcp.seq,
                   tcp.ack, tcp.flags, struct.point,
                   no_tstamp=bool(struct.fields & Field.NO_TSTAMP), **_known(struct))


@dataclasses.dataclass
class Message:
    """A packet that left one host and arrived at another: struct netsync_message."""
    from_host: int
    to_host: int
    send_ns: int                    # send time on the clock of from_host
    recv_ns: int                    # receive time on the clock of to_host
    protocol: Optional[int] = None
    saddr: Optional[Address] = None
    daddr: Optional[Address] = None
    sport: Optional[int] = None
    dport: Optional[int] = None
    len: Optional[int] = None

    @classmethod
    def _from(cls, struct: Any) -> "Message":
        return cls(getattr(struct, "from"), struct.to, struct.send_ns, struct.recv_ns,
                   struct.protocol or None, **_known(struct))


@dataclasses.dataclass
class ClockPoint:
    """A reading of a host's clock and of a raw clock: struct netsync_clock_point."""
    host: int
    time_ns: int
    raw_ns: int
    within_ns: int = 0
    rate: float = 0.0               # 0 if unknown
    was_set: bool = False
    number: int = 0                 # 0 if not numbered

    def _struct(self) -> s.netsync_clock_point:
        return s.netsync_clock_point(
            size=ctypes.sizeof(s.netsync_clock_point), host=uint(self.host),
            time_ns=int64(self.time_ns), raw_ns=int64(self.raw_ns),
            within_ns=int64(self.within_ns), rate=self.rate, was_set=self.was_set,
            number=uint(self.number))

    @classmethod
    def _from(cls, struct: Any) -> "ClockPoint":
        return cls(struct.host, struct.time_ns, struct.raw_ns, struct.within_ns, struct.rate,
                   bool(struct.was_set), struct.number)


@dataclasses.dataclass
class UtcBound:
    """A bound on the difference between a host's clock and UTC: struct netsync_utc_bound."""
    host: int
    from_ns: int
    to_ns: int
    within_ns: int

    def _struct(self) -> s.netsync_utc_bound:
        return s.netsync_utc_bound(int64(self.from_ns), int64(self.to_ns),
                                   int64(self.within_ns), uint(self.host))

    @classmethod
    def _from(cls, struct: Any) -> "UtcBound":
        return cls(struct.host, struct.from_ns, struct.to_ns, struct.within_ns)
