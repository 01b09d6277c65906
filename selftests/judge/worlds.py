# SPDX-License-Identifier: GPL-2.0-only
"""A plan of a simulated cluster, and the world that is built from it: true clocks, messages in
true time, and the stamps and clock readings that a recorder would have."""
import bisect
import random
from typing import NamedTuple

import clocks
from clocks import PPM, SECOND, HostClock, log_uniform
from traffic import Link, lose_messages, mismatch, repeat_messages, send_messages

EPOCH = 1_700_000_000 * SECOND


class Reading(NamedTuple):
    """What netsync_push_clock() takes, and the true time of the reading."""
    host: int
    time_ns: int
    raw_ns: int
    within_ns: int
    rate: float
    was_set: bool
    number: int
    true_ns: int


class Plan:
    """What a world will be. Classes change it; build_world() carries it out."""

    def __init__(self, rng):
        self.rng = rng
        self.seconds = log_uniform(rng, 10, 600)
        self.num_hosts = rng.choice((2, 2, 2, 2, 3, 3, 4, rng.randint(2, 7)))
        self.shape = rng.choice(("star", "chain", "ring", "random"))
        self.total = log_uniform(rng, 200, 10000)       # messages
        self.oscillators = {}       # host: function that makes its oscillator
        self.behaviours = {}        # host: functions that make its behaviours
        self.offsets = {}           # host: ns at the start
        self.resolution = {}        # host: ns
        self.logs = {}              # host: function that makes its readings
        self.processors = {}        # host: differences of its processors' clocks, ns
        self.change_links = []      # functions that change links
        self.change_clocks = []     # functions that plan behaviours once the links are known
        self.loss, self.outages, self.late = 0.0, 0, False
        self.repeats = 0.0
        self.wrong = None           # (share, is_near)
        self.options = {}
        self.outside = set()        # reasons why the stated limits do not hold
        self.notes = []             # parameters to print

    def some_hosts(self):
        """Return one host, some or all of them."""
        count = self.rng.choice((1, 1, self.rng.randint(1, self.num_hosts), self.num_hosts))
        return self.rng.sample(range(self.num_hosts), count)

    def behave(self, host, function, *parameters, **named):
        """Let a behaviour of clocks.py act on a host's clock."""
        self.notes.append(f"host {host}: {function.__name__} {parameters} {named or ''}")
        self.behaviours.setdefault(host, []).append(
            lambda clock, start, end: function(self.rng, clock, start, end, *parameters, **named))


class World(NamedTuple):
    name: str
    seed: int
    plan: Plan
    clocks: list
    links: list
    messages: list          # true times: Sent
    stamps: list            # (sender, receiver, send_ns, recv_ns)
    readings: list
    start: int
    end: int


def pick_pairs(rng, num, shape):
    """Return the pairs of hosts that exchange messages."""
    hosts = list(range(num))
    rng.shuffle(hosts)
    if num == 2:
        return [(0, 1)]
    if shape == "star":
        return [(hosts[0], other) for other in hosts[1:]]
    pairs = list(zip(hosts, hosts[1:]))
    if shape == "ring":
        pairs.append((hosts[-1], hosts[0]))
    elif shape == "random":
        pairs = [(hosts[rng.randrange(i)], hosts[i]) for i in range(1, num)]
        for _ in range(rng.randint(0, num)):
            a, b = rng.sample(hosts, 2)
            if (a, b) not in pairs and (b, a) not in pairs:
                pairs.append((a, b))
    return pairs


def make_clock(plan, host, start, end, pad):
    rng = plan.rng
    make = plan.oscillators.get(host) or rng.choice((clocks.steady, clocks.quartz, clocks.walking))
    offset = plan.offsets.get(host)
    if offset is None:
        offset = rng.choice((-1, 1)) * log_uniform(rng, 1e3, rng.choice((1e8, 1e13)))
    oscillator = make(rng, start, end)
    clock = HostClock(oscillator, start - pad, start - pad + int(offset))
    clock.advance(start)
    clock.raw.advance(start)
    clocks.run_behaviours(clock, [behaviour(clock, start, end)
                                  for behaviour in plan.behaviours.get(host, ())], start, end)
    return clock


def stamp(plan, clock, host, time):
    """Return what a recorder on a host writes for an event at a true time."""
    shown = clock.value(time)
    if host in plan.processors:
        shown += plan.rng.choice(plan.processors[host])
    resolution = plan.resolution.get(host, 1)
    return shown // resolution * resolution


