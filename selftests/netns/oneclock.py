# SPDX-License-Identifier: GPL-2.0-only
"""Common code for recordings of network namespaces of one kernel. The namespaces share one
clock, so the truth is known at every instant."""
import events
from compare import check

INSTANTS = 2000
COLUMNS = "host dir time_ns proto saddr daddr sport dport id len"


def instants(host):
    """Return instants in the whole trace, and the instants at which the correction's slope may
    change."""
    first, last = host["first_ns"], host["last_ns"]
    times = [first + (last - first) * i // INSTANTS for i in range(INSTANTS + 1)]
    bends = [s[end] for s in host["segments"] for end in ("from_ns", "to_ns")]
    return times + bends[::len(bends) // INSTANTS + 1]


def check_answer(name, answer, names, part, least):
    """Report five checks: the hosts have these names, each pair has exchanged more than @least
    messages, and the error is below 1/@part of the smallest delay."""
    if not check(answer.status == 0, name + ": netsync sync succeeds",
                 "exit status %d" % answer.status):
        return
    found = sorted(host["name"] for host in answer.result["hosts"])
    pairs = answer.result["pairs"]
    fewest = min((min(pair["messages"]) for pair in pairs), default=0)
    check(found == sorted(names) and len(pairs) == len(names) * (len(names) - 1) // 2 and
          fewest > least, name + ": every namespace talks with every other one",
          "%s, %d pairs, at least %d messages" % (", ".join(found), len(pairs), fewest))
    check(not any(pair["inversions"]["after"] for pair in pairs),
          name + ": no inversion is left", "")
    # An offset error shortens delays in one direction and lengthens them in the other.
    delay = min(sum(pair["min_delay_ns"]) / 2 for pair in pairs)
    worst, inside, widest = 0, 0, 0
    total = 0
    for host in answer.result["hosts"]:
        times = instants(host)
        for t, (mine, bound) in zip(times, answer.correct(host["name"], times)):
            worst = max(worst, abs(mine - t))
            if host["name"] != answer.result["reference"]:
                total += 1
                inside += bound is not None and abs(mine - t) <= bound
                widest = max(widest, bound or 0)
    check(inside == total, name + ": the truth is inside the bound",
          "at %d of %d instants; the widest %d ns" % (inside, total, widest))
    check(worst < delay / part,
          "%s: the error is under 1/%d of the smallest delay" % (name, part),
          "%d ns, smallest delay %d ns" % (worst, delay))


def write_udp(trace, devices, path):
    """Write packet events as text. The device's name gives the host's name."""
    with open(path, "w", encoding="ascii") as out:
        print(COLUMNS, file=out)
        for e in events.read(trace):
            if e.proto == 17 and e.device in devices:
                print(e.device, "out" if e.out else "in", e.time, "udp", e.saddr,
                      e.daddr, e.sport, e.dport, e.id, e.len, file=out)
