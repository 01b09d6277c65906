# SPDX-License-Identifier: GPL-2.0-only
"""
Write traces in Perfetto's format, as its tracing service records netsync's events: in both
encodings of events that Perfetto does not know (GenericFtraceEvent, and GenericEventDescriptor,
which is the default since v53), without the fields that are arrays of bytes, such as addresses.
"""
import zlib

from ctf import PSH, ACK, Packet

# Numbers of types in FtraceEvent, from 65536 on.
TYPES = {"inet_sock_local_in": 65540, "inet_sock_local_out": 65541, "inet_udp_local_in": 65542,
         "inet_udp_local_out": 65543, "netsync_clock": 65544}
PACKET = Packet(flags=PSH | ACK)
FIELDS = [name for name in PACKET.own() if name not in ("saddr", "daddr", "hwtstamp")]
CLOCK_FIELDS = ["mono", "raw", "offs_boot", "offs_tai", "mult", "raw_mult", "seq"]


def varint(value):
    value, out = value % 2**64, b""
    while value > 127:
        out, value = out + bytes([value & 127 | 128]), value >> 7
    return out + bytes([value])


def number(field, value):
    return varint(field << 3) + varint(value)


def data(field, value):
    value = value.encode() if isinstance(value, str) else value
    return varint(field << 3 | 2) + varint(len(value)) + value


def snapshot(**clocks):
    """A ClockSnapshot."""
    ids = {"realtime": 1, "mono": 3, "boot": 6}
    return data(6, b"".join(data(1, number(1, ids[name]) + number(2, time))
                            for name, time in clocks.items()))


class Pftrace:
    """A trace of one machine. add() has the parameters of ctf.Trace.add()."""

    def __init__(self, epoch, dense=True, clock=None):
        self.epoch, self.dense, self.clock = epoch, dense, clock
        self.cpus, self.first, self.more = {}, [], []

    def say(self, time, name, values, cpu=0):
        """Add an event. Its time is ns since 1970."""
        event = number(1, time - self.epoch) + number(2, 42)
        if self.dense:
            fields = FIELDS if name != "netsync_clock" else CLOCK_FIELDS
            event += data(TYPES[name], b"".join(number(fields.index(f) + 1, v)
                                                for f, v in values.items()))
        else:
            event += data(327, data(1, name) + b"".join(
                data(2, data(1, f) + number(5, v)) for f, v in values.items()))
        self.cpus.setdefault(cpu, []).append((time, event))

    def add(self, time, is_out, packet, stream=0, protocol="sock"):
        values = {f: v for f, v in packet.own().items() if f in FIELDS and v is not None}
        self.say(time, f"inet_{protocol}_local_{'out' if is_out else 'in'}", values, stream)

    def types(self):
        """Describe all types."""
        out = b""
        for name, number_of in TYPES.items():
            fields = FIELDS if name != "netsync_clock" else CLOCK_FIELDS
            described = data(1, name) + b"".join(
                data(2, data(1, f) + number(3, i) + number(4, 1) + number(5, 4))
                for i, f in enumerate(fields, 1))
            out += data(11, number(1, number_of) + data(2, described))
        return out

    def packets(self, size=50):
        """Yield packets: bundles of some events of each CPU in turn."""
        yield snapshot(realtime=self.epoch + 10**9, mono=10**9, boot=10**9)
        yield from self.first
        left = {cpu: list(events) for cpu, events in self.cpus.items()}
        described = False
        while any(left.values()):
            for cpu, events in left.items():
                bundle = number(1, cpu) + b"".join(data(2, e) for _, e in events[:size])
                del events[:size]
                if self.clock is not None:
                    bundle += number(5, self.clock)
                if self.dense and not described:
                    bundle += self.types()
                described = True
                yield data(1, bundle)
        yield from self.more

    def bytes(self, compressed=False):
        packets = [data(1, p) for p in self.packets()]
        if not compressed:
            return b"".join(packets)
        return b"".join(data(1, data(50, zlib.compress(b"".join(packets[i:i + 20]))))
                        for i in range(0, len(packets), 20))

    def write(self, path, **options):
        path.write_bytes(self.bytes(**options))
        return path
