# SPDX-License-Identifier: GPL-2.0-only
"""Judge a result by the true clocks of its world: intervals, bounds of corrected times, orders and
quality."""
import heapq
import math
import random
import statistics
import time
from typing import NamedTuple

import netsync
from netsync import Quality, Sequence
from traffic import min_delays
from worlds import find_outside, has_rate_steps

# True clocks and corrected times are each rounded to a nanosecond.
ROUNDING_NS = 2
RANDOM_INSTANTS = 60
ORDERS = 40


class Fault(NamedTuple):
    what: str           # interval, bound, order, quality
    host: str
    by_ns: int
    text: str
    repeated: bool      # the host's clock showed this time twice


class Verdict(NamedTuple):
    faults: list
    outside: set        # reasons why the stated limits do not hold
    has_rate_steps: bool
    hosts: int          # without the reference
    claimed: int
    bounds: list        # median bounds of claimed hosts, ns
    best: list          # the least that such a bound can be, ns
    solve_s: float


def host_name(number):
    return f"host{number}"


def solve_world(world):
    sync = netsync.Synchronization()
    for host in range(len(world.clocks)):
        sync.add_host(host_name(host))
    for r in world.readings:
        sync.push_clock(netsync.ClockPoint(r.host, r.time_ns, r.raw_ns, r.within_ns, r.rate,
                                           r.was_set, r.number))
    for stamp in world.stamps:
        sync.push_message(*stamp)
    return sync.solve(**world.plan.options)


def spans_of(world):
    """Return each host's first and last event, in true time."""
    spans = {}
    for m in world.messages:
        for host, at in ((m.sender, m.sent), (m.receiver, m.received)):
            first, last = spans.get(host, (at, at))
            spans[host] = min(first, at), max(last, at)
    return spans


