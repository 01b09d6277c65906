# SPDX-License-Identifier: GPL-2.0-only
"""Write captures of given packets in pcap and pcapng, in all their variants. A Capture collects
packets like ctf.Trace, so ctf.exchange() can fill both.
"""
import ipaddress
import struct

import ctf
from ktap import check

NULL, ETHERNET, RAW, LOOP, SLL, IPV4, IPV6, SLL2 = 0, 1, 101, 108, 113, 228, 229, 276
NS = 10**9
MASK = 2**64 - 1


def siphash(data):
    """Return the SipHash-1-3 of data, with the bytes 0 to 15 as the key."""
    def rotate(x, n):
        return (x << n | x >> (64 - n)) & MASK

    def mix(v):
        v[0] = (v[0] + v[1]) & MASK
        v[1] = rotate(v[1], 13) ^ v[0]
        v[0] = rotate(v[0], 32)
        v[2] = (v[2] + v[3]) & MASK
        v[3] = rotate(v[3], 16) ^ v[2]
        v[0] = (v[0] + v[3]) & MASK
        v[3] = rotate(v[3], 21) ^ v[0]
        v[2] = (v[2] + v[1]) & MASK
        v[1] = rotate(v[1], 17) ^ v[2]
        v[2] = rotate(v[2], 32)

    keys = struct.unpack("<QQ", bytes(range(16)))
    v = [c ^ keys[i % 2] for i, c in enumerate(struct.unpack(
        ">QQQQ", b"somepseudorandomlygeneratedbytes"))]
    padded = data + b"\0" * (7 - len(data) % 8) + bytes([len(data) & 255])
    for (word,) in struct.iter_unpack("<Q", padded):
        v[3] ^= word
        mix(v)
        v[0] ^= word
    v[2] ^= 255
    for _ in range(3):
        mix(v)
    return v[0] ^ v[1] ^ v[2] ^ v[3]


