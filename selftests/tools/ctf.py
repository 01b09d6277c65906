# SPDX-License-Identifier: GPL-2.0-only
"""Write CTF 1.8 traces of given packets, in the layouts that tracers use.

The metadata is written by hand, so that every detail of a layout (labels, selectors,
bit-fields) is that of the tracer, not of a library. A Trace collects events; write()
writes it to a directory.
"""
import copy
import ipaddress
import os
import struct
import uuid

FIN, SYN, RST, PSH, ACK = 1, 2, 4, 8, 16

# The layout of module/netsync-lttng-events.h.
OWN_FIELDS = [
    ("sk", "x64"), ("seq", "u32"), ("ack_seq", "u32"), ("check", "u16"),
    ("window", "u16"), ("flags", "u16"), ("sport", "u16"), ("dport", "u16"),
    ("family", "u8"), ("id", "u16"), ("len", "u32"), ("gso_segs", "u16"),
    ("gso_size", "u16"), ("netns", "u32"), ("has_ts", "u8"), ("tsval", "u32"),
    ("tsecr", "u32"), ("sampling", "u8"), ("saddr", "addr"), ("daddr", "addr"),
]
UDP_FIELDS = [
    ("sk", "x64"), ("sport", "u16"), ("dport", "u16"), ("family", "u8"),
    ("id", "u16"), ("len", "u32"), ("gso_segs", "u16"), ("gso_size", "u16"),
    ("netns", "u32"), ("check", "u16"), ("check_final", "u8"),
    ("digest", "x64"), ("sampling", "u8"), ("saddr", "addr"), ("daddr", "addr"),
]
ICMP_FIELDS = [
    ("sk", "x64"), ("type", "u8"), ("echo_id", "u16"), ("echo_seq", "u16"),
    ("family", "u8"), ("id", "u16"), ("len", "u32"), ("netns", "u32"),
    ("sampling", "u8"), ("saddr", "addr"), ("daddr", "addr"),
]
SCTP_FIELDS = [
    ("sk", "x64"), ("sport", "u16"), ("dport", "u16"), ("vtag", "u32"),
    ("chunk", "u8"), ("has_tsn", "u8"), ("tsn", "u32"), ("family", "u8"),
    ("id", "u16"), ("len", "u32"), ("gso_segs", "u16"), ("gso_size", "u16"),
    ("netns", "u32"), ("sampling", "u8"), ("saddr", "addr"), ("daddr", "addr"),
]
WIRE_FIELDS = [
    ("hwtstamp", "u64"), ("ifindex", "u32"), ("vlan", "u16"),
    ("protocol", "u8"), ("skb", "x64"), ("seq", "u32"), ("ack_seq", "u32"),
    ("len", "u32"), ("netns", "u32"), ("tsval", "u32"), ("tsecr", "u32"),
    ("check", "u16"), ("window", "u16"), ("flags", "u16"), ("sport", "u16"),
    ("dport", "u16"), ("id", "u16"), ("gso_segs", "u16"), ("gso_size", "u16"),
    ("family", "u8"), ("has_ts", "u8"), ("sampling", "u8"), ("saddr", "addr"),
    ("daddr", "addr"),
]
# The layout of the old addons module, and of older netsync modules, whose events had one length of
# addresses.
ADDONS_FIELDS = [
    ("sk", "x64"), ("seq", "be32"), ("ack_seq", "be32"), ("check", "be16"),
    ("window", "be16"), ("flags", "be16"),
]
OLD_FIELDS = ADDONS_FIELDS + [
    ("saddr", "a16"), ("daddr", "a16"), ("sport", "be16"), ("dport", "be16"),
    ("family", "u16"), ("id", "be16"), ("len", "u32"), ("gso_segs", "u16"),
    ("gso_size", "u16"), ("netns", "u32"), ("has_ts", "u8"), ("tsval", "u32"),
    ("tsecr", "u32"),
]
FLAT = {
    "own": ("inet_sock_local", OWN_FIELDS),
    "old": ("inet_sock_local", OLD_FIELDS),
    "addons": ("inet_sock_local", ADDONS_FIELDS),
    "udp": ("inet_udp_local", UDP_FIELDS),
    "icmp": ("inet_icmp_local", ICMP_FIELDS),
    "sctp": ("inet_sctp_local", SCTP_FIELDS),
    "wire": ("inet_dev", WIRE_FIELDS),
}

