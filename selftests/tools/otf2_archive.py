# SPDX-License-Identifier: GPL-2.0-only
"""OTF2 archives of a simulated MPI program, written by OTF2's own library, and the true clocks.

As a program, writes the archive of the tutorial to a new folder."""
import datetime
import pathlib
import random
import re
import shutil
import subprocess
import sys

from ktap import Skip, check

# Other Pythons than Debian's do not search this folder; OTF2's module has no compiled part.
sys.path.append("/usr/lib/python3/dist-packages")
try:
    import _otf2 as lib
except ImportError:
    lib = None

REALTIME_NS = 1_711_929_600 * 10**9
START_NS = 3600 * 10**9  # reading of the clocks when the program starts, without their offsets
PERIOD_NS = 2_000_000    # an iteration of the program takes about as long
LATENCY_NS = 20_000      # a message takes at least as long
WORLD, SELF, PAIR = range(3)  # communicators; the last one is the first pair's


def print_archive(anchor, *options, is_lenient=False):
    """Return what otf2-print prints."""
    if not shutil.which("otf2-print"):
        raise Skip("otf2-tools is not installed")
    done = subprocess.run(["otf2-print", *options, anchor], capture_output=True, text=True,
                          check=True)
    check(is_lenient or "error" not in done.stderr.lower(), done.stderr)
    return done.stdout


def read_events(anchor, **options):
    """The names and ticks of all events, by location."""
    events = {}
    for name, location, ticks in re.findall(r"([A-Z_]+) +(\d+) +(\d+) ",
                                            print_archive(anchor, **options)):
        events.setdefault(int(location), []).append((name, int(ticks)))
    return events


def read_range(anchor):
    """The start and length of an archive (ticks), and the date of its start (ns since 1970)."""
    found = re.search(r"Global Offset: (\d+), Length: (\d+), Date: (\S+ \S+)\.(\d{9})",
                      print_archive(anchor, "-G"))
    date = datetime.datetime.fromisoformat(found[3] + "+00:00")
    return int(found[1]), int(found[2]), int(date.timestamp()) * 10**9 + int(found[4])


class Clock:
    """A clock that is a straight line in true time, and counts ticks."""

    def __init__(self, offset_ns, ppm, resolution):
        self.offset_ns, self.ppm, self.resolution = offset_ns, ppm, resolution

    def ticks(self, true_ns):
        """The reading at a true time after the start of the program."""
        time_ns = START_NS + self.offset_ns + true_ns + round(true_ns * self.ppm * 1e-6)
        return time_ns * self.resolution // 10**9


class Rank:
    """The events of a process, each a time and a function of the writer."""

    def __init__(self):
        self.now, self.events, self.requests = 0, [], 0

    def add(self, time, name, *arguments):
        self.now = max(self.now, time)
        self.events.append((self.now, name, arguments))

    def request(self):
        self.requests += 1
        return self.requests