def record_messages(plan, links, hosts, start, end):
    """Return the messages that were recorded, in true time."""
    rng, span = plan.rng, end - start
    messages = send_messages(rng, links, hosts, start, end)
    outages = []
    for _ in range(plan.outages):
        begin = rng.randrange(start, end)
        outages.append((rng.randrange(len(hosts)), begin,
                        begin + int(span * rng.uniform(0.01, 0.2))))
    late = {host: start + int(span * rng.uniform(0, 0.3))
            for host in range(len(hosts))} if plan.late else {}
    messages = lose_messages(rng, messages, plan.loss, outages, late)
    if plan.wrong:
        messages = mismatch(rng, messages, *plan.wrong)
    if plan.repeats:
        messages = repeat_messages(rng, messages, plan.repeats)
    return [m for m in messages if not hosts[m.receiver].is_dark(m.received)]


def build_world(name, seed, prepare):
    """Carry out the plan that the functions in @prepare make of a seed."""
    rng = random.Random(f"{name}/{seed}")
    plan = Plan(rng)
    for function in prepare:
        function(plan)
    start = EPOCH + rng.randrange(10**6 * SECOND)
    end = start + int(plan.seconds * SECOND)
    pairs = pick_pairs(rng, plan.num_hosts, plan.shape)
    num = max(24, plan.total / len(pairs)) if plan.total >= 200 else plan.total
    links = [Link(rng, pair, num) for pair in pairs]
    for change in plan.change_links:
        change(links, start, end)
    for change in plan.change_clocks:
        change(links, start, end)
    pad = 2 * (end - start) + 10 * SECOND
    hosts = [make_clock(plan, i, start, end, pad) for i in range(plan.num_hosts)]
    messages = record_messages(plan, links, hosts, start, end)
    rng.shuffle(messages)
    stamps = [(m.sender, m.receiver, stamp(plan, hosts[m.sender], m.sender, m.sent),
               stamp(plan, hosts[m.receiver], m.receiver, m.received)) for m in messages]
    readings = []
    for host, read in sorted(plan.logs.items()):
        readings += read(host, hosts[host], start, end)
    return World(name, seed, plan, hosts, links, messages, stamps, readings, start, end)


# ---- logs of clocks --------------------------------------------------------------------------

def sample_clock(rng, host, clock, start, end, gaps=()):
    """Return the readings of netsync-clock-log(1): ten per second, without rates. The logger does
    not run in gaps, and reports a step with the next reading."""
    readings, time, last = [], start - SECOND, start - SECOND
    within = int(log_uniform(rng, 20, 2000))
    while time < end + SECOND:
        if not clock.is_dark(time) and not any(a <= time < b for a, b in gaps):
            was_set = any(last < at <= time for at in clock.set_times)
            error = rng.randint(-within, within) // rng.choice((1, 4, 16))
            readings.append(Reading(host, clock.value(time), clock.raw.value(time) + error,
                                    within, 0.0, was_set, 0, time))
            last = time
        time += SECOND // 10 + int(rng.expovariate(1e-5))
    return readings


