# SPDX-License-Identifier: GPL-2.0-only
"""Recordings of two machines whose clocks are steered, and the truth about these clocks. The raw
clocks of both machines are HPETs, which run at the rate of the computer that runs the
machines. Their distance is therefore constant, and is the truth.

Each machine constantly reads its two clocks. The readings also convert the messages to raw
clocks, as if nothing steered the clocks. netsync must be as accurate with the steered clocks as
with the raw clocks.
"""
import bisect
import csv
import subprocess

from compare import INET, TOP, Answer, Truth, check, check_offset, offset_errors

# Interval at which the error is checked.
STEP_NS = 50_000_000
# Readings are 2 ms apart, or more on a busy machine. Do not interpolate across gaps longer than
# this, ns.
MOST_APART_NS = 10_000_000
# Uncertainty of interpolated readings, ns: a reading takes a few us in an emulated machine, and a
# rate may change by 1000 ppm between two readings.
UNSURE_NS = 5000
# Allowed ratio of the error with steering to the error without steering.
WORSE = 1.5
EVENTS = INET + ",netsync_clock"
CHECKS = 7


class Machine:
    """The two clocks of a machine, which are known from the machine's readings."""

    def __init__(self, folder):
        self.truth = Truth(folder)
        with open(folder / "readings", encoding="ascii") as file:
            readings = [[int(word) for word in line.split()[:3]] for line in file]
        windows = sorted(after - before for before, _, after in readings)
        quick = [(before + (after - before) // 2, raw) for before, raw, after in readings
                 if after - before <= 2 * windows[len(windows) // 2]]
        self.times, self.raws = zip(*quick)

    def around(self, time):
        """Return the index of the first reading after a time of CLOCK_MONOTONIC, but at least 1."""
        return min(max(bisect.bisect_right(self.times, time), 1), len(self.times) - 1)

    def knows(self, time):
        i = self.around(time)
        return 0 <= time - self.times[i - 1] <= self.times[i] - self.times[i - 1] <= MOST_APART_NS

    def raw(self, time):
        """Return the time of the raw clock, interpolated between two readings."""
        i = self.around(time)
        begin, end = self.times[i - 1:i + 1]
        raw, raw_end = self.raws[i - 1:i + 1]
        return raw + (time - begin) * (raw_end - raw) // (end - begin)


def traces(share):
    return [share / name / "trace" for name in ("web", "db")]


def export(share):
    """Return the messages between the machines: (from, to, sent, received)."""
    path = share / "messages.csv"
    subprocess.run([TOP / "build/netsync", "export", "--csv", "-m", share / "sync.json",
                    "--force", "-o", path, *traces(share)], check=True)
    with open(path, encoding="utf-8", newline="") as file:
        return [(row["from"], row["to"], int(row["send_ns"]), int(row["recv_ns"]))
                for row in csv.DictReader(file)]


def sync_text(share, name, messages, *options):
    """Run netsync on a text of the same messages."""
    path = share / (name + ".messages")
    with open(path, "w", encoding="ascii") as file:
        file.writelines("%s %s %d %d\n" % message for message in messages)
    return Answer(share / (name + ".json"), "--reference", "db", "--messages", path, *options)


def rms(values):
    return (sum(value * value for value in values) / len(values)) ** 0.5


def most(values):
    return max(abs(value) for value in values)


def text(errors_ns):
    return "%.2f us at most, %.2f us RMS" % (most(errors_ns) / 1000, rms(errors_ns) / 1000)


def check_steering(answer, seconds):
    for host in answer.result["hosts"]:
        steering = host["steering"]
        check(steering["points"] > seconds / 2 and
              steering["max_ppm"] - steering["min_ppm"] > 100,
              "the result tells how %s was steered" % host["name"], steering)


class Judge:
    """A recording, and the truth about it."""

    def __init__(self, share, answer):
        self.web, self.db = (Machine(share / name) for name in ("web", "db"))
        self.machines = {"web": self.web, "db": self.db}
        self.messages = [
            (a, b, sent - self.machines[a].truth.epoch, received - self.machines[b].truth.epoch)
            for a, b, sent, received in export(share)]
        # The times between which each machine exchanges messages and reads its clocks.
        begin, end = {}, {}
        for name, machine in self.machines.items():
            times = [message[2 + (message[1] == name)] for message in self.messages]
            begin[name] = max(machine.times[0], min(times))
            end[name] = min(machine.times[-1], max(times))
        times = range(begin["web"], end["web"], STEP_NS)
        corrected = answer.correct("web", [time + self.web.truth.epoch for time in times])
        self.times = []
        for time, (there, _) in zip(times, corrected):
            there -= self.db.truth.epoch
            if begin["db"] <= there <= end["db"] and self.web.knows(time) and \
                    self.db.knows(there):
                self.times.append(time)
        self.raw = [self.web.raw(time) for time in self.times]
        answer = sync_text(share, "alone", [
            (a, b, self.machines[a].raw(sent), self.machines[b].raw(received))
            for a, b, sent, received in self.messages])
        alone = [time - raw for (time, _), raw in zip(answer.correct("web", self.raw), self.raw)]
        self.distance = sum(alone) // len(alone)
        self.alone = [apart - self.distance for apart in alone]

    def errors(self, answer, web_epoch=0, db_epoch=0):
        """Return two lists: the differences of the raw clocks at times that are equal after
        correction, minus the difference without steering; and the bounds. Both are in ns."""
        corrected = answer.correct("web", [time + web_epoch for time in self.times])
        return [self.db.raw(time - db_epoch) - raw - self.distance
                for (time, _), raw in zip(corrected, self.raw)], \
            [bound for _, bound in corrected]

    def text(self, answer, *epochs):
        return "%s at %d instants, %s; without steering: %s" % (
            text(self.errors(answer, *epochs)[0]), len(self.times),
            answer.hosts()[0]["quality"], text(self.alone))

    def holds(self, answer, *epochs):
        errors, bounds = self.errors(answer, *epochs)
        return len(errors) > 100 and \
            all(host["quality"] == "accurate" for host in answer.result["hosts"]) and \
            all(abs(error) <= bound for error, bound in zip(errors, bounds))

    def is_as_good(self, answer, *epochs):
        errors = self.errors(answer, *epochs)[0]
        return most(errors) <= WORSE * most(self.alone) + UNSURE_NS and \
            rms(errors) <= WORSE * rms(self.alone) + UNSURE_NS


def judge(share, seconds):
    """Report CHECKS results."""
    answer = Answer(share / "sync.json", "--reference", "db", *traces(share))
    if not check(answer.status == 0, "netsync sync succeeds",
                 "exit status %d" % answer.status):
        return
    check_steering(answer, seconds)
    truths = [Truth(share / name) for name in ("web", "db")]
    check_offset("by events: the offset is the one measured independently",
                 offset_errors(answer, answer.hosts()[0], *truths))
    by = Judge(share, answer)
    epochs = [truth.epoch for truth in truths]
    check(by.holds(answer, *epochs) and by.is_as_good(answer, *epochs),
          "by events: accurate, the bound holds, and as good as without steering",
          by.text(answer, *epochs))
    answer = sync_text(share, "logged", by.messages, "--clocks", share / "web/steering",
                       "--clocks", share / "db/steering")
    check_offset("by netsync clock-log: the offset is the one measured independently",
                 offset_errors(answer, answer.hosts()[0], *(
                     Truth(share / name, None) for name in ("web", "db"))))
    check(by.holds(answer), "by netsync clock-log: accurate, and the bound holds",
          by.text(answer))
    print("# if nobody tells: %s" % by.text(sync_text(share, "untold", by.messages)))


def besides(*commands):
    """Return options of selftests/pair/record for commands that run in a machine during the
    recording."""
    commands += ("build/selftests/steer read 600 > /share/$(hostname)/readings",
                 "build/netsync clock-log --clock monotonic > /share/$(hostname)/steering")
    return " ".join("-b '%s'" % command for command in commands)


def prepare():
    """Build chronyd for the guests."""
    subprocess.run(["make", "-s", "-C", TOP / "selftests/rig", "chrony"], check=True)
