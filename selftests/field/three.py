# SPDX-License-Identifier: GPL-2.0-only
"""Run netsync record on three machines. web and db are traced, and ctl controls them by ssh."""
import json
import pathlib
import shutil
import subprocess
import sys

sys.path.insert(1, str(pathlib.Path(__file__).resolve().parents[1] / "pair"))
from compare import TOP, Answer, check

OUT = TOP / "build/selftests/field/three"


class Recorded(Answer):
    """The messages of netsync record, its folder, and what is left on the machines."""

    def __init__(self, name):
        folder = OUT / name
        self.path = folder / "sync.json"
        self.status = int(folder.with_suffix(".status").read_text())
        self.said = folder.with_suffix(".err").read_text()
        self.left = folder.with_suffix(".left").read_text()
        self.entries = sorted(path.name for path in folder.glob("*"))
        self.result = json.loads(self.path.read_text()) if self.path.exists() else {}

    def is_accurate(self):
        """Return whether both machines exchanged messages and the result is accurate."""
        pairs = self.result.get("pairs")
        return pairs and pairs[0]["quality"] == "accurate" and \
            pairs[0]["inversions"]["after"] == 0


def run_guests(cases):
    """
    Run cases, which are lines for selftests/field/control. Return whether all machines
    succeeded.
    """
    shutil.rmtree(OUT, ignore_errors=True)
    OUT.mkdir(parents=True)
    for key in "key", "host-key":
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", OUT / key],
                       check=True)
    run = subprocess.run([TOP / "selftests/rig/trio", "-c", "hpet", "-t", "1800", OUT,
                          "selftests/field/traced", "selftests/field/traced",
                          "selftests/field/control " +
                          " ".join("'%s'" % case for case in cases)], check=False)
    return check(run.returncode == 0, "three machines ran", "exit status %d" % run.returncode)
