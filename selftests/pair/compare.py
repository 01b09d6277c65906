# SPDX-License-Identifier: GPL-2.0-only
"""Common code for tests of recordings: KTAP output, and comparison of netsync's results with the
truth."""
import json
import os
import pathlib
import re
import subprocess
import sys
from fractions import Fraction

import events

TOP = pathlib.Path(__file__).resolve().parents[2]
NETSYNC = os.environ.get("NETSYNC", TOP / "build/netsync")
OUT = TOP / "build/selftests/pair"
NET = "net_dev_queue,net_if_receive_skb"
INET = "inet_sock_local_in,inet_sock_local_out"
UDP = "inet_udp_local_in,inet_udp_local_out"
PING = "inet_icmp_local_in,inet_icmp_local_out"
WIRE = "inet_dev_receive,inet_dev_xmit"
# Maximum error of the rate that is fitted to a minute's messages.
RATE_PPM = 4
# Minimum share of matched events among the data-carrying events that can be matched.
MATCHED = 0.99

checks = []


def plan(number):
    print("TAP version 13")
    print("1..%d" % number, flush=True)


def check(good, name, detail):
    checks.append(bool(good))
    print("%sok %d - %s" % ("" if good else "not ", len(checks), name))
    print("# %s" % detail, flush=True)
    return good


def skip(number, name, why):
    for _ in range(number):
        checks.append(True)
        print("ok %d - %s # SKIP %s" % (len(checks), name, why), flush=True)


def finish():
    sys.exit(0 if all(checks) else 1)


def ppm(rate):
    return float((rate - 1) * 1_000_000)


def record(name, share, options, web, db):
    """Run a command in each of two guests. Return whether both succeeded."""
    share.mkdir(parents=True, exist_ok=True)
    run = subprocess.run([TOP / "selftests/rig/pair", *options, share,
                          "selftests/pair/record " + web,
                          "selftests/pair/record " + db], check=False)
    return check(run.returncode == 0, name + ": both machines recorded",
                 "exit status %d" % run.returncode)


def trace_epoch(trace):
    """
    Return the difference between the trace's clock, which is monotonic, and the time since
    1970. The trace contains this difference.
    """
    text = subprocess.run(
        ["babeltrace2", "--output-format=ctf-metadata", trace],
        check=True, stdout=subprocess.PIPE, encoding="utf-8").stdout
    clock = text[text.index("\nclock {"):]
    return int(re.search(r"\boffset = (\d+);", clock).group(1))


class Truth:
    """The true time of a guest's clock, in the time base of a trace: that of LTTng, or (None)
    monotonic time as in ftrace's clock mono."""

    def __init__(self, folder, trace="trace"):
        self.epoch = trace_epoch(folder / trace) if trace else 0
        with open(folder / "truth.json", encoding="ascii") as file:
            self.samples = [[sent + self.epoch, host, received + self.epoch]
                            for sent, host, received in json.load(file)]

    def at(self, host_ns):
        """Return the earliest and the latest reading of the clock that is possible at this time."""
        for before, after in zip(self.samples, self.samples[1:]):
            if before[1] <= host_ns <= after[1]:
                part = Fraction(host_ns - before[1], after[1] - before[1])
                return [before[i] + part * (after[i] - before[i]) for i in (0, 2)]
        return None


class Answer:
    """The output of netsync sync for some traces, which is stored in a file."""

    def __init__(self, path, *arguments):
        self.path = path
        run = subprocess.run(
            [NETSYNC, "sync", "--output", path, "--force",
             *arguments], check=False)
        self.status = run.returncode
        self.result = json.loads(path.read_text(encoding="utf-8")) \
            if self.status != 1 else {}

    def hosts(self):
        """Return all hosts except the reference."""
        return [host for host in self.result["hosts"]
                if host["name"] != self.result["reference"]]

    def correct(self, host, times):
        """Convert times of a host to the reference clock, each with its bound (or None)."""
        run = subprocess.run(
            [NETSYNC, "convert", "-m", self.path, host,
             *map(str, times)], check=True, stdout=subprocess.PIPE, encoding="ascii")
        words = [line.split() for line in run.stdout.splitlines()]
        return [(int(word[0]), None if word[1] == "unknown" else int(word[1]))
                for word in words]

    def rate(self, host, begin, end):
        """Return the mean rate between two times of a host."""
        times = self.correct(host, [begin, end])
        return Fraction(times[1][0] - times[0][0], end - begin)


