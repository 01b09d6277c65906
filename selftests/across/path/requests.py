# SPDX-License-Identifier: GPL-2.0-only
"""The requests of chain.c: their plan, how to record them, the logs of the three machines, and
the path that netsync path must report for each request."""
import collections
import json
import pathlib
import statistics
import subprocess
import sys

TOP = pathlib.Path(__file__).resolve().parents[3]
sys.path[1:1] = [str(TOP / "selftests/pair")]

from compare import check  # noqa: E402

HOSTS = "web", "db", "ctl"
# What each fault adds to the path: host, thread, kind of activity, and the thread that ran instead.
FAULTS = {
    "server": ("web", "chain", "running", None),
    "lock": ("db", "locker", "timer", None),
    "disk": ("db", "chain", "disk", None),
    "network": (None, None, "network", None),
    "preempt": ("ctl", "chain", "preempted", "hog"),
    "timer": ("web", "chain", "timer", None),
}
# Phases in the order of a request. The program chain logs each phase on the host under this name,
# while the named hosts wait. Most of the path must be of the given kind, for at least the given
# time.
PHASES = {
    "client-1": ("ctl", (), "running", 0),
    "web-1": ("web", ("client",), "running", 0),
    "web-sleep": ("web", ("client",), "timer", 5_000_000),
    "db-1": ("db", ("client", "web"), "running", 0),
    "db-read": ("db", ("client", "web"), "disk", 4_000_000),
    "web-2": ("web", ("client",), "running", 0),
    "client-2": ("ctl", (), "running", 0),
}
# The host of each waiting program.
WAITING = {"client": "ctl", "web": "web"}
CLOSE_NS = 100_000


def plan_of(quiet, lengths_us):
    """Return the plan as (fault, microseconds): requests without a fault, then one of
    each length for each fault."""
    return [("none", 0)] * quiet + [(fault, us) for fault in FAULTS for us in lengths_us]


def record(share, plan, *how):
    subprocess.run(["rm", "-rf", share], check=True)
    share.mkdir(parents=True)
    (share / "plan").write_text("".join("%s %d\n" % one for one in plan))
    node = " ".join(["selftests/across/path/node", *how])
    run = subprocess.run([TOP / "selftests/rig/trio", "-c", "hpet", "-t", "900", share,
                          *[node] * 3], check=False)
    return check(run.returncode == 0, "three machines were recorded",
                 "exit status %d" % run.returncode)


def netsync(*arguments):
    run = subprocess.run([TOP / "build/netsync", *map(str, arguments)], check=False,
                         capture_output=True, text=True)
    print("# %s" % run.stderr.strip().replace("\n", "\n# "))
    return run


