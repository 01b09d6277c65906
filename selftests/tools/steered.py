# SPDX-License-Identifier: GPL-2.0-only
"""Two machines whose clocks a daemon steers, and traces that report it."""
import bisect
import random
import struct

import ctf

START = 1_700_000_000_000_000_000
SECOND = 10**9
SPAN = 60 * SECOND
BOOT = 4242 * SECOND            # the raw clock's reading at the start
MULT, SHIFT = 5_592_405, 24     # of a TSC of 3 GHz
FIELDS = [("mono", "u64"), ("raw", "u64"), ("offs_real", "u64"), ("offs_boot", "u64"),
          ("offs_tai", "u64"), ("mult", "u32"), ("raw_mult", "u32"), ("shift", "u32"),
          ("steps", "u32"), ("seq", "u32")]


class Clock:
    """CLOCK_MONOTONIC of a machine, whose rate a daemon sometimes changes; begin: its
    reading at the start."""

    def __init__(self, seed, begin, steered=True):
        chance = random.Random(seed)
        self.at, self.shown, self.mult = [0], [begin], [MULT]
        while steered and self.at[-1] < SPAN:
            length = chance.randrange(SECOND, 5 * SECOND)
            self.shown.append(self.show(self.at[-1] + length))
            self.at.append(self.at[-1] + length)
            self.mult.append(MULT + chance.randrange(-2000, 2000))

    def set(self, time, by):
        """Step the clock at a time after its last change."""
        shown = self.show(time) + by
        self.at.append(time)
        self.shown.append(shown)
        self.mult.append(self.mult[-1])

    def piece(self, time):
        return bisect.bisect_right(self.at, time) - 1

    def show(self, time):
        i = self.piece(time)
        return self.shown[i] + (time - self.at[i]) * self.mult[i] // MULT

    def events(self):
        """Return (time, fields) of each change, and of each second."""
        for seq, time in enumerate(sorted({*self.at, *range(0, SPAN, SECOND)})):
            yield time, dict(mono=self.show(time), raw=BOOT + time, offs_real=0,
                             offs_boot=90 * SECOND, offs_tai=37 * SECOND,
                             mult=self.mult[self.piece(time)], raw_mult=MULT,
                             shift=SHIFT, steps=0, seq=seq)


def times(seed, rate=100):
    """Return the send times, directions and delays of messages."""
    chance = random.Random(seed)
    for i in range(SPAN // SECOND * rate):
        yield (i * SECOND // rate + chance.randrange(SECOND // rate // 2), i % 2 == 0,
               50_000 + (0 if i % 16 < 2 else int(chance.expovariate(1e-5))))


def worst_error(result, clocks, epoch):
    """Return the largest error, ns, at each tenth of a second."""
    host, = [h for h in result["hosts"] if h["name"] == "db"]
    worst = 0
    for time in range(0, SPAN, SECOND // 10):
        own, truth = (clock.show(time) + epoch for clock in reversed(clocks))
        segment = [s for s in host["segments"] if s["from_ns"] <= own][-1:]
        segment = (segment or host["segments"])[0]
        got = own + segment["offset_ns"] + round(
            (segment["rate"] - 1) * (own - segment["from_ns"]))
        worst = max(worst, abs(got - truth))
    print(f"# {worst} ns at most")
    return worst


class Steered(ctf.Trace):
    def names(self):
        return [*super().names(), "netsync_clock"]

    def event_text(self, name):
        if name != "netsync_clock":
            return super().event_text(name)
        return "\tfields := struct {\n" + ctf.flat_fields(FIELDS) + "\t};\n"

    def add_clock(self, time, values, stream=0):
        data = b"".join(struct.pack(ctf.TYPES[kind][1], values[name])
                        for name, kind in FIELDS)
        self.streams.setdefault(stream, []).append((time - self.epoch, 2, data))


def make_traces(clocks, epoch=START, told=True):
    """Write traces of the hosts web and db."""
    traces = [Steered(hostname=name, epoch=epoch) for name in ("web", "db")]
    addresses = "10.0.0.1", "10.0.0.2"
    for i, (time, forth, delay) in enumerate(times(3)):
        way = (0, 1) if forth else (1, 0)
        packet = ctf.Packet(seq=1000 + i * 10, ack=77, len=10, flags=ctf.PSH | ctf.ACK,
                            id=i & 0xffff, saddr=addresses[way[0]], daddr=addresses[way[1]],
                            sport=40000 + forth, dport=50000)
        for end, when in zip(way, (time, time + delay)):
            traces[end].add(clocks[end].show(when) + epoch, end == way[0], packet,
                            stream=i % 2)
    for trace, clock in zip(traces, clocks):
        for time, values in clock.events() if told else ():
            trace.add_clock(values["mono"] + 3000 + epoch, values, stream=1)
    return traces


def make_ctf(folder, clocks, **how):
    return [trace.write(folder / trace.hostname) for trace in make_traces(clocks, **how)]