class Error:
    """The distance between a corrected time and the measured time, ns."""

    def __init__(self, mine, ref):
        self.ns = abs(mine[0][0] + mine[1][0] - sum(ref)) / 2
        # Both guests exchanged time with the machine that runs them. Its time lies between the
        # guest's times of sending and receiving, so that the truth is an interval.
        self.unsure = (mine[1][0] - mine[0][0] + ref[1] - ref[0]) / 2
        bounds = [m[1] for m in mine]
        self.bound = None if None in bounds else max(bounds)
        self.allowed = -1 if None in bounds else self.unsure + self.bound


def offset_errors(answer, host, truth, truth_ref, usable=lambda host_ns: True):
    """Return the error at each time at which the truth was measured."""
    samples, refs = [], []
    for sample in truth.samples:
        ref = truth_ref.at(sample[1])
        if ref is not None and usable(sample[1]) and \
                host["first_ns"] <= sample[0] and sample[2] <= host["last_ns"]:
            samples.append(sample)
            refs.append(ref)
    mine = answer.correct(host["name"], [t for sample in samples
                                 for t in (sample[0], sample[2])])
    return [Error(mine[2 * i:2 * i + 2], ref) for i, ref in enumerate(refs)]


def check_offset(name, errors):
    if not check(errors and all(e.ns <= e.allowed for e in errors), name,
                 "%d times" % len(errors)) and not errors:
        return
    best = min(errors, key=lambda e: e.unsure)
    worst = max(errors, key=lambda e: e.ns - e.unsure)
    for word, e in ("best", best), ("worst", worst):
        print("# %s measured: %.1f us away, %.1f of it open, bound %s us" % (
            word, e.ns / 1000, e.unsure / 1000,
            "?" if e.bound is None else "%.1f" % (e.bound / 1000)))


def overlap(one, others):
    """Count the data-carrying events that share a byte with some other event. All events are of
    one flow and direction, and their sequence numbers wrap around.
    """
    if not one or not others:
        return 0
    base = others[0].seq
    ranges = sorted(((e.seq - base + 2**31) % 2**32, e.len) for e in others)
    merged = []
    for begin, length in ranges:
        if merged and begin <= merged[-1][1]:
            merged[-1][1] = max(merged[-1][1], begin + length)
        else:
            merged.append([begin, begin + length])
    count = 0
    for e in one:
        begin = (e.seq - base + 2**31) % 2**32
        count += any(begin < b[1] and b[0] < begin + e.len for b in merged)
    return count


def check_bulk(name, traces, answer, size):
    """What share of data-carrying events is matched, of those that can be?

    An event that carries data can be matched if the other machine recorded at least
    one of its bytes in the same flow and the opposite direction. These events are
    counted here, from the traces alone. netsync counts all events together; here, each
    event that it did not match counts as a data-carrying one, even if it had no data.
    """
    flows = [{}, {}]
    data = 0
    for trace, flow in zip(traces, flows):
        for event in events.read(trace):
            if event.proto != 6 or not event.len:
                continue
            data += 1
            key = event.saddr, event.daddr, event.sport, event.dport
            flow.setdefault((*key, event.out), []).append(event)
    can = 0
    for mine, other in (flows, flows[::-1]):
        for key, carried in mine.items():
            can += overlap(carried, other.get((*key[:4], not key[4]), []))
    stats = answer.result["stats"]
    missed = max(0, stats["ambiguous"] + stats["unmatched"] - (data - can))
    check(can >= size / 65536 and missed <= (1 - MATCHED) * can,
          name + ": matchable events with data are matched",
          "%d carry data, %d can be matched, %d missed at most; %d events, "
          "%d ambiguous, %d unmatched" % (
              data, can, missed, stats["packets"], stats["ambiguous"],
              stats["unmatched"]))