def pick_instants(world, host, span, rng):
    """Return true times at which the host's clock is judged: any, near messages, at steps and
    rate changes of all clocks, at both ends, and a little beyond."""
    first, last = span
    times = [rng.randint(first, last) for _ in range(RANDOM_INSTANTS)]
    beyond = min((last - first) // 20 + 1, 10**9)
    times += [first, last, first - 1, last + 1, first - beyond, last + beyond]
    mine = [m.sent if m.sender == host else m.received
            for m in world.messages if host in (m.sender, m.receiver) and not m.is_wrong]
    for at in rng.sample(mine, min(len(mine), 30)):
        times += [at, at - 1, at + 1, at + rng.choice((-1, 1)) * rng.randrange(1, 10**7)]
    for clock in world.clocks:
        events = [at for at, _ in clock.steps] + [at for dark in clock.dark for at in dark]
        changes = clock.starts
        events += rng.sample(changes, min(len(changes), 10))
        for at in events[:60]:
            times += [at - 10**6, at - 1, at, at + 1, at + 10**6, at + 10**8]
    clock = world.clocks[host]
    return sorted({t for t in times if first - beyond <= t <= last + beyond and
                   not clock.is_dark(t)})


def judge_instant(world, host, clock, reference, at, faults):
    """Compare what the result claims about one instant with the truth. Return the corrected time,
    or None if there is none."""
    shown, true = world.clocks[host].value(at), reference.value(at)
    try:
        interval = clock.interval(shown, extrapolate=True)
        converted = clock.convert(shown, extrapolate=True)
    except netsync.Error as error:
        faults.append(Fault("quality", host_name(host), 0, f"clock {shown}: {error}", False))
        return None
    slack = ROUNDING_NS + max((abs(d) for of in world.plan.processors.values() for d in of),
                              default=0) * 2
    repeated = any(a <= shown <= b for a, b in world.clocks[host].repeated())
    by = max(interval.lo_ns - true if interval.lo_ns is not None else 0,
             true - interval.hi_ns if interval.hi_ns is not None else 0)
    place = f"at {(at - world.start) / 1e9:.9f} s, clock {shown}"
    if by > slack:
        faults.append(Fault("interval", host_name(host), by, f"{place}: true {true}, claimed "
                            f"{interval.lo_ns} to {interval.hi_ns}", repeated))
    if converted.bound_ns is not None:
        over = abs(converted.time_ns - true) - converted.bound_ns
        if over > slack and by <= slack:
            faults.append(Fault("bound", host_name(host), over, f"{place}: true {true}, corrected "
                                f"{converted.time_ns} +- {converted.bound_ns}", repeated))
        if (interval.lo_ns is None) or (interval.hi_ns is None):
            faults.append(Fault("quality", host_name(host), 0,
                                f"{place}: a bound, but an interval without end", repeated))
    return converted


def judge_host(world, result, host, span, rng, faults):
    """Judge the intervals, bounds and quality of a host."""
    info = result.hosts[host_name(host)]
    reference = world.clocks[int(result.reference[len("host"):])]
    if info.corrected is None:
        if info.quality not in (Quality.ABSENT, Quality.APPROXIMATE, Quality.INCOMPLETE):
            faults.append(Fault("quality", info.name, 0, "accurate without a clock", False))
        return
    for at in pick_instants(world, host, span, rng):
        if reference.is_asleep(at):
            continue
        converted = judge_instant(world, host, info.corrected, reference, at, faults)
        shown = world.clocks[host].value(at)
        largest = info.bound_max_ns
        if converted and largest is not None and info.first_ns <= shown <= info.last_ns and (
                converted.bound_ns is None or converted.bound_ns > largest):
            faults.append(Fault("quality", info.name, 0, f"clock {shown}: bound "
                                f"{converted.bound_ns}, maximum {largest}", False))
    known = info.bound_median_ns is not None
    if known and info.quality in (Quality.ABSENT, Quality.INCOMPLETE) or \
            not known and info.quality == Quality.ACCURATE:
        faults.append(Fault("quality", info.name, 0,
                            f"{info.quality.name.lower()}, median bound {info.bound_median_ns}",
                            False))


def judge_orders(world, result, spans, rng, faults):
    """Compare orders that the result calls certain with the truth."""
    usable = [h for h in spans if result.hosts[host_name(h)].corrected is not None]
    reference = int(result.reference[len("host"):])
    if len(usable) < 2 or any(change < 0 for at, change in world.clocks[reference].steps
                              if at in world.clocks[reference].set_times):
        return
    for _ in range(ORDERS):
        a, b = rng.sample(usable, 2)
        info_a, info_b = (result.hosts[host_name(h)] for h in (a, b))
        at = rng.randint(*spans[a])
        near = (info_a.bound_median_ns or 1000) + (info_b.bound_median_ns or 1000)
        other = at + int(rng.uniform(-2.5, 2.5) * near) + rng.randint(-3, 3)
        if world.clocks[a].is_dark(at) or world.clocks[b].is_dark(other) or \
                not spans[b][0] <= other <= spans[b][1]:
            continue
        shown = [world.clocks[a].value(at), world.clocks[b].value(other)]
        order = info_a.corrected.order(shown[0], info_b.corrected, shown[1], extrapolate=True)
        if order == Sequence.BEFORE and at > other + ROUNDING_NS or \
                order == Sequence.AFTER and at < other - ROUNDING_NS:
            repeated = any(low <= t <= high for h, t in zip((a, b), shown)
                           for low, high in world.clocks[h].repeated())
            faults.append(Fault("order", f"{host_name(a)}, {host_name(b)}", abs(at - other),
                                f"{shown[0]} and {shown[1]} are {order.name.lower()}, true times "
                                f"differ by {at - other}", repeated))


def shortest_paths(edges, origin):
    found, queue = {}, [(0.0, origin)]
    while queue:
        far, host = heapq.heappop(queue)
        if host not in found:
            found[host] = far
            for other, length in edges.get(host, {}).items():
                heapq.heappush(queue, (far + length, other))
    return found


def best_bounds(world, reference):
    """Return the least possible bound of each host: half of the least delays from the reference
    to the host, and from there to the reference, each along the best path."""
    there, back = {}, {}
    for (a, b), delay in min_delays(world.messages).items():
        there.setdefault(a, {})[b] = delay
        back.setdefault(b, {})[a] = delay
    to_host, from_host = (shortest_paths(edges, reference) for edges in (there, back))
    return {host: (to_host[host] + from_host[host]) / 2 for host in to_host if host in from_host}


def judge_world(world, sabotage=None):
    """Synchronize a world, and judge the result. @sabotage, for tests, changes the result."""
    begun = time.process_time()
    result = solve_world(world)
    solve_s = time.process_time() - begun
    if sabotage:
        result = sabotage(result)
    rng, faults, spans = random.Random(f"judge {world.seed}"), [], spans_of(world)
    reference = int(result.reference[len("host"):])
    claimed, bounds, best = 0, [], []
    floor = best_bounds(world, reference)
    for host in range(len(world.clocks)):
        if host == reference or host not in spans:
            continue
        judge_host(world, result, host, spans[host], rng, faults)
        bound = result.hosts[host_name(host)].bound_median_ns
        if bound is not None:
            claimed += 1
            bounds.append(bound)
            best.append(floor.get(host, math.nan) or math.nan)
    judge_orders(world, result, spans, rng, faults)
    return Verdict(faults, find_outside(world), has_rate_steps(world),
                   len(world.clocks) - 1, claimed, bounds, best, solve_s), result


def median_of(values):
    values = [value for value in values if not math.isnan(value)]
    return statistics.median(values) if values else math.nan