TYPES = {
    "x64": ("integer { size = 64; align = 8; signed = 0; base = 16; }", "<Q"),
    "u64": ("integer { size = 64; align = 8; signed = 0; }", "<Q"),
    "u32": ("integer { size = 32; align = 8; signed = 0; }", "<I"),
    "u16": ("integer { size = 16; align = 8; signed = 0; }", "<H"),
    "u8": ("integer { size = 8; align = 8; signed = 0; }", "<B"),
    "s32": ("integer { size = 32; align = 8; signed = 1; }", "<i"),
    "be32": ("integer { size = 32; align = 8; signed = 0; base = 16; "
             "byte_order = be; }", ">I"),
    "be16": ("integer { size = 16; align = 8; signed = 0; base = 16; "
             "byte_order = be; }", ">H"),
    "a16": ("integer { size = 8; align = 8; signed = 0; }", None),
    "addr": ("integer { size = 8; align = 8; signed = 0; }", None),
}


def bits(n):
    return (f"integer {{ size = {n}; align = {min(n, 8) if n in (4, 8) else 1};"
            " signed = 0; byte_order = be; }")


def be(n):
    return f"integer {{ size = {n}; align = 8; signed = 0; byte_order = be; }}"


def flat_fields(fields):
    text = ""
    for name, kind in fields:
        tail = "[16]" if kind == "a16" else ""
        if kind == "addr":
            text += f"\t\t{TYPES[kind][0]} __{name}_length;\n"
            tail = f"[__{name}_length]"
        text += f"\t\t{TYPES[kind][0]} _{name}{tail};\n"
    return text


TCP = ("struct { %s _source_port; %s _dest_port; %s _seq; %s _ack_seq; "
       "%s _data_offset; %s _reserved; %s _flags; %s _window_size; "
       "%s _checksum; %s _urg_ptr; }" %
       (be(16), be(16), be(32), be(32), bits(4), bits(3), bits(9), be(16),
        be(16), be(16)))


def net_fields(version, label):
    """Return the fields of net_dev_queue in a version of lttng-modules."""
    protocol = ('enum : %s { "%sunknown" = 0 ... 5, "%stcp" = 6, '
                '"%sunknown" = 7 ... 255 }' % (be(8), label, label, label))
    kind = ('enum : %s { "%sunknown" = 0, "%stcp" = 1, "%sudp" = 2, "%sicmp" = 3 }' %
            (TYPES["u8"][0], label, label, label, label))
    extra, selector = "", "_protocol"
    more = ""
    if version >= (2, 11):
        extra, selector = f"{kind} _transport_header_type; ", None
        more = "struct { %s _source_port; %s _dest_port; %s _len; " \
               "%s _check; } %sudp; " % (be(16), be(16), be(16), be(16), label)
    if version >= (2, 13):
        more += "struct { %s _type; %s _code; %s _checksum; %s _gateway; } %sicmp; " % (
            be(8), be(8), be(16), be(32), label)
    elif more:
        more += "struct { } %sicmp; " % label

    def transport(tag):
        return (f"variant <{tag}> {{ struct {{ }} {label}unknown; "
                f"{TCP} {label}tcp; {more}}} _transport_header; ")

    ipv4 = ("struct { %s _version; %s _ihl; %s _tos; %s _tot_len; %s _id; "
            "%s _frag_off; %s _ttl; %s _protocol; %s _checksum; "
            "%s _saddr[4]; %s _daddr[4]; %s%s}" %
            (bits(4), bits(4), be(8), be(16), be(16), be(16), be(8), protocol,
             be(16), be(8), be(8), extra,
             transport(selector or "_transport_header_type")))
    ipv6 = ("struct { %s _version; %s _prio; %s _flow_lbl[3]; "
            "%s _payload_len; %s _nexthdr; %s _hop_limit; %s _saddr[8]; "
            "%s _daddr[8]; %s%s}" %
            (bits(4), bits(4), be(8), be(16), protocol, be(8), be(16), be(16),
             extra, transport("_nexthdr" if selector else
                              "_transport_header_type")))
    return (f"\t\t{TYPES['x64'][0]} _skbaddr;\n\t\t{TYPES['u32'][0]} _len;\n"
            f"\t\tstring _name;\n\t\tenum : {TYPES['u8'][0]} "
            f'{{ "{label}unknown" = 0, "{label}ipv4" = 1, "{label}ipv6" = 2 }} '
            "_network_header_type;\n"
            f"\t\tvariant <_network_header_type> {{ struct {{ }} {label}unknown;"
            f" {ipv4} {label}ipv4; {ipv6} {label}ipv6; }} _network_header;\n")