class Requests:
    """A recording, and the critical path of its client."""

    def __init__(self, share, result, traces, epochs=None):
        self.epochs = epochs or {}
        self.plan = [(fault, int(us)) for fault, us in
                     map(str.split, (share / "plan").read_text().splitlines())]
        self.run = netsync("path", "--thread", "ctl:chain", "-m", result, "--json", *traces)
        self.pieces = json.loads(self.run.stdout)["pieces"] if not self.run.returncode else []
        self.hosts = {host["name"]: host for host in json.loads(result.read_text())["hosts"]}
        self.logs = collections.defaultdict(dict)
        for host in HOSTS:
            for line in (share / host / "log").read_text().splitlines():
                number, name, begin, end = line.split()
                self.logs[int(number)][name] = (self.corrected(host, int(begin)),
                                                self.corrected(host, int(end)))

    def corrected(self, host, time):
        """
        Convert a time to the reference clock. Logs have monotonic time; LTTng's clock has
        an epoch.
        """
        time += self.epochs.get(host, 0)
        for segment in self.hosts[host]["segments"]:
            if time < segment["to_ns"]:
                break
        return (time + segment["offset_ns"] +
                round((segment["rate"] - 1) * (time - segment["from_ns"])))

    def between(self, begin, end):
        """Return the pieces of the path between these times, each with its share."""
        for piece in self.pieces:
            lasts = min(piece["end_ns"], end) - max(piece["begin_ns"], begin)
            if lasts > 0:
                yield piece, lasts

    def of(self, number):
        """Return the times of a request by (host, thread, kind, other thread), and the sum of
        their bounds."""
        times, bound = collections.Counter(), 0
        for piece, lasts in self.between(*self.logs[number][self.plan[number][0]]):
            other = piece["kind"] == "preempted" and piece["other"]
            times[piece["host"], piece["name"], piece["kind"],
                  other["name"] if other else None] += lasts
            bound += piece.get("bound_ns") or 0
        return times, bound

    def phase(self, number, name):
        """Return two times: how long the path is at other places during a phase, and how much
        shorter the expected kind is than its known minimum. The second time is negative if
        the kind is long enough."""
        host, waiting, kind, least = PHASES[name]
        log = self.logs[number]
        began, end = log[name]
        # Count the phase and its minimum duration only from the time at which all other threads
        # wait for it.
        begin = max([began, *(log[who + "-wait"][0] for who in waiting)])
        if begin >= end:
            return 0, 0
        there, of_kind, awake = 0, 0, 0
        for piece, lasts in self.between(begin, end):
            if (piece["host"], piece["name"]) == (host, "chain"):
                there += lasts
                of_kind += lasts * (piece["kind"] == kind)
        for who in waiting:
            # The log reports that the thread waits a little before it really does.
            late = log.get(who + "-awake", (begin, begin))[1]
            awake += sum(lasts for piece, lasts in self.between(begin, min(late, end))
                         if (piece["host"], piece["name"], piece["kind"]) ==
                         (WAITING[who], "chain", "running"))
        return end - begin - there - awake, least - (begin - began) - awake - of_kind


def check_known(requests):
    found = [requests.of(number)[0] for number in range(len(requests.plan))]
    unknown = sum(lasts for times in found for key, lasts in times.items()
                  if key[2] == "unknown")
    check(not unknown, "all of it is known", "%d ns are not" % unknown)


def check_phases(requests, quiet):
    """Compare the path with the logs of the requests without a fault."""
    for name in PHASES:
        errors = [requests.phase(number, name) for number in range(quiet)]
        bounds = [requests.of(number)[1] for number in range(quiet)]
        far = [(number, error) for number, error in enumerate(errors)
               if max(error) > CLOSE_NS + bounds[number]]
        check(not far, "%s: the path has it at the right time, within 100 us and the bound" % name,
              "%d of %d; by %d to %d us, its kind short of by %d us at most, bounds %d to "
              "%d us; far: %s" % (
                  quiet - len(far), quiet, min(e[0] for e in errors) // 1000,
                  max(e[0] for e in errors) // 1000, max(e[1] for e in errors) // 1000,
                  min(bounds) // 1000, max(bounds) // 1000, far[:5]))


def name_fault(usual, times):
    """Return the place whose time has grown most compared with the usual request."""
    more = {key: times[key] - usual[key] for key in times}
    network = sum(lasts for key, lasts in more.items() if key[2] == "network")
    best = max(more, key=more.get)
    if best[2] == "network" or network > more[best]:
        return "network", network
    for fault, key in FAULTS.items():
        if best == key:
            return fault, more[best]
    return str(best), more[best]


def check_faults(requests, quiet):
    found = [requests.of(number) for number in range(len(requests.plan))]
    keys = {key for times, _ in found[:quiet] for key in times}
    usual = collections.Counter({
        key: int(statistics.median(times[key] for times, _ in found[:quiet])) for key in keys})
    right, all_ = collections.Counter(), collections.Counter()
    for number, (fault, us) in list(enumerate(requests.plan))[quiet:]:
        times, bound = found[number]
        name, more = name_fault(usual, times)
        good = name == fault
        # Faults shorter than the bound cannot be recognized.
        open_ = not good and bound > us * 1000 / 10
        right[fault] += good or open_
        all_[fault] += 1
        if not good:
            print("# request %d: %s of %d us is called %s (%d us more, bound %d us)%s" % (
                number, fault, us, name, more // 1000, bound // 1000,
                ", which is open" if open_ else ""))
    for fault in FAULTS:
        check(right[fault] == all_[fault], "%s: the cause of slow requests is named" % fault,
              "%d of %d" % (right[fault], all_[fault]))
