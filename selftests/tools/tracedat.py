# SPDX-License-Identifier: GPL-2.0-only
"""Read trace.dat files as printed by trace-cmd, and write valid artificial files."""
import pathlib
import re
import struct
import subprocess
import zlib

from ktap import TOP, check

# Recordings of two machines that exchanged packets, and a recording of one machine in several
# forms.
DATA = TOP / "selftests/data/trace-cmd"
WEB, DB = DATA / "web/trace.dat", DATA / "db/trace.dat"
KINDS = DATA / "kinds"

PAGES_IN_CHUNK = 10


def trace_cmd(*arguments):
    done = subprocess.run(["trace-cmd", *map(str, arguments)], check=False,
                          capture_output=True)
    check(done.returncode == 0, arguments, done.stderr.decode())
    return done.stdout.decode(errors="replace")


def report(*files):
    """Return trace-cmd's output: [(file, time in ns, event, its fields)]."""
    inputs = [word for file in files for word in ("-i", file)]
    # Since version 3.2, flags of the task are between the processor and the time. For clocks with
    # an unknown unit, the time is a whole number, which may fill its column.
    line = re.compile(
        r"(?:(\S+): )? *.*? \[\d+\] *(?:\S{5} )? *(\d+)(\.\d{9})?: (\w+): +(.*)")
    found = map(line.fullmatch, trace_cmd("report", "-t", *inputs).splitlines())
    return [(m[1], int(m[2] + m[3][1:] if m[3] else m[2]), m[4], m[5]) for m in found if m]


def packets(events):
    """Return the events of packets."""
    return [e for e in events if re.match(r"inet_(\w+_local|dev)_", e[2])]


def convert(source, target, version=7, compression="none"):
    """Convert a file to another version of the format."""
    options = ["--compression", compression] if version > 6 else []
    trace_cmd("convert", "-i", source, "-o", target, "--file-version", version,
              *options)
    return target


def options(data):
    """Return the options of a file of version 7: (id, offset of their data, their size)."""
    at, = struct.unpack_from("<Q", data, data.index(b"\0", data.index(b"\0", 18) + 1) + 1)
    while at:
        at += 16
        while True:
            number, size = struct.unpack_from("<HI", data, at)
            yield number, at + 6, size
            at += 6 + size
            if not number:
                at, = struct.unpack_from("<Q", data, at - 8)
                break


def compress(source, target):
    """Make a file of version 7 whose events are compressed by zlib from an uncompressed one."""
    data = bytearray(pathlib.Path(source).read_bytes())
    data[18:23] = b"zlib\0"
    for number, at, size in list(options(data)):
        if number != 3:
            continue
        section, = struct.unpack_from("<Q", data, at)
        data[section + 2] |= 1
        names_end = at + 8
        for _ in range(2):
            names_end = data.index(b"\0", names_end) + 1
        page_size, num = struct.unpack_from("<II", data, names_end)
        for cpu in range(num):
            entry = names_end + 8 + 20 * cpu + 4
            start, length = struct.unpack_from("<QQ", data, entry)
            step = page_size * PAGES_IN_CHUNK
            chunks = [data[i:min(i + step, start + length)]
                      for i in range(start, start + length, step)]
            packed = struct.pack("<I", len(chunks))
            for chunk in chunks:
                small = zlib.compress(chunk)
                packed += struct.pack("<II", len(small), len(chunk)) + small
            struct.pack_into("<QQ", data, entry, len(data),
                             len(packed) if length else 0)
            data += packed
    pathlib.Path(target).write_bytes(data)
    return target


# ---- artificial files -----------------------------------------------------------

FIELDS = {"inet_sock_local": [
    ("common_type", 2), ("common_flags", 1), ("common_preempt_count", 1),
    ("common_pid", 4), ("len", 4), ("netns", 4), ("id", 2), ("sport", 2), ("dport", 2),
    ("gso_size", 2), ("gso_segs", 2), ("family", 1), ("seq", 4), ("ack_seq", 4),
    ("window", 2), ("flags", 2), ("has_ts", 1), ("tsval", 4), ("tsecr", 4)],
    "netsync_clock": [
    ("common_type", 2), ("common_flags", 1), ("common_preempt_count", 1),
    ("common_pid", 4), ("mono", 8), ("raw", 8), ("offs_real", 8), ("offs_boot", 8),
    ("offs_tai", 8), ("mult", 4), ("raw_mult", 4), ("shift", 4), ("steps", 4), ("seq", 4)]}