class Program:
    """Hosts with ranks that exchange messages in a ring, and call collective operations."""

    def __init__(self, hosts=4, per_host=2, num=400, seed=1, resolution=10**9, realtime=True,
                 ppm=20):
        if not lib:
            raise Skip("python3-otf2 is not installed")
        self.rng = random.Random(seed)
        self.num_ranks, self.resolution, self.realtime = hosts * per_host, resolution, realtime
        self.host = [f"node{rank // per_host}" for rank in range(self.num_ranks)]
        self.clocks = {f"node{i}": Clock(self.rng.randint(-5_000_000, 5_000_000),
                                         self.rng.uniform(-ppm, ppm), resolution)
                       for i in range(hosts)}
        self.ranks = [Rank() for _ in range(self.num_ranks)]
        self.length_ns = num * PERIOD_NS
        for rank in self.ranks:
            rank.add(0, "Enter", 0)
        for i in range(num):
            self.iterate(i)
        for rank in self.ranks:
            rank.add(rank.now + 1000, "Leave", 0)

    def latency(self):
        return LATENCY_NS + int(self.rng.expovariate(1 / 10e3))

    def collective(self, operation, comm, root, members, sent=800, received=800):
        """All members take part; a root in the communicator's own numbers, or none."""
        starts = []
        for rank in members:
            self.ranks[rank].add(self.ranks[rank].now + 500, "MpiCollectiveBegin")
            starts.append(self.ranks[rank].now)
        first = lib.COLLECTIVE_OP_BCAST, lib.COLLECTIVE_OP_SCATTER
        last = (lib.COLLECTIVE_OP_REDUCE,)
        for index, rank in enumerate(members):
            if operation in first:
                ready = starts[root]
            elif operation in last and index != root:
                ready = self.ranks[rank].now
            else:
                ready = max(starts)
            self.ranks[rank].add(ready + self.latency(), "MpiCollectiveEnd", operation, comm,
                                 lib.COLLECTIVE_ROOT_NONE if root is None else root, sent,
                                 received)

    def begin_pairs(self):
        """All ranks begin a barrier of their pair, which ends later. Return its requests."""
        requests = []
        for rank in self.ranks:
            requests.append(rank.request())
            rank.add(rank.now + 200, "NonBlockingCollectiveRequest", requests[-1])
        return requests, [rank.now for rank in self.ranks]

    def end_pairs(self, begun):
        requests, starts = begun
        half = self.num_ranks // 2
        for i, rank in enumerate(self.ranks):
            ready = max(starts[i], starts[(i + half) % self.num_ranks])
            rank.add(max(rank.now, ready + self.latency()), "NonBlockingCollectiveComplete",
                     lib.COLLECTIVE_OP_BARRIER, self.pair_comm(i), lib.COLLECTIVE_ROOT_NONE, 0, 0,
                     requests[i])

    def pair_comm(self, rank):
        return PAIR + rank % (self.num_ranks // 2)

    def ring(self, blocking):
        """Each rank sends a message to the next one, and receives one."""
        sent, received = [], []
        for i, rank in enumerate(self.ranks):
            to = (i + 1) % self.num_ranks
            if not blocking:
                received.append(rank.request())
                rank.add(rank.now + 100, "MpiIrecvRequest", received[-1])
            name, more = ("MpiSend", ()) if blocking else ("MpiIsend", (rank.request(),))
            rank.add(rank.now + 100, name, to, WORLD, 7, 4096, *more)
            sent.append(rank.now)
            if not blocking:
                rank.add(rank.now + 10_000, "MpiIsendComplete", *more)
        for i, rank in enumerate(self.ranks):
            of = (i - 1) % self.num_ranks
            done = max(rank.now, sent[of] + self.latency())
            more = () if blocking else (received[i],)
            rank.add(done, "MpiRecv" if blocking else "MpiIrecv", of, WORLD, 7, 4096, *more)

    def iterate(self, i):
        everyone = range(self.num_ranks)
        for rank in self.ranks:
            rank.add(max(rank.now, i * PERIOD_NS) + int(self.rng.expovariate(1 / 200e3)), "Leave", 1)
            rank.add(rank.now + 100, "Enter", 1)
        begun = self.begin_pairs() if i % 5 == 0 else None
        self.ring(i % 2)
        operations = [(lib.COLLECTIVE_OP_ALLREDUCE, None), (lib.COLLECTIVE_OP_BCAST, 2),
                      (lib.COLLECTIVE_OP_REDUCE, 1), (lib.COLLECTIVE_OP_BARRIER, None)]
        operation, root = operations[i % 4]
        root = None if root is None else root % self.num_ranks
        self.collective(operation, WORLD, root, everyone)
        if begun:
            self.end_pairs(begun)

    # ---- writing -----------------------------------------------------------------

    def write(self, folder, name="traces", offsets=None, **options):
        """Write the archive. @offsets: the clock offsets of each location, a function of the
        location. Return the path of its anchor."""
        self.write_archive(str(folder), name, offsets or (lambda rank: []), **options)
        return folder / f"{name}.otf2"

    def location(self, i, name, threads):
        """The location of an event of rank @i: 100, 101, ..., or for messages 200, 201, ..."""
        return 200 + i if threads and name in ("MpiSend", "MpiIsend", "MpiRecv", "MpiIrecv") else \
            100 + i

    def write_archive(self, folder, name, offsets, local=True, classes=("machine", "node"),
                      threads=False, mapped=False):
        """@threads: a second thread of each rank sends and receives. @mapped: events have other
        identifiers of communicators, as Score-P writes them."""
        archive = lib.Archive_Open(folder, name, lib.FILEMODE_WRITE, 1 << 20, 4 << 20,
                                   lib.SUBSTRATE_POSIX, lib.COMPRESSION_NONE)
        flush = lib.FlushCallbacks(pre_flush=lambda *_: lib.FLUSH, post_flush=None)
        lib.Archive_SetFlushCallbacks(archive, flush, None)
        lib.Archive_SetSerialCollectiveCallbacks(archive)
        lib.Archive_OpenEvtFiles(archive)
        first, last = None, 0
        counts = {}
        for i, rank in enumerate(self.ranks):
            clock = self.clocks[self.host[i]]
            for time, event, arguments in rank.events:
                location, ticks = self.location(i, event, threads), clock.ticks(time)
                first, last = ticks if first is None else min(first, ticks), max(last, ticks)
                writer = lib.Archive_GetEvtWriter(archive, location)
                if mapped and len(arguments) > 3:
                    arguments = (arguments[0], PAIR + self.num_ranks // 2 - 1 - arguments[1],
                                 *arguments[2:])
                getattr(lib, "EvtWriter_" + event)(writer, None, ticks, *arguments)
                counts[location] = counts.get(location, 0) + 1
        for location in counts:
            lib.Archive_CloseEvtWriter(archive, lib.Archive_GetEvtWriter(archive, location))
        lib.Archive_CloseEvtFiles(archive)
        if local:
            self.write_local_definitions(archive, offsets, counts, mapped)
        self.write_definitions(archive, first, last, classes, counts)
        lib.Archive_Close(archive)

    def write_local_definitions(self, archive, offsets, counts, mapped):
        comms = list(range(PAIR + self.num_ranks // 2))
        lib.Archive_OpenDefFiles(archive)
        for location in counts:
            writer = lib.Archive_GetDefWriter(archive, location)
            if mapped:
                table = lib.IdMap_CreateFromUint32Array(len(comms), comms[::-1], False)
                lib.DefWriter_WriteMappingTable(writer, lib.MAPPING_COMM, table)
                lib.IdMap_Free(table)
            for time, offset in offsets(location % 100):
                lib.DefWriter_WriteClockOffset(writer, time, offset, 0.25)
            lib.Archive_CloseDefWriter(archive, writer)
        lib.Archive_CloseDefFiles(archive)

    def start_ticks(self):
        """The globalOffset of the archive."""
        return min(self.clocks[self.host[i]].ticks(0) for i in range(self.num_ranks))

    def write_definitions(self, archive, first, last, classes, counts):
        writer = lib.Archive_GetGlobalDefWriter(archive)
        strings = {}

        def text(value):
            if value not in strings:
                strings[value] = len(strings)
                lib.GlobalDefWriter_WriteString(writer, strings[value], value)
            return strings[value]

        none = lib.UNDEFINED_SYSTEM_TREE_NODE
        lib.GlobalDefWriter_WriteClockProperties(
            writer, self.resolution, first, last - first,
            REALTIME_NS if self.realtime else lib.UNDEFINED_TIMESTAMP)
        text("")
        lib.GlobalDefWriter_WriteSystemTreeNode(writer, 0, text("cluster"), text(classes[0]), none)
        for i, host in enumerate(self.clocks):
            lib.GlobalDefWriter_WriteSystemTreeNode(writer, 1 + 2 * i, text(host),
                                                    text(classes[1]), 0)
            lib.GlobalDefWriter_WriteSystemTreeNode(writer, 2 + 2 * i, text("socket 0"),
                                                    text("socket"), 1 + 2 * i)
        hosts = list(self.clocks)
        for i in range(self.num_ranks):
            lib.GlobalDefWriter_WriteLocationGroup(
                writer, i, text(f"MPI Rank {i}"), lib.LOCATION_GROUP_TYPE_PROCESS,
                2 + 2 * hosts.index(self.host[i]), lib.UNDEFINED_LOCATION_GROUP)
        for location, count in counts.items():
            lib.GlobalDefWriter_WriteLocation(writer, location, text("Master thread"),
                                              lib.LOCATION_TYPE_CPU_THREAD, count, location % 100)
        for i, region in enumerate(["main", "MPI"]):
            lib.GlobalDefWriter_WriteRegion(writer, i, text(region), text(region), 0, 0, 0, 0, 0, 0,
                                            0)
        self.write_communicators(writer, text)

    def write_communicators(self, writer, text):
        half = self.num_ranks // 2
        mpi, none = lib.PARADIGM_MPI, lib.UNDEFINED_COMM

        def group(number, kind, members):
            lib.GlobalDefWriter_WriteGroup(writer, number, text(""), kind, mpi, lib.GROUP_FLAG_NONE,
                                           members)

        def comm(number, name, of):
            lib.GlobalDefWriter_WriteComm(writer, number, text(name), of, none, lib.COMM_FLAG_NONE)

        group(0, lib.GROUP_TYPE_COMM_LOCATIONS, [100 + i for i in range(self.num_ranks)])
        group(1, lib.GROUP_TYPE_COMM_GROUP, list(range(self.num_ranks)))
        group(2, lib.GROUP_TYPE_COMM_SELF, [])
        comm(WORLD, "MPI_COMM_WORLD", 1)
        comm(SELF, "MPI_COMM_SELF", 2)
        for i in range(half):
            group(3 + i, lib.GROUP_TYPE_COMM_GROUP, [i + half, i])
            comm(PAIR + i, "", 3 + i)

    # ---- truth -------------------------------------------------------------------

    def printed(self, ticks):
        """The time (ns) that netsync prints for a number of ticks."""
        if not self.realtime:
            return ticks * 10**9 // self.resolution
        start = self.start_ticks() * 10**9 // self.resolution
        return REALTIME_NS - start + ticks * 10**9 // self.resolution


if __name__ == "__main__":
    new = pathlib.Path(sys.argv[1])
    new.mkdir()
    Program(num=1000, seed=3).write(new)