def mapped(addr):
    ip = ipaddress.ip_address(addr)
    if ip.version == 4:
        return b"\0" * 10 + b"\xff\xff" + ip.packed
    return ip.packed


class Packet:
    """A packet. Fields that are not specified have default values."""

    def __init__(self, saddr="10.0.0.1", daddr="10.0.0.2", sport=40000,
                 dport=80, seq=1, ack=1, flags=ACK, window=512, len=0, id=1,
                 tsval=None, tsecr=0, doff=None, big=False, proto=6,
                 netns=4026531840):
        self.__dict__.update(locals())
        self.has_ts = tsval is not None
        self.doff = doff or (8 if self.has_ts else 5)
        self.word = (self.doff << 12) | flags
        self.v4 = ipaddress.ip_address(saddr).version == 4

    def own(self):
        return dict(
            sk=0xffff888000000000, seq=self.seq, ack_seq=self.ack, check=0xbeef,
            window=self.window, flags=self.word, saddr=mapped(self.saddr),
            daddr=mapped(self.daddr), sport=self.sport, dport=self.dport,
            family=2 if self.v4 else 10, id=self.id if self.v4 else 0,
            len=self.len, gso_segs=0, gso_size=0, netns=self.netns,
            has_ts=int(self.has_ts), tsval=self.tsval or 0, tsecr=self.tsecr,
            check_final=0, sampling=0, digest=self.seq * 2**32 + 1,
            type=8 if self.v4 else 128, echo_id=self.sport,
            echo_seq=self.seq & 0xffff, vtag=self.sport << 16, chunk=0,
            has_tsn=1, tsn=self.seq)

    def wire(self, skb):
        """Return the packet in the flat layout of any protocol."""
        values = self.own() | dict(hwtstamp=0, ifindex=2, vlan=0, skb=skb,
                                   protocol=self.proto, tsecr=self.tsecr or 0)
        if self.proto == 17:
            digest = values["digest"]
            values |= dict(seq=0, ack_seq=0, flags=0, window=0, has_ts=0,
                           tsval=digest >> 32, tsecr=digest & 0xffffffff)
        elif self.proto == 1:
            values |= dict(seq=values["echo_seq"], ack_seq=values["echo_id"],
                           protocol=1 if self.v4 else 58, flags=values["type"],
                           sport=0, dport=0, window=0, has_ts=0)
        elif self.proto == 132:
            values |= dict(ack_seq=values["vtag"], flags=0x100, window=0,
                           has_ts=0)
        return values

    def addons_word(self):
        """
        Return the flags word as the old addons module writes it on little-endian
        machines.
        """
        word = self.doff << 8
        for i, bit in enumerate((FIN, SYN, RST, PSH, ACK)):
            word += bool(self.flags & bit) << (7 - i)
        return (word & 0xff) << 8 | word >> 8

    def headers(self):
        src = ipaddress.ip_address(self.saddr).packed
        dst = ipaddress.ip_address(self.daddr).packed
        tcp = struct.pack(">HHIIHHHH", self.sport, self.dport, self.seq,
                          self.ack, self.word, self.window, 0xbeef, 0)
        size = self.doff * 4 + self.len
        if self.proto == 17:
            size = 8 + self.len
            tcp = struct.pack(">HHHH", self.sport, self.dport, size, 0xbeef)
        if self.proto == 1:
            size = 8 + self.len
            tcp = struct.pack(">BBHHH", 8, 0, 0xbeef, self.sport, self.seq & 0xffff)
        if self.v4:
            ip = struct.pack(">BBHHHBBH", 0x45, 0, 0 if self.big else 20 + size,
                             self.id, 0x4000, 64, self.proto, 0)
        else:
            ip = struct.pack(">IHBB", 6 << 28, 0 if self.big else size,
                             self.proto, 64)
        return ip + src + dst, tcp

    def net(self, version, skb, dev, is_out):
        ip, tcp = self.headers()
        size = len(ip) + self.len + (14 if is_out else 0)
        size += self.doff * 4 if self.proto == 6 else 8
        data = struct.pack("<QI", skb, size) + dev.encode() + b"\0"
        data += bytes([1 if self.v4 else 2]) + ip
        if version >= (2, 11):
            data += {6: b"\x01", 17: b"\x02", 1: b"\x03"}[self.proto]
        return data + tcp


