# SPDX-License-Identifier: GPL-2.0-only
"""Run netsync live in guests, and compare its output with the truth and with the result of
netsync sync."""
import collections
import json
import pathlib
import subprocess
import sys

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "selftests/pair"))

from compare import Answer, Truth, check, finish

OUT = TOP / "build/selftests/field"

# One line of the output: its time on web's clock, the smallest possible error of its offset (ns),
# its bound (ns) and the skew.
Error = collections.namedtuple("Error", "at error bound skew_ppm")


def clean(share):
    subprocess.run(["rm", "-rf", share], check=True)
    share.mkdir(parents=True)


def record(share, options, web, db):
    """Record in two guests. Return whether both succeeded."""
    run = subprocess.run([TOP / "selftests/rig/pair", "-c", "hpet", *options, share,
                          "selftests/field/live " + web,
                          "selftests/field/live " + db], check=False)
    if not check(run.returncode == 0, "both machines recorded",
                 "exit status %d" % run.returncode):
        finish()


class Lines:
    """The lines of the output that report on web, relative to db."""

    def __init__(self, share):
        self.share = share
        with open(share / "live.lines", encoding="utf-8") as file:
            self.lines = [json.loads(line) for line in file]
        self.truth, self.truth_ref = (
            Truth(share / name, next((share / "stored" / name).glob("*/kernel")))
            for name in ("web", "db"))

    def errors(self):
        """Return the errors of all lines for times at which the truth is known."""
        found = []
        for line in self.lines:
            hosts = {host["name"]: host for host in line["hosts"]}
            if len(hosts) < 2 or hosts["web"]["offset_ns"] is None or \
                    hosts["web"]["bound_ns"] is None or line["reference"] != "db":
                continue
            at = hosts["web"]["at_ns"]
            # The truth is known only for the times at which it was measured.
            for sent, machine, received in self.truth.samples:
                if not at - 600_000_000 < sent <= received < at:
                    continue
                ref = self.truth_ref.at(machine)
                if ref is None:
                    continue
                skew = hosts["web"]["skew_ppm"]
                mine = [t + hosts["web"]["offset_ns"] + (t - at) * skew / 1e6
                        for t in (sent, received)]
                error = abs(mine[0] + mine[1] - sum(ref)) / 2
                unsure = (mine[1] - mine[0] + ref[1] - ref[0]) / 2
                found.append(Error(at, max(0, error - unsure), hosts["web"]["bound_ns"],
                                   skew))
                break
        return found

    def changes(self):
        """
        Return when the rate of web was changed (on web's clock), and by how many ppm web
        has run fast since then.
        """
        with open(self.share / "web/rates", encoding="ascii") as file:
            return [(after + self.truth.epoch, ppm)
                    for _, after, ppm in map(json.loads, file)]


def without_paths(result):
    for host in result["hosts"]:
        for trace in host["traces"]:
            del trace["path"]
    return result


def check_same(share):
    """Check that the last result equals the result of netsync sync to the last digit."""
    answer = Answer(share / "sync.json", share / "stored")
    live = json.loads((share / "live.json").read_text(encoding="utf-8"))
    check(answer.status == 0 and without_paths(live) == without_paths(answer.result),
          "the last result is that of netsync sync on the stored traces",
          "%s: %s packets, %s matched; sync: %s, %s" % (
              [(host["name"], host["packets"]) for host in live["hosts"]],
              live["stats"]["packets"], live["stats"]["matched"],
              answer.result["stats"]["packets"], answer.result["stats"]["matched"]))