def trace_clock(rng, host, clock, start, end, lost=0.0):
    """Return the readings of netsync_clock events: at each change of the steering, and once per
    second, with rates and numbers. A share of them is lost."""
    times = {start - SECOND}
    times |= {t for t in clock.steered_times + clock.set_times if start - SECOND < t < end + SECOND}
    times |= set(range(start - SECOND // 2, end + SECOND, SECOND))
    readings, last, number = [], start - SECOND, rng.randrange(1, 10**6)
    for time in sorted(times):
        if clock.is_dark(time):
            continue
        was_set = any(last < at <= time for at in clock.set_times)
        if rng.random() >= lost:
            readings.append(Reading(host, clock.value(time), clock.raw.value(time), 2,
                                    clock.gain(time), was_set, number, time))
            last = time
        number += 1
    return readings


# ---- the stated limits -----------------------------------------------------------------------

# netsync_solve(3): largest difference of two rates, more for a steered clock, and largest drift.
MAX_SKEW = 500 * PPM
MAX_STEERING = 500 * PPM
MAX_DRIFT = 0.1 * PPM / SECOND
# Messages of each direction before and after a step that the delays can hide.
MIN_MESSAGES = 80
# netsync_push_clock(3): longer gaps between readings are treated as unreported.
MAX_READING_GAP = 10 * SECOND
# A smaller change of the rate is not called a step: what the drift limit allows in a second.
SMALL_RATE_STEP = 0.1 * PPM
AFTER_ALL = 1 << 62      # a time after that of any world


def find_outside(world):
    """Return the reasons why the conditions of netsync_solve(3) do not hold in a world, or why
    they leave open whether they do."""
    reasons = set(world.plan.outside)
    for link_number, link in enumerate(world.links):
        pair = [world.clocks[host] for host in link.hosts]
        ranges = [clock.rate_range() for clock in pair]
        steered = sum(len(clock.steered_times) > 1 for clock in pair)
        apart = max(ranges[0][1] - ranges[1][0], ranges[1][1] - ranges[0][0])
        if apart > MAX_SKEW + steered * MAX_STEERING:
            reasons.add("skew")
        if sum(clock.max_drift for clock in pair) * (1 + 1e-9) > MAX_DRIFT:
            reasons.add("drift")
        ways = [[m for m in world.messages if m.link == link_number and m.sender == sender]
                for sender in link.hosts]
        if any(m.is_wrong for way in ways for m in way) and hides_wrong(ways):
            reasons.add("wrong messages near the truth")
        for clock, host in zip(pair, link.hosts):
            steps = find_unreported(world, host, clock)
            if steps:
                reasons |= judge_steps(steps, host, ways)
    return reasons


def find_unreported(world, host, clock):
    """Return the steps of a host's clock that no readings report, sorted: others are not subject
    to the conditions, which apply to the raw clock (netsync_push_clock(3))."""
    times = sorted(r.true_ns for r in world.readings if r.host == host)

    def is_reported(time):
        i = bisect.bisect_left(times, time)
        return time in clock.set_times and 0 < i < len(times) and \
            times[i] - times[i - 1] <= MAX_READING_GAP
    return sorted(step for step in clock.steps if not is_reported(step[0]))


def has_rate_steps(world):
    """Return whether a clock's rate changes at once while messages pass in both directions of a
    link, and no reading reports this. netsync_solve(3) exempts such changes from the drift limit
    only if they are found. In silences, bounds allow for them."""
    for number, link in enumerate(world.links):
        for host in link.hosts:
            if host in world.plan.logs:
                continue
            changes = rate_steps_of(world.clocks[host])
            times = [sorted(m.sent if m.sender == host else m.received for m in world.messages
                            if m.link == number and m.sender == sender) for sender in link.hosts]
            if any(all(is_dense(way, at) for way in times) for at in changes):
                return True
    return False


def rate_steps_of(clock):
    """Return the true times at which the rate of a clock changes at once."""
    return [at for at in clock.steered_times if abs(clock.gain(at) - clock.gain(at - 1)) >
            SMALL_RATE_STEP]


def is_dense(times, at):
    i = bisect.bisect_left(times, at)
    return 0 < i < len(times) and times[i] - times[i - 1] < SECOND


def hides_wrong(ways):
    """Return whether a wrong message of a link is consistent with its right ones, or with clocks
    that are steered as much as the limits allow: it seems to be too quick, but by too little."""
    least = [min((m.received - m.sent for m in way if not m.is_wrong), default=0) for way in ways]
    for way, own in zip(ways, least):
        times = [m.sent for m in way]
        gap = (max(times) - min(times)) / len(times) if times else 0
        slack = sum(least) + 5 * gap * (MAX_SKEW + 2 * MAX_STEERING)
        if any(m.is_wrong and own - slack < m.received - m.sent < own for m in way):
            return True
    return False


def judge_steps(steps, host, ways):
    """Return the reasons for a host's sorted steps (time, change), by the messages of each
    direction of a link."""
    reasons = set()
    right = [[m for m in way if not m.is_wrong] for way in ways]
    least = sum(min((m.received - m.sent for m in way), default=0) for way in right)
    times = [sorted(m.sent if m.sender == host else m.received for m in way) for way in right]
    for i, (time, change) in enumerate(steps):
        before = steps[i - 1][0] if i else 0
        after = steps[i + 1][0] if i + 1 < len(steps) else AFTER_ALL
        for way in times:
            earlier = [t for t in way if t <= time]
            later = [t for t in way if t > time]
            if not way:
                continue
            if not earlier or not later:
                reasons.add("no message beyond a step")
                continue
            if abs(change) <= (MAX_SKEW + 2 * MAX_STEERING) * (later[0] - earlier[-1]):
                reasons.add("step like steering")
            if later[0] > after and change * steps[i + 1][1] < 0:
                reasons.add("stepped away and back")
            if abs(change) < least and min(
                    sum(t > before for t in earlier), sum(t < after for t in later)) < MIN_MESSAGES:
                reasons.add("small step, few messages")
    return reasons