class Trace:
    """One CTF trace of one host.

    epoch: the value to add to a time of the clock to get the printed time, ns.
    """

    def __init__(self, layout="own", hostname="web", clock=None, epoch=0,
                 freq=10**9, trace=None, version=(2, 13), label="_",
                 domain="kernel", per_packet=64):
        self.hostname, self.epoch, self.freq = hostname, epoch, freq
        self.clock = clock or str(uuid.uuid5(uuid.NAMESPACE_DNS, hostname))
        self.trace = trace or str(uuid.uuid4())
        self.layout, self.version, self.label = layout, version, label
        self.domain, self.per_packet = domain, per_packet
        self.streams = {}
        self.discarded = {}
        self.skb = 0xffff888100000000

    def names(self):
        if self.layout == "lttng":
            return ["net_dev_queue", "net_if_receive_skb"]
        if self.layout == "none":
            return ["sched_switch"]
        if self.layout == "wire":
            return ["inet_dev_xmit", "inet_dev_receive"]
        return [FLAT[self.layout][0] + d for d in ("_out", "_in")]

    def add(self, time, is_out, packet, stream=0, dev="eth0", skb=None):
        """Add an event. Its time is the printed time, which includes the epoch."""
        self.skb += 256
        if self.layout == "lttng":
            data = packet.net(self.version, skb or self.skb, dev, is_out)
        elif self.layout == "none":
            data = struct.pack("<I", 1)
        else:
            data = b""
            values = packet.own()
            if self.layout == "addons":
                values["flags"] = packet.addons_word()
            if self.layout == "wire":
                values = packet.wire(skb or self.skb)
            for name, kind in self.fields():
                fmt, value = TYPES[kind][1], values[name]
                if kind == "addr":
                    value = value[12:] if packet.v4 else value
                    data += bytes([len(value)])
                data += struct.pack(fmt, value) if fmt else value
        value = (time - self.epoch) * self.freq // 10**9
        kind = 0 if is_out or self.layout == "none" else 1
        self.streams.setdefault(stream, []).append((value, kind, data))

    def fields(self):
        return FLAT[self.layout][1]

    def metadata(self):
        clock = ""
        if self.clock != "none":
            line = f'\tuuid = "{self.clock}";\n' if self.clock != "unnamed" else ""
            seconds = self.epoch // 10**9
            cycles = (self.epoch - seconds * 10**9) * self.freq // 10**9
            clock = (f'clock {{\n\tname = "monotonic";\n{line}'
                     f"\tfreq = {self.freq};\n\toffset_s = {seconds};\n"
                     f"\toffset = {cycles};\n}};\n"
                     "typealias integer { size = 64; align = 8; signed = false;"
                     " map = clock.monotonic.value; } := uint64_time_t;\n")
        else:
            clock = ("typealias integer { size = 64; align = 8; signed = false;"
                     " } := uint64_time_t;\n")
        # Babeltrace 2 assumes a clock for fields that are called "timestamp".
        stamp = "when" if self.clock == "none" else "timestamp"
        text = ("/* CTF 1.8 */\n"
                "typealias integer { size = 8; align = 8; signed = false; } "
                ":= uint8_t;\n"
                "typealias integer { size = 16; align = 8; signed = false; } "
                ":= uint16_t;\n"
                "typealias integer { size = 32; align = 8; signed = false; } "
                ":= uint32_t;\n"
                "typealias integer { size = 64; align = 8; signed = false; } "
                ":= uint64_t;\n"
                f'trace {{\n\tmajor = 1;\n\tminor = 8;\n\tuuid = "{self.trace}"'
                ";\n\tbyte_order = le;\n\tpacket.header := struct {\n"
                "\t\tuint32_t magic;\n\t\tuint8_t uuid[16];\n"
                "\t\tuint32_t stream_id;\n\t};\n};\n"
                f'env {{\n\thostname = "{self.hostname}";\n'
                f'\tdomain = "{self.domain}";\n\tsysname = "Linux";\n'
                '\ttracer_name = "lttng-modules";\n'
                f"\ttracer_major = {self.version[0]};\n"
                f"\ttracer_minor = {self.version[1]};\n}};\n" + clock +
                "stream {\n\tid = 0;\n\tevent.header := struct {\n"
                f"\t\tuint16_t id;\n\t\tuint64_time_t {stamp};\n\t}};\n"
                "\tpacket.context := struct {\n"
                f"\t\tuint64_time_t {stamp}_begin;\n"
                f"\t\tuint64_time_t {stamp}_end;\n"
                "\t\tuint64_t content_size;\n\t\tuint64_t packet_size;\n"
                "\t\tuint64_t packet_seq_num;\n"
                "\t\tuint64_t events_discarded;\n\t\tuint32_t cpu_id;\n"
                "\t};\n};\n")
        for i, name in enumerate(self.names()):
            text += (f'event {{\n\tname = "{name}";\n\tid = {i};\n'
                     f"\tstream_id = 0;\n{self.event_text(name)}}};\n")
        return text

    def event_text(self, _name):
        """Return the metadata of an event's contents."""
        if self.layout == "lttng":
            fields = net_fields(self.version, self.label)
        elif self.layout == "none":
            fields = f"\t\t{TYPES['u32'][0]} _tid;\n"
        else:
            fields = flat_fields(self.fields())
        return f"\tfields := struct {{\n{fields}\t}};\n"

    def packet(self, stream, part, seq=0, lost=0):
        """
        Return one trace packet with these events of a stream, and its length without
        padding.
        """
        body = b"".join(struct.pack("<HQ", e, t) + d for t, e, d in part)
        used = 24 + 6 * 8 + 4 + len(body)
        size = -(-used // 4096) * 4096
        packet = struct.pack("<I", 0xc1fc1fc1)
        packet += uuid.UUID(self.trace).bytes + struct.pack("<I", 0)
        packet += struct.pack("<QQQQQQI", part[0][0], part[-1][0], used * 8,
                              size * 8, seq, lost, stream)
        return (packet + body).ljust(size, b"\0"), used

    def packets(self, stream):
        """Return the trace packets of a stream, each as bytes."""
        events = sorted(self.streams[stream])
        lost = self.discarded.get(stream, 0)
        for seq, i in enumerate(range(0, len(events), self.per_packet)):
            part = events[i:i + self.per_packet]
            last = i + self.per_packet >= len(events)
            yield self.packet(stream, part, seq, lost if last else 0)[0]

    def write(self, path):
        os.makedirs(path)
        with open(os.path.join(path, "metadata"), "w") as f:
            f.write(self.metadata())
        for stream in self.streams:
            with open(os.path.join(path, f"channel0_{stream}"), "wb") as f:
                f.write(b"".join(self.packets(stream)))
        return path


class Netns:
    """A network namespace of a host, which exchange() can use like a Trace."""

    def __init__(self, trace, inum):
        self.trace, self.inum = trace, inum

    def add(self, time, is_out, packet, **options):
        packet = copy.copy(packet)
        packet.netns = self.inum
        self.trace.add(time, is_out, packet, **options)


def exchange(a, b, count=200, start=1_700_000_000_000_000_000,
             gap=1_000_000, offset=0, skew_ppm=0, delay=50_000, v6=False,
             base_seq=1000, seed=1, **packet):
    """Ping-pong between Trace a and Trace b, whose clock is a's + offset + skew.

    Delays are at least `delay`, and sometimes equal to it in both directions, so the
    truth is known.
    """
    state = seed
    saddr, daddr = (("fd00::1", "fd00::2") if v6 else ("10.0.0.1", "10.0.0.2"))

    def to_b(t):
        return t + offset + (t - start) * skew_ppm // 10**6

    for i in range(count):
        t = start + i * gap
        for is_ping in (True, False):
            state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
            wait = delay + (0 if i % 8 == 0 else state >> 46)
            base = (base_seq, base_seq + 2**30)
            if not is_ping:
                base = base[1], base[0]
            p = Packet(seq=base[0] + i * 10, ack=base[1] + i * 10, len=10,
                       flags=PSH | ACK, id=(i * 2 + is_ping) & 0xffff,
                       saddr=saddr if is_ping else daddr,
                       daddr=daddr if is_ping else saddr,
                       sport=40000 if is_ping else 80,
                       dport=80 if is_ping else 40000, **packet)
            src, dst = (a, b) if is_ping else (b, a)
            if is_ping:
                src.add(t, True, p, stream=i % 2)
                dst.add(to_b(t + wait), False, p, stream=i % 2)
            else:
                src.add(to_b(t), True, p, stream=i % 2)
                dst.add(t + wait, False, p, stream=i % 2)
            t += wait + 20_000
