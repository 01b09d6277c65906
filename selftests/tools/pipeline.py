# SPDX-License-Identifier: GPL-2.0-only
"""Run pipelines of babeltrace2 with the netsync plug-in."""
import json
import os
import pathlib
import re
import subprocess

from ktap import NETSYNC, check

BUILD = pathlib.Path(NETSYNC).parent
PLUGINS = f"{BUILD}/plugins:{BUILD}/selftests/plugins"
START = 1_700_000_000_000_000_000


def environment():
    return dict(os.environ, BABELTRACE_PLUGIN_PATH=PLUGINS)


def run(*arguments, cwd=None):
    return subprocess.run(
        ["babeltrace2", *map(str, arguments)], capture_output=True, cwd=cwd,
        text=True, check=False, env=environment())


def lines(*arguments, **options):
    done = run(*arguments, **options)
    check(done.returncode == 0, arguments, done.stderr)
    return done.stdout.splitlines()


def result(folder, offset=-1000, rate=1.0, **hosts):
    """Write a result that has hosts with uuids, all of which have the same correction."""
    file = folder / "sync.json"
    file.write_text(json.dumps({
        "format": "netsync-1", "reference": "ref", "hosts": [{
            "name": name,
            "clock": {"host_name": name, "name": None, "uuid": uuid,
                      "epoch_ns": 1_700_000_000_500_000_000},
            "segments": [{"from_ns": START, "to_ns": START + 10**9,
                          "offset_ns": offset, "rate": rate, "bound_ns": 5}],
            "bound_ns": {"knots": [], "growth_ppm": []}}
            for name, uuid in hosts.items()]}))
    return file


def details(text, rate):
    """Return all details except the clock, with the expected new times."""
    def shifted(match):
        ns = int(match[1].replace(",", ""))
        return str(ns if rate is None else
                   ns - 1000 + round((ns - START) * rate))

    text = re.sub(r" +Default clock class:\n(?: {6}.*\n)*", "", text)
    return re.sub(r"[\d,]+ cycles, ([\d,]+) ns from origin", shifted, text)


def alike(before, after):
    """Compare lists of lines, and report the first difference."""
    check(before == after, *next(((a, b) for a, b in zip(before, after) if a != b),
                                 (len(before), len(after))))
