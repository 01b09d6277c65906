# SPDX-License-Identifier: GPL-2.0-only
"""Valid perf.data files, according to tools/perf/Documentation/perf.data-file-format.txt
of Linux."""
import struct
import subprocess
import zlib

import tracedat

# enum perf_event_sample_format
IP, TID, TIME, ADDR, READ, CALLCHAIN, ID, CPU, PERIOD, STREAM_ID, RAW = (1 << i for i in range(11))
IDENTIFIER = 1 << 16
USUAL = IDENTIFIER | IP | TID | TIME | CPU | PERIOD | RAW

# Types of perf's records.
LOST, EXIT, SAMPLE, LOST_SAMPLES = 2, 4, 9, 13
HEADER_ATTR, TRACING_DATA, ROUND, AUXTRACE, FEATURE = 64, 66, 68, 71, 80
COMPRESSED, COMPRESSED2 = 81, 83
FILTERED = 1 << 15

CLOCKS = {"realtime": 0, "mono": 1, "mono_raw": 4, "boot": 7, "tai": 11, "perf": None}
# Readings of the wall clock and of perf's clock at the start of a recording.
WALL, BEGAN = 1_700_000_000_000_000_000, 9_000_000_000


class File(tracedat.File):
    """
    A perf.data file with the content of a trace.dat file. @rounds is the length of a
    round, ns, or 0 without rounds. @packed is the type of compressed records.
    """

    def __init__(self, name, order="<", pipe=False, has=USUAL, clock="mono", rounds=10**9,
                 packed=None, session=""):
        super().__init__(name, order=order, clock=clock, session=session)
        self.pipe, self.has, self.rounds, self.packed = pipe, has, rounds, packed
        self.samples = []		# (time, processor, raw event)
        self.lost = []			# (time, processor, number)
        self.more = []			# complete records that follow all others
        self.names = list(tracedat.IDS)

    def page(self, cpu, time, events, missed=None):
        for when, (kind, event) in events:
            self.samples.append((when, cpu, event[0 if kind else 4:]))
        if missed is not None:
            self.lost.append((time, cpu, missed))

    def pack_of(self, data, at):
        """Return the 64-bit number at an offset."""
        return struct.unpack_from(self.order + "Q", data, at)[0]

    # ---- records

    def record(self, kind, data, misc=0):
        return self.pack("IHH", kind, misc, 8 + len(data)) + data

    def id_of(self, name, cpu):
        return 100 * (1 + self.names.index(name)) + cpu

    def sample(self, time, cpu, raw):
        number, = struct.unpack_from(self.order + "H", raw)
        name, = [n for n in self.names if tracedat.IDS[n] == number]
        own = self.id_of(name, cpu)
        # The size of the raw data makes the size of the record a multiple of 8.
        raw = self.pack("I", len(raw) + -(len(raw) + 4) % 8) + raw + bytes(-(len(raw) + 4) % 8)
        parts = [(IDENTIFIER, self.pack("Q", own)), (IP, bytes(8)),
                 (TID, self.pack("II", 50, 51)), (TIME, self.pack("Q", time)), (ADDR, bytes(8)),
                 (ID, self.pack("Q", own)), (STREAM_ID, self.pack("Q", own)),
                 (CPU, self.pack("II", cpu, 0)), (PERIOD, self.pack("Q", 1)),
                 (READ, self.pack("QQQ", 1, own, 0)),
                 (CALLCHAIN, self.pack("QQQ", 2, 1, 2)), (RAW, raw)]
        return self.record(SAMPLE, b"".join(data for bit, data in parts if self.has & bit))

    def trailer(self, time, cpu, own):
        parts = [(TID, self.pack("II", 50, 51)), (TIME, self.pack("Q", time)),
                 (ID, self.pack("Q", own)), (STREAM_ID, self.pack("Q", own)),
                 (CPU, self.pack("II", cpu, 0)), (IDENTIFIER, self.pack("Q", own))]
        return b"".join(data for bit, data in parts if self.has & bit)

    def loss(self, time, cpu, number):
        own = self.id_of(self.names[0], cpu)
        return self.record(LOST, self.pack("QQ", own, number) + self.trailer(time, cpu, own))

    def exit_of(self, time, cpu):
        """Return the record of a thread that has ended, which contains its time twice."""
        own = self.id_of(self.names[0], cpu)
        return self.record(EXIT, self.pack("IIIIQ", 50, 1, 51, 1, time) +
                           self.trailer(time, cpu, own))

    def records(self):
        """Return all records, ordered by round, and within a round by processor."""
        found = [(t, cpu, self.sample(t, cpu, raw)) for t, cpu, raw in self.samples] + \
            [(t, cpu, self.loss(t, cpu, n)) for t, cpu, n in self.lost]
        # A processor's records may also be in the round before their own.
        start = min((t for t, _, _ in found), default=0)
        lag = self.rounds // 3
        rounds = {}
        for t, cpu, data in found:
            number = (t - start + cpu * lag) // self.rounds if self.rounds else 0
            rounds.setdefault(number, []).append((cpu, t, data))
        for _, events in sorted(rounds.items()):
            yield from (data for _, _, data in sorted(events))
            if self.rounds:
                yield self.record(ROUND, b"")
        yield from self.more

    def pack_records(self, records):
        """Compress some of the records in one stream, which is cut at arbitrary places."""
        if not self.packed:
            return b"".join(records)
        small = subprocess.run(["zstd", "-q", "-c"], input=b"".join(records), check=True,
                               capture_output=True).stdout
        step, data = max(1, len(small) // 5), b""
        for at in range(0, len(small), step):
            piece = small[at:at + step]
            if self.packed == COMPRESSED2:
                piece = self.pack("Q", len(piece)) + piece + bytes(-len(piece) % 8)
            data += self.record(self.packed, piece)
        return data

    # ---- the description of the file

    def attr(self, name):
        flags = [18] + ([25] if CLOCKS[self.clock] is not None else [])
        bits = sum(1 << (63 - flag if self.order == ">" else flag) for flag in flags)
        return self.pack("IIQQQQQ", 2, 128, tracedat.IDS[name], 1, self.has,
                         1 << 2 | 1 << 4, bits).ljust(92, b"\0") + \
            self.pack("i", CLOCKS[self.clock] or 0).ljust(36, b"\0")

    def ids_of(self, name):
        return b"".join(self.pack("Q", self.id_of(name, cpu)) for cpu in range(2))

    def formats(self):
        data = b"\x17\x08\x44tracing0.6\0" + bytes([self.order == ">", 8]) + \
            self.pack("I", 4096)
        data += b"".join(section for _, section in self.sections())
        return data

    def features(self):
        """Return {number: contents} of the features."""
        name = self.name.encode() + b"\0"
        name += bytes(-len(name) % 8)
        found = {1: self.formats(), 3: self.pack("I", len(name)) + name}
        if CLOCKS[self.clock] is not None:
            session = zlib.crc32((self.name + self.session).encode())
            found[29] = self.pack("IIQQ", 1, CLOCKS[self.clock], WALL + session, BEGAN)
        return found

    def data(self, more=()):
        del more
        return self.data_pipe() if self.pipe else self.data_file()

    def data_pipe(self):
        data = self.pack("QQ", struct.unpack("<Q", b"PERFILE2")[0], 16)
        for name in self.names:
            data += self.record(HEADER_ATTR, self.attr(name) + self.ids_of(name))
        for number, content in self.features().items():
            if number == 1:
                content += bytes(-len(content) % 8)
                data += self.record(TRACING_DATA, self.pack("II", len(content), 0)) + content
            else:
                data += self.record(FEATURE, self.pack("Q", number) + content)
        return data + self.pack_records(list(self.records()))

    def data_file(self):
        ids = [self.ids_of(name) for name in self.names]
        attrs_at = 104 + sum(map(len, ids))
        attrs, at = b"", 104
        for name, own in zip(self.names, ids):
            attrs += self.attr(name) + self.pack("QQ", at, len(own))
            at += len(own)
        records = self.pack_records(list(self.records()))
        data_at = attrs_at + len(attrs)
        features, bits = self.features(), [0] * 4
        for number in features:
            bits[number // 64] |= 1 << number % 64
        head = self.pack("QQQ", struct.unpack("<Q", b"PERFILE2")[0], 104, 128 + 16)
        head += self.pack("QQQQQQ", attrs_at, len(attrs), data_at, len(records), 0, 0)
        head += self.pack("QQQQ", *bits)
        places, contents = b"", b""
        at = data_at + len(records) + 16 * len(features)
        for _, content in sorted(features.items()):
            places += self.pack("QQ", at + len(contents), len(content))
            contents += content
        return head + b"".join(ids) + attrs + records + places + contents