IDS = {"inet_sock_local_in": 301, "inet_sock_local_out": 302, "netsync_clock": 303}
SIZES = {1: "B", 2: "H", 4: "I", 8: "Q"}


def format_of(name):
    """Return the description of an event in the kernel's format."""
    at, lines = 0, [f"name: {name}", f"ID: {IDS[name]}", "format:"]
    for field, size in FIELDS.get(name) or FIELDS[name.rsplit("_", 1)[0]]:
        lines.append(f"\tfield:u{8 * size} {field};\toffset:{at};\tsize:{size};\tsigned:0;")
        at += size
        if field == "common_pid":
            lines.append("")
    for field in ("saddr", "daddr") if name.startswith("inet") else ():
        lines.append(f"\tfield:u8 {field}[16];\toffset:{at};\tsize:16;\tsigned:0;")
        at += 16
    return "\n".join([*lines, "", 'print fmt: "seq=%u", REC->seq', ""]).encode()


class File:
    """A trace.dat file of packet events, in any byte order and version."""

    def __init__(self, name, order="<", long=8, page_size=4096, version=6, cpus=2,
                 clock="mono", session=""):
        self.name, self.order, self.long, self.version = name, order, long, version
        self.page_size, self.clock, self.session = page_size, clock, session
        self.pages = [[] for _ in range(cpus)]

    def pack(self, codes, *values):
        return struct.pack(self.order + codes, *values)

    def head(self, kind, delta):
        """Return the word before an event. The order of its parts follows the byte order."""
        return self.pack("I", kind | delta << 5 if self.order == "<" else kind << 27 | delta)

    def event(self, way, seq, src, dst, large=False):
        name = f"inet_sock_local_{way}"
        values = {"common_type": IDS[name], "len": 100, "netns": 7, "family": 2, "seq": seq,
                  "ack_seq": 1, "flags": 0x5018, "sport": 1000, "dport": 2000}
        data = b"".join(self.pack(SIZES[size], values.get(field, 0))
                        for field, size in FIELDS["inet_sock_local"])
        for last in src, dst:
            data += bytes(10) + b"\xff\xff\x0a\0\0" + bytes([last])
        data += bytes(-len(data) % 4)
        if large or len(data) > 112:
            return 0, self.pack("I", len(data) + 4) + data
        return len(data) // 4, data

    def clock_event(self, values):
        values = {"common_type": IDS["netsync_clock"]} | values
        data = b"".join(self.pack(SIZES[size], values.get(field, 0))
                        for field, size in FIELDS["netsync_clock"])
        return len(data) // 4, data

    def page(self, cpu, time, events, missed=None):
        """Return a page of [(time, result of event())], with all kinds of time steps."""
        data, now = b"", time
        for i, (when, (kind, event)) in enumerate(events):
            if i % 5 == 2:
                # Add an event that a filter discarded from the buffer.
                data += self.head(29, 1) + self.pack("I", 12) + bytes(8)
                now += 1
            delta = when - now
            if i % 5 == 3:
                data += self.head(31, when & (1 << 27) - 1) + \
                    self.pack("I", (when & (1 << 59) - 1) >> 27)
                delta = 0
            elif delta >> 27:
                data += self.head(30, delta & (1 << 27) - 1) + self.pack("I", delta >> 27)
                delta = 0
            data += self.head(kind, delta) + event
            now = when
        marks = len(data)
        if missed is not None:
            marks |= 3 << 30
            data += self.pack("Q" if self.long == 8 else "I", missed)
        data = self.pack("Q" if self.long == 8 else "I", marks) + data
        data = self.pack("Q", time) + data
        self.pages[cpu].append(data + bytes(self.page_size - len(data)))

    def sections(self):
        header = (f"\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
                  f"\tfield: local_t commit;\toffset:8;\tsize:{self.long};\tsigned:1;\n").encode()
        formats = [format_of(name) for name in IDS]
        yield 16, b"header_page\0" + self.pack("Q", len(header)) + header + \
            b"header_event\0" + self.pack("Q", 0)
        yield 17, self.pack("I", 0)
        yield 18, self.pack("I", 1) + b"netsync\0" + self.pack("I", len(formats)) + \
            b"".join(self.pack("Q", len(f)) + f for f in formats)
        yield 19, self.pack("I", 0)
        yield 20, self.pack("I", 0)
        yield 21, self.pack("Q", 0)

    def options(self, more):
        clock = f"local [{self.clock}]".encode() + b"\0"
        uname = f"Linux {self.name} 6.1.0 x86_64".encode() + b"\0"
        identity = self.pack("Q", zlib.crc32((self.name + self.session).encode()))
        return b"".join(self.pack("HI", number, len(data)) + data for number, data in
                        [(4, clock), (5, uname), (11, identity), *more])

    def data(self, more=()):
        start = b"\x17\x08\x44tracing%d\0" % self.version + \
            bytes([self.order == ">", self.long]) + self.pack("I", self.page_size)
        return self.data_6(start, more) if self.version == 6 else self.data_7(start, more)

    def lay_out(self, at):
        """Return [(offset, size)] for the processors' pages. The first one is at a full page."""
        for pages in self.pages:
            at += -at % self.page_size
            yield at, len(pages) * self.page_size
            at += len(pages) * self.page_size

    def events(self, data):
        for (at, _), pages in zip(self.lay_out(len(data)), self.pages):
            data += bytes(at - len(data)) + b"".join(pages)
        return data

    def data_6(self, start, more):
        data = start + b"".join(section for _, section in self.sections())
        data += self.pack("I", len(self.pages)) + b"options  \0" + self.options(more) + \
            self.pack("H", 0) + b"flyrecord\0"
        places = self.lay_out(len(data) + 16 * len(self.pages))
        return self.events(data + b"".join(self.pack("QQ", *place) for place in places))

    def data_7(self, start, more):
        def section(number, content):
            return self.pack("HHIQ", number, 0, 0, len(content)) + content

        data, places = start + b"none\0\0" + bytes(8), []
        for number, content in self.sections():
            places.append((number, self.pack("Q", len(data))))
            data += section(number, content)
        at = len(data)
        data += section(3, b"")
        cpus = list(self.lay_out(len(data)))
        data = self.events(data)
        places.append((3, self.pack("Q", at) + b"\0" + self.clock.encode() + b"\0" +
                       self.pack("II", self.page_size, len(cpus)) + b"".join(
                           self.pack("IQQ", i, *place) for i, place in enumerate(cpus))))
        listed = self.options([*places, *more]) + self.pack("HIQ", 0, 8, 0)
        first = len(start) + 6
        return data[:first] + self.pack("Q", len(data)) + data[first + 8:] + \
            section(0, listed)


def exchange(one, other, count=200, offset=5_000_000, skew_ppm=0, jump=0, start=10**10,
             step=10**8, delay=50_000):
    """Add segments in both directions. On each machine, every fourth segment is on the second
    processor. The clock of the other machine has an offset, and jumps in the middle. Return
    the times of events on each machine."""
    seen = {one: [[], []], other: [[], []]}
    for i in range(2 * count):
        sender, receiver = (one, other) if i % 2 else (other, one)
        hosts = (1, 2) if i % 2 else (2, 1)
        for file, way, time in ((sender, "out", start + i * step),
                                (receiver, "in", start + i * step + delay)):
            if file is other:
                time += offset + (time - start) * skew_ppm // 10**6 + (i >= count) * jump
            seen[file][i % 4 == 3].append((time, file.event(way, 1000 * i, *hosts, i % 3 == 0)))
    for file, cpus in seen.items():
        for cpu, events in enumerate(cpus):
            for i in range(0, len(events), 20):
                file.page(cpu, events[i][0] - 5, events[i:i + 20],
                          missed=3 if i == 20 else None)
    return {file: sorted(e[0] for events in cpus for e in events)
            for file, cpus in seen.items()}
