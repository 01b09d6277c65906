# SPDX-License-Identifier: GPL-2.0-only
"""Check a recording of a two-node cluster whose nodes contend for a lock. States must show which
node held the lock at each time."""
import csv
import io
import pathlib
import shutil
import subprocess
import sys

TOP = pathlib.Path(__file__).resolve().parents[3]
sys.path[1:1] = [str(TOP / "selftests/pair")]

from compare import check  # noqa: E402

HOSTS = "web", "db"
CHECKS = 7


def netsync(*arguments):
    run = subprocess.run([TOP / "build/netsync", *map(str, arguments)], check=False,
                         capture_output=True, text=True)
    print("# %s" % run.stderr.strip().replace("\n", "\n# "))
    return run


def ctf_of_perf(share):
    """Return what perf exported: a CTF trace of each host, and their packets."""
    traces = []
    for host in HOSTS:
        traces.append(share / "perf" / host)
        shutil.rmtree(traces[-1], ignore_errors=True)
        traces[-1].parent.mkdir(exist_ok=True)
        subprocess.run(["perf", "data", "convert", "--to-ctf", traces[-1],
                        "-i", share / host / "perf.data"], check=True)
    # perf's CTF contains no addresses.
    packets = share / "perf/packets"
    with open(packets, "wb") as out:
        subprocess.run([TOP / "examples/perf-packets",
                        *(f"{host}={share / host / 'perf.data'}" for host in HOSTS)],
                       check=True, stdout=out)
    return traces, ("--packets", packets)


def check_states(share, result, locks, files=None, packets=()):
    """Check states against the log. Each node has taken the lock @locks times. Together, the
    files contain all events except packets, which are in @packets."""
    # Least number of times that a node waits for the other one. With 520 locks, far more than 100
    # waits occur.
    least = locks * 100 // 520
    files = files or [share / host / "trace.dat" for host in HOSTS]
    run = netsync("sync", "--format", "json", "--force", "-o", result, *(packets or files))
    check(run.returncode == 0, "the DLM's own messages synchronize the nodes", "")
    run = netsync("states", "--states", "dlm", "-m", result, "--csv", *files)
    check(run.returncode == 0, "there are states", "")
    spans = [s for s in csv.DictReader(io.StringIO(run.stdout)) if s["object"] == "res0"]
    check({s["shared"].split()[-1] for s in spans} == {"res0"} and
          len({s["shared"] for s in spans}) == 1, "a resource is one thing on both nodes",
          str({s["shared"] for s in spans}))

    # The resource's value counts the holders, and so reveals the true order of the holders.
    held = []
    for host in HOSTS:
        counts = [int(n) for n in (share / host / "counts").read_text().split()]
        mine, waits = ([s for s in spans if s["host"] == host and s["state"] == state]
                       for state in ("EX", "wait EX"))
        held += zip(counts, mine, waits)
        check(len(waits) == len(mine) == len(counts) == locks,
              f"{host}: states show each time it held the lock",
              "%d of %d" % (len(mine), len(counts)))
    held.sort(key=lambda one: one[0])
    wrong, gaps, asked, told = 0, [], 0, 0
    for (_, one, _), (_, other, wait) in zip(held, held[1:]):
        gap = int(other["begin_ref_ns"]) - int(one["end_ref_ns"])
        bound = int(one["end_bound_ns"]) + int(other["begin_bound_ns"])
        if one["host"] == other["host"]:
            wrong += gap < 0
            continue
        wrong += gap < -bound
        gaps.append(gap)
        # The node asked for the lock while the other one held it.
        if int(wait["begin_ref_ns"]) < int(one["end_ref_ns"]) - bound:
            asked += 1
            told += wait["waited_for"] == one["host"]
    changes = len(gaps)
    check(asked > least and told == asked,
          "states show who waited for whom, as the lock's value proves",
          "%d of %d" % (told, asked))
    run = netsync("states", "--states", "dlm", "-m", result, *files)
    print("# " + run.stdout.replace("\n", "\n# "))
    check(not wrong and changes > least and ": 0 of them overlapped with another" in run.stdout,
          "never both hold it, and the order is that of the lock's value",
          "%d of %d wrong, %d changes of hands, gaps from %d ns on" % (
              wrong, len(held), changes, min(gaps, default=0)))