def checksum(data):
    data += b"\0" * (len(data) % 2)
    total = sum(struct.unpack(f">{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return total ^ 0xffff


class Packet(ctf.Packet):
    """A packet with a payload that depends on its number, and correct checksums."""

    def __init__(self, *, extensions=b"", next_header=None, fragment=0x4000, **fields):
        super().__init__(**fields)
        self.extensions, self.next_header = extensions, next_header
        self.fragment = fragment

    def payload(self):
        return (self.seq.to_bytes(4, "big") * (self.len // 4 + 1))[:self.len]

    def own(self):
        digest = siphash(self.payload()[:64])
        # A chunk's header counts as SCTP payload.
        size = self.len + (8 if self.proto == 132 else 0)
        return super().own() | dict(digest=digest, len=size)

    def transport(self, pseudo):
        if self.proto == 6:
            head = struct.pack(">HHIIHHHH", self.sport, self.dport, self.seq,
                               self.ack, self.word, self.window, 0xbeef, 0)
            if self.has_ts:
                head += struct.pack(">BBBBII", 1, 1, 8, 10, self.tsval,
                                    self.tsecr)
            return head
        if self.proto == 17:
            size = 8 + self.len
            head = struct.pack(">HHH", self.sport, self.dport, size)
            sent = pseudo + struct.pack(">HH", 17, size) + head + b"\0\0"
            return head + struct.pack(">H", checksum(sent + self.payload()))
        if self.proto == 1:
            return struct.pack(">BBHHH", 8 if self.v4 else 128, 0, 0xbeef,
                               self.sport, self.seq & 0xffff)
        chunk = struct.pack(">BBHI", 0, 3, 8 + self.len, self.seq)
        return struct.pack(">HHII", self.sport, self.dport, self.sport << 16,
                           0) + chunk

    def ip(self):
        """Return the packet, beginning with its IP header."""
        src = ipaddress.ip_address(self.saddr).packed
        dst = ipaddress.ip_address(self.daddr).packed
        body = self.extensions + self.transport(src + dst) + self.payload()
        if self.v4:
            return struct.pack(">BBHHHBBH", 0x45, 0,
                               0 if self.big else 20 + len(body), self.id,
                               self.fragment, 64, self.proto, 0) + src + dst + body
        proto = 58 if self.proto == 1 else self.proto
        return struct.pack(">IHBB", 6 << 28, 0 if self.big else len(body),
                           self.next_header or proto, 64) + src + dst + body


def full(packet, **changed):
    """Return a packet with a payload."""
    if isinstance(packet, Packet) and not changed:
        return packet
    fields = {name: getattr(packet, name) for name in (
        "saddr", "daddr", "sport", "dport", "seq", "ack", "flags", "window",
        "len", "id", "tsval", "tsecr", "doff", "big", "proto", "netns")}
    return Packet(**(fields | changed))


def mac(address):
    return b"\x02\0" + ipaddress.ip_address(address).packed[-4:]


def frame(packet, link, is_out, tags=(), macs=None, device=2):
    ip = packet.ip()
    kind = 0x0800 if packet.v4 else 0x86dd
    for tag in reversed(tags):
        ip = struct.pack(">HH", 5, kind) + ip
        kind = tag
    if link == ETHERNET:
        src, dst = macs or (mac(packet.saddr), mac(packet.daddr))
        return dst + src + struct.pack(">H", kind) + ip.ljust(46, b"\0")
    if link == SLL:
        return struct.pack(">HHH8sH", 4 if is_out else 0, 1, 6, b"\2", kind) + ip
    if link == SLL2:
        return struct.pack(">HHIHBB8s", kind, 0, device, 1,
                           4 if is_out else 0, 6, b"\2") + ip
    if link in (NULL, LOOP):
        return struct.pack(">I" if link == LOOP else "=I",
                           2 if packet.v4 else 10) + ip
    return ip


def option(order, code, value):
    return struct.pack(order + "HH", code, len(value)) + value.ljust(
        -(-len(value) // 4) * 4, b"\0")


class Capture:
    """One file. order: "<" or ">"; ticks: per second; ng: pcapng.

    For pcapng: with direction, each packet has its direction; addresses are written
    into the interface's block; offset_s is if_tsoffset; resolution is if_tsresol; old
    writes obsolete packet blocks.
    """

    def __init__(self, link=ETHERNET, ng=False, order="<", resolution=9, snaplen=262144,
                 direction=False, addresses=(), offset_s=0, tags=(), macs=None,
                 old=False):
        self.__dict__.update(locals())
        self.packets = []

    def add(self, time, is_out, packet, macs=None, **_):
        self.add_frame(time, is_out, frame(full(packet), self.link, is_out, self.tags,
                                           macs or self.macs))

    def add_frame(self, time, is_out, data, interface=0):
        self.packets.append((time, is_out, data, interface))

    def ticks(self, time):
        if self.resolution & 0x80:
            return (time - self.offset_s * NS << (self.resolution & 127)) // NS
        return (time - self.offset_s * NS) * 10**self.resolution // NS

    def block(self, kind, body):
        size = len(body) + 12
        return struct.pack(self.order + "II", kind, size) + body + struct.pack(
            self.order + "I", size)

    def interface(self, link=None, resolution=None):
        options = option(self.order, 9, bytes([self.resolution if resolution is None
                                               else resolution]))
        if self.offset_s:
            options += option(self.order, 14, struct.pack(self.order + "q",
                                                          self.offset_s))
        for address in self.addresses:
            if ":" not in address:
                value = ipaddress.ip_address(address).packed + b"\xff" * 4
                options += option(self.order, 4, value)
            elif address.count(":") == 5:
                options += option(self.order, 6, bytes.fromhex(address.replace(":", "")))
            else:
                value = ipaddress.ip_address(address).packed + b"\x40"
                options += option(self.order, 5, value)
        return self.block(1, struct.pack(
            self.order + "HHI", self.link if link is None else link, 0,
            self.snaplen) + options + option(self.order, 0, b""))

    def section(self):
        return self.block(0x0a0d0d0a, struct.pack(self.order + "IHHq", 0x1a2b3c4d,
                                                  1, 0, -1))

    def record(self, time, is_out, data, interface=0):
        kept = data[:self.snaplen]
        if not self.ng:
            ticks = 10**self.resolution
            value = self.ticks(time)
            return struct.pack(self.order + "IIII", value // ticks, value % ticks,
                               len(kept), len(data)) + kept
        value = self.ticks(time)
        ids = struct.pack(self.order + ("HH" if self.old else "I"),
                          *((interface, 0) if self.old else (interface,)))
        body = ids + struct.pack(self.order + "IIII", value >> 32,
                                 value & 0xffffffff, len(kept), len(data))
        body += kept.ljust(-(-len(kept) // 4) * 4, b"\0")
        if self.direction:
            body += option(self.order, 2, struct.pack(self.order + "I",
                                                      2 if is_out else 1))
            body += option(self.order, 0, b"")
        return self.block(2 if self.old else 6, body)

    def head(self):
        if self.ng:
            return self.section() + self.interface()
        return struct.pack(self.order + "IHHiIII", {6: 0xa1b2c3d4,
                           9: 0xa1b23c4d}[self.resolution], 2, 4, 0, 0,
                           self.snaplen, self.link)

    def bytes(self):
        return self.head() + b"".join(self.record(*p) for p in
                                      sorted(self.packets, key=lambda p: p[0]))

    def write(self, path):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(self.bytes())
        return path


def words(order, data, at, count):
    return struct.unpack_from(order + "I" * count, data, at)


class Reader:
    """
    Reads a file independently of netsync: its blocks, each as a key that contains everything
    except times, and the times in ns.
    """

    def __init__(self, data):
        self.data, self.blocks = data, []
        if data[:4] in (b"\x0a\x0d\x0d\x0a",):
            self.read_ng()
        else:
            self.read_pcap()

    def read_pcap(self):
        data = self.data
        order = "<" if data[0] in (0xd4, 0x4d) else ">"
        (magic,) = words(order, data, 0, 1)
        unit = {0xa1b2c3d4: 1000, 0xa1b23c4d: 1}[magic]
        self.unit = unit
        self.blocks.append((("head", order, data[4:24]), []))
        at = 24
        while at < len(data):
            s, f, captured, _ = words(order, data, at, 4)
            self.blocks.append((("packet", data[at + 8:at + 16 + captured]),
                                [s * NS + f * unit]))
            at += 16 + captured

    def read_ng(self):
        data, at, units = self.data, 0, []
        while at < len(data):
            if data[at:at + 4] == b"\x0a\x0d\x0d\x0a":
                order = "<" if data[at + 8] == 0x4d else ">"
                units = []
            kind, size = words(order, data, at, 2)
            body = bytearray(data[at + 8:at + size - 4])
            check(words(order, data, at + size - 4, 1)[0] == size, "sizes")
            at += size
            times = []
            if kind == 0x0a0d0d0a:
                (length,) = struct.unpack_from(order + "q", body, 8)
                self.section = (at, length)
                body[8:16] = b""
            elif kind == 1:
                units.append(self.unit_of(order, body))
                body = body[:8] + b"".join(
                    option(order, code, value) for code, value in
                    self.options(order, body, 8) if code != 9)
            elif kind in (2, 6, 5):
                unit = units[words(order, body, 0, 1)[0] if kind != 2 else
                             struct.unpack_from(order + "H", body)[0]]
                times = [self.time(order, body, 4, unit)]
                if kind == 5:
                    for where, code in self.places(order, body, 12):
                        if code in (2, 3):
                            times.append(self.time(order, body, where, unit))
            self.blocks.append(((kind, order, bytes(body)), times))

    @staticmethod
    def places(order, body, at):
        while at + 4 <= len(body):
            code, size = struct.unpack_from(order + "HH", body, at)
            if not code:
                return
            yield at + 4, code
            at += 4 + -(-size // 4) * 4

    def options(self, order, body, at):
        for where, code in self.places(order, body, at):
            (size,) = struct.unpack_from(order + "H", body, where - 2)
            yield code, bytes(body[where:where + size])

    def unit_of(self, order, body):
        known = dict(self.options(order, body, 8))
        resolution = known.get(9, b"\6")[0]
        offset = struct.unpack(order + "q", known.get(14, bytes(8)))[0]
        return (2**(resolution & 127) if resolution & 128 else 10**resolution, offset)

    @staticmethod
    def time(order, body, at, unit):
        high, low = words(order, body, at, 2)
        body[at:at + 8] = bytes(8)
        return (high << 32 | low) * NS // unit[0] + unit[1] * NS
