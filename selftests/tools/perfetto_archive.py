# SPDX-License-Identifier: GPL-2.0-only
"""
Read the output of netsync export --perfetto-archive as trace_processor does: a model of its
clocks (src/trace_processor/util/clock_synchronizer.cc, importers/proto/proto_trace_reader.cc) and
of its tar reader (importers/archive/tar_trace_reader.cc). Nothing is shared with the code of
netsync, such as the numbers of fields.
"""
import bisect
import collections
import io
import json
import tarfile
import zlib

from ktap import check

REALTIME, MONOTONIC, BOOTTIME = 1, 3, 6
CLOCKS = {"REALTIME": REALTIME, "MONOTONIC": MONOTONIC, "BOOTTIME": BOOTTIME}


# ---- protocol buffers ----------------------------------------------------------


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def fields(data):
    """Return the fields of a message: number -> values, which are integers or bytes."""
    out, at = collections.defaultdict(list), 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        elif key & 7 == 2:
            size, at = varint(data, at)
            value, at = data[at:at + size], at + size
            check(len(value) == size, "is cut")
        else:
            size = {1: 8, 5: 4}[key & 7]
            value, at = int.from_bytes(data[at:at + size], "little"), at + size
        out[key >> 3].append(value)
    return out


def one(message, number, default=None):
    check(len(message[number]) <= 1, number, "repeated")
    return message[number][0] if message[number] else default


def packets(data):
    """Return the packets of a Trace, including those in compressed packets."""
    for raw in fields(data)[1]:
        packet = fields(raw)
        if packet[50]:
            yield from packets(zlib.decompress(one(packet, 50)))
        else:
            yield packet


# ---- the archive ----------------------------------------------------------------


def members(data):
    """Return the members of a tar archive, by name, as Perfetto's reader accepts them."""
    out, at = {}, 0
    while any(data[at:at + 512]):
        head = data[at:at + 512]
        check(head[257:265] == b"ustar\x0000", "no ustar header", head[257:265])
        check(head[156:157] == b"0", "not a regular file")
        check(head[345:500] == bytes(155), "has a prefix, which the page does not read")
        name = head[:100].rstrip(b"\0").decode()
        check(0 < len(name) <= 99 and head[99] == 0)
        size, end = head[124:136].split(b"\0")[0], head[124:136].find(b"\0")
        check(end == 11 and all(c in b"01234567" for c in size), "not octal", size)
        size = int(size, 8)
        check(name not in out, name, "twice")
        out[name] = data[at + 512:at + 512 + size]
        at += 512 + (size + 511) // 512 * 512
    check(data[at:at + 1024] == bytes(1024) and len(data) == at + 1024, "no end")
    return out


class Archive:
    def __init__(self, path):
        data = path.read_bytes()
        self.members = members(data)
        with tarfile.open(fileobj=io.BytesIO(data)) as tar:
            check(tar.getnames() == list(self.members))
        self.manifest = json.loads(self.members["perfetto_manifest.json"])["perfetto_manifest"]
        self.entries = {f["path"]: f for f in self.manifest["files"]}
        self.attributes = self.manifest["attributes"]
        self.check_manifest()
        self.read_clocks()

    def check_manifest(self):
        check(self.manifest["version"] == 1)
        check(set(self.entries) | {"perfetto_manifest.json"} == set(self.members))
        # Perfetto reads its own files in the order of their names.
        check(min(self.entries) == "0-netsync.pftrace", self.entries)
        time = self.manifest["trace_time"]
        check(time["clock"] == "BOOTTIME" and time["file"] == "0-netsync.pftrace")
        self.reference = time["machine"]
        self.machines = {m["name"]: m["id"]
                         for m in self.entries["0-netsync.pftrace"]["machines"]}
        check(self.machines[self.reference] == 0)
        check(len(set(self.machines.values())) == len(self.machines))
        for path, entry in self.entries.items():
            check(path == "0-netsync.pftrace" or entry["machine"]["name"] in self.machines, path)

    def read_clocks(self):
        """Read differences between clocks of a machine, and stairs to machine 0."""
        self.snapshots = {}
        self.stairs = collections.defaultdict(lambda: ([], []))
        ids = set(self.machines.values())
        for packet in packets(self.members["0-netsync.pftrace"]):
            machine = one(packet, 98, 0)
            known = {number for number, values in packet.items() if values}
            check(known <= {6, 98, 107} and machine in ids, known, machine)
            if packet[6]:
                clocks = self.clocks(one(packet, 6))
                check(machine not in self.snapshots, "two snapshots")
                # Perfetto takes REALTIME for the same time on all machines.
                check(not machine or REALTIME not in clocks, "wall clock of", machine)
                self.snapshots[machine] = clocks
                continue
            # The first pair is not used; the others are averaged.
            pairs = fields(one(packet, 107))[1][1:]
            (pair,) = [fields(p) for p in pairs]
            (client,), (host,) = (self.clocks(one(pair, n)).items() for n in (2, 3))
            check(client[0] == host[0] == BOOTTIME and machine)
            times, shifts = self.stairs[machine]
            check(not times or client[1] > times[-1], "stairs are not in order")
            check(not times or host[1] > times[-1] + shifts[-1], "trace time steps back")
            times.append(client[1])
            shifts.append(host[1] - client[1])
        check(set(self.snapshots) == ids, self.snapshots, ids)

    @staticmethod
    def clocks(snapshot):
        return {one(c, 1): one(c, 2) for c in map(fields, fields(snapshot)[1])}

    def convert(self, machine, clock, time):
        """Convert a time of a machine's clock to trace time: the difference at the last snapshot
        before it, or at the first one."""
        number = self.machines[machine]
        clocks = self.snapshots[number]
        time += clocks[BOOTTIME] - clocks[clock]
        if not number:
            return time
        times, shifts = self.stairs[number]
        return time + shifts[max(bisect.bisect_right(times, time) - 1, 0)]

    def convert_file(self, path, clock, time):
        """Convert a time of a member whose times are of @clock, unless the manifest pins it."""
        entry = self.entries[path]
        if "clocks" in entry:
            to = entry["clocks"]["sync_to"]
            check(to["file"] == "0-netsync.pftrace" and to["machine"] == entry["machine"]["name"])
            check("clock" not in entry["clocks"])
            time, clock = time + entry["clocks"]["offset_ns"], CLOCKS[to["clock"]]
        return self.convert(entry["machine"]["name"], clock, time)

    def scheduling(self, path):
        """Return sched_switch and sched_waking events of a member at trace time: (time, CPU,
        kind, thread)."""
        for packet in packets(self.members[path]):
            check(not packet[6] and not packet[58] and not packet[59],
                  "relates clocks, so that those of 0-netsync.pftrace are not used")
            for bundle in map(fields, packet[1]):
                for event in map(fields, bundle[2]):
                    time = self.convert_file(path, BOOTTIME, one(event, 1))
                    if event[4]:
                        yield time, one(bundle, 1, 0), "switch", one(fields(one(event, 4)), 6)
                    else:
                        yield time, one(bundle, 1, 0), "waking", one(fields(one(event, 20)), 2)

    def slices(self, path):
        """Return begins and ends of slices, and instants: (time, type), at trace time."""
        for packet in packets(self.members[path]):
            for event in map(fields, packet[11]):
                yield one(packet, 8), one(event, 9)

    def tids(self, path):
        """Return the threads that a member describes: id -> name."""
        out = {}
        for packet in packets(self.members[path]):
            for track in map(fields, packet[60]):
                for thread in map(fields, track[4]):
                    out[one(thread, 2)] = one(thread, 5, b"").decode()
        return out
