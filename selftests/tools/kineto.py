# SPDX-License-Identifier: GPL-2.0-only
"""Traces of a simulated cluster, as PyTorch's profiler Kineto writes them, and the true clocks.

As a program, writes the traces of the tutorial to a new folder."""
import gzip
import json
import pathlib
import random
import sys

from ktap import Run, check

# Kineto counts us from a time of its own (libkineto/src/ChromeTraceBaseTime.h).
BASE_NS = 1711929600000000000
START_NS = 30_000_000 * 10**9
STEP = 100  # collectives in a step of the program


class Clock:
    """A clock that is a straight line in true time."""

    def __init__(self, offset_ns, ppm):
        self.offset_ns, self.ppm = offset_ns, ppm

    def at(self, true_ns):
        """The reading (ns since 1970) at a true time after the start."""
        return BASE_NS + START_NS + self.offset_ns + true_ns + round(true_ns * self.ppm * 1e-6)


def us(time_ns):
    """A number of us with three decimals, as Kineto prints it."""
    return f"{time_ns // 1000}.{time_ns % 1000:03d}"


def metadata(rank, ranks):
    return {"schemaVersion": 1,
            "deviceProperties": [{"id": 0, "name": "NVIDIA H100", "totalGlobalMem": 1 << 36}],
            "distributedInfo": {"backend": "nccl", "rank": rank, "world_size": ranks,
                                "pg_count": 1, "nccl_version": "2.27.5"}}


def span(category, name, start, end, args):
    return (f'  {{\n    "ph": "X", "cat": "{category}", "name": "{name}", "pid": 0, "tid": 7,\n'
            f'    "ts": {us(start - BASE_NS)}, "dur": {us(end - start)},\n'
            f'    "args": {json.dumps(args)}\n  }}')


def collective(rank, number, start, end, args):
    """The operation that launches a collective, and the collective's kernel."""
    launch = span("cpu_op", "record_param_comms", start - 60_000, start - 40_000,
                  {"External id": number, **args})
    kernel = span("kernel", "ncclDevKernel_AllReduce_Sum_f32_RING_LL", start, end,
                  {"External id": number, "device": rank, "stream": 40, **args})
    return [launch, kernel]


def arguments(rank, group, **more):
    return {"Collective name": "allreduce", "In msg nelems": 1048576, "Out msg nelems": 1048576,
            "Group size": len(group), "dtype": "Float", "In split size": "[]",
            "Out split size": "[]", "Process Group Name": "0",
            "Process Group Description": "default_pg", "Process Group Ranks": str(group),
            "Rank": rank, **more}


def document(head, events, end=None):
    """The text of a file; the base of its times follows the events."""
    head = json.dumps(head, indent=2)[:-2]
    tail = end if end is not None else (
        '\n  ],\n  "traceName": "/tmp/trace.json",\n  "displayTimeUnit": "ms",\n'
        f'  "baseTimeNanoseconds": {BASE_NS}\n}}\n')
    return head + ',\n  "traceEvents": [\n' + ",\n".join(events) + tail


def steps(clock, times):
    """The annotations of steps; each contains STEP operations of the CPU."""
    for i in range(0, len(times), STEP):
        last = times[min(i + STEP, len(times)) - 1]
        yield span("user_annotation", f"ProfilerStep#{7 + i // STEP}",
                   clock.at(times[i]) - 80_000, clock.at(last) - 35_000, {})


class Cluster:
    """A number of hosts with a number of ranks each, and all-reduces of all ranks."""

    def __init__(self, hosts=4, per_host=2, num=600, seed=1, late=None, late_ns=8000, slow=None):
        """
        Kernels of the host @late end later than the others' by @late_ns. The rank @slow starts
        300 us after the others in most collectives.
        """
        rng = random.Random(seed)
        self.ranks = hosts * per_host
        self.host = [f"node{rank // per_host}" for rank in range(self.ranks)]
        self.clocks = {f"node{i}": Clock(rng.randint(-5_000_000, 5_000_000), rng.uniform(-20, 20))
                       for i in range(hosts)}
        self.length_ns = num * 5_000_000
        self.spans = [[] for _ in range(self.ranks)]
        self.last = []  # who started last, in true time, and how much later than the second
        for i in range(num):
            starts = [i * 5_000_000 + int(rng.expovariate(1 / 400e3)) for _ in range(self.ranks)]
            if slow is not None and rng.random() < 0.8:
                starts[slow] = max(starts) + 300_000
            order = sorted(starts)
            self.last.append((starts.index(order[-1]), order[-1] - order[-2]))
            end = order[-1] + 35_000
            for rank, start in enumerate(starts):
                later = late_ns if self.host[rank] == late else 0
                self.spans[rank].append((start + rng.randint(-500, 500),
                                         end + int(rng.expovariate(1 / 10e3)) + later))

    def events(self, rank, sequence=True, skip=0, **more):
        """The events of a rank without the first @skip collectives, unsorted as in real files."""
        clock, group = self.clocks[self.host[rank]], list(range(self.ranks))
        events = []
        for i, (start, end) in enumerate(self.spans[rank]):
            args = arguments(rank, group, **({"Seq": i} if sequence else {}), **more)
            if i >= skip:
                events += collective(rank, 1000 + i, clock.at(start), clock.at(end), args)
        events += steps(clock, [start for start, _ in self.spans[rank]])
        random.Random(rank).shuffle(events)
        return events

    def name(self, rank):
        """The name that tensorboard_trace_handler() gives to the file."""
        return f"{self.host[rank]}_{100 + rank}.1712195495{rank:03d}.pt.trace.json"

    def write(self, folder, packed=False, **options):
        """Write all files. Return their paths."""
        paths = []
        for rank in range(self.ranks):
            text = document(metadata(rank, self.ranks), self.events(rank, **options)).encode()
            path = folder / (self.name(rank) + (".gz" if packed else ""))
            path.write_bytes(gzip.compress(text, 1, mtime=0) if packed else text)
            paths.append(path)
        return paths


def errors(folder, result, cluster, *arguments, unknown=False):
    """Return (error, bound) in ns for each host but the reference, at ten times. If @unknown, times
    without a bound are left out."""
    model = folder / "sync.json"
    model.write_text(json.dumps(result))
    reference = cluster.clocks[result["reference"]]
    found = []
    for host, clock in cluster.clocks.items():
        if host == result["reference"]:
            continue
        times = [cluster.length_ns * i // 11 for i in range(1, 11)]
        done = Run("convert", "-m", model, *arguments, host,
                   *(clock.at(t) for t in times)).expect(0)
        lines = [line.split() for line in done.out.splitlines()]
        found += [(int(line[0]) - reference.at(t), int(line[1]))
                  for line, t in zip(lines, times) if not unknown or line[1] != "unknown"]
    return found


def check_errors(found, most_ns, most_bound_ns):
    check(found and all(abs(error) <= bound for error, bound in found), found)
    check(max(abs(error) for error, _ in found) <= most_ns, found)
    check(max(bound for _, bound in found) <= most_bound_ns, found)


if __name__ == "__main__":
    new = pathlib.Path(sys.argv[1])
    new.mkdir()
    Cluster(num=400, seed=3, slow=5).write(new, packed=True)
