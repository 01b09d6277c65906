# SPDX-License-Identifier: GPL-2.0-only
"""
Simulated worlds by class. A class determines what happens to the clocks, or how messages
travel. Each class exists for a LAN, with minimum delays of 10 to 100 us and little jitter,
and for a WAN, for example "migrate/lan". The class and the seed of a world determine
everything else.
"""
import zlib

import numpy as np

from world import (EPOCH, MOST_STEERING, SECOND, Clock, World, answered, oscillator, queueing,
                   slews, traffic)

# Limits of a clock whose oscillator is not steered, ppm: the frequency error of the
# oscillator, its change by a migration, and its change by a rate step. Two such clocks
# stay within the 500 ppm that netsync.h assumes for two clocks.
MOST_OSCILLATOR, MOST_MIGRATION, MOST_RATE_STEP = 80, 60, 110
MOST_SLEW = 500             # ppm, for a clock that is steered; the limit that netsync.h assumes
# A step may be consistent with all messages. If this many messages in each direction follow before
# the next step, they reveal the step, as documented in netsync.h.
SHOW = 80
READING = 30                # ns, error of a clock reading in a log
SLEEP = .1024               # s, between beacons that announce packets to a Wi-Fi station
DELAYED = .04               # s, delay of TCP acknowledgments


def migrate(clock, rng, seconds):
    """A virtual machine migrates to a host with another rate, whose clock is stepped."""
    begin, length = rng.uniform(.1, .85) * seconds, rng.choice([.02, .3, 2]) * rng.random()
    clock.gaps.append((begin, begin + length))
    clock.steps.append((begin, rng.choice([0, -length]) * SECOND
                        + rng.choice([1e5, 1e7, 1e8]) * rng.normal()))
    yield begin, seconds + 2, np.clip(rng.normal(0, 30), -MOST_MIGRATION, MOST_MIGRATION)


def set_often(clock, rng, seconds):
    """A user steps the clock."""
    clock.steps += [(rng.uniform(.02, .98) * seconds,
                     rng.choice([3e9, 1e8, 1e6, 1e5, 1e4, 1e3]) * rng.normal())
                    for _ in range(rng.integers(1, 6))]
    yield from ()


def twice(clock, rng, seconds):
    """The clock is stepped away and back."""
    begin, by = rng.uniform(.1, .8) * seconds, rng.choice([6, .5, .01, 1e-4]) * rng.normal()
    wait = rng.choice([0, .1, 2, 20]) * rng.random()
    clock.steps += [(begin, by * SECOND), (begin + wait, -by * SECOND * rng.choice([1, 1, .9]))]
    yield from ()


def step_rate(_, rng, seconds):
    """The clock's rate changes suddenly and permanently."""
    by = rng.choice([1, 5, 50, 100]) * rng.normal()
    yield (rng.uniform(.1, .9) * seconds, seconds + 2,
           np.clip(by, -MOST_RATE_STEP, MOST_RATE_STEP))


def smear(_, rng, seconds):
    """A leap second is smeared over a day."""
    begin = rng.uniform(-.5, .5) * seconds
    yield max(begin, 0), begin + rng.uniform(.3, 1) * seconds, 1e6 / 86400 * rng.choice([-1, 1])


def steer(how):
    """Return an event in which a daemon steers the clock in the given way."""
    def events(_, rng, seconds):
        for begin, end, ppm in slews(rng, seconds, how):
            yield begin, end, np.clip(ppm, -MOST_SLEW, MOST_SLEW)
    return events


def pause(clock, rng, seconds):
    """A virtual machine is paused, and its agent corrects the clock."""
    for _ in range(rng.integers(1, 3)):
        begin, length = rng.uniform(.1, .8) * seconds, rng.choice([.05, .5, 3, 10]) * rng.random()
        wait = rng.choice([0, .1, 2, 20]) * rng.random()
        clock.gaps.append((begin, begin + length))
        clock.steps += [(begin, -length * SECOND), (begin + length + wait, length * SECOND)]
    yield from ()


def pause_slew(clock, rng, seconds):
    """A virtual machine is paused, and a daemon slews the clock until it is correct."""
    begin, length = rng.uniform(.1, .8) * seconds, rng.choice([.001, .01, .1, 1]) * rng.random()
    end = begin + length + rng.choice([0, 1, 10]) * rng.random()
    clock.gaps.append((begin, begin + length))
    clock.steps.append((begin, -length * SECOND))
    yield end, end + length * 1e6 / MOST_SLEW, MOST_SLEW


def slew_little(_, rng, seconds):
    """
    Each slew of the clock is smaller than the minimum delay. All slews have one direction, or
    both directions occur.
    """
    for _ in range(rng.integers(1, 30)):
        begin, ppm = rng.uniform(0, seconds), rng.choice([20, 100, 480]) * rng.choice([-1, 1])
        length = rng.choice([1, 5, 20, 50]) * rng.random() / abs(ppm)
        yield begin, begin + length, ppm
        if rng.random() < .5:
            yield begin + length, begin + 2 * length, -ppm


# Events that happen to clocks. Each function adds steps and gaps to the clock, and yields its rate
# changes.
EVENTS = {"migrate": migrate, "set": set_often, "twice": twice, "rate": step_rate,
          "smear": smear, "pause": pause, "pause-slew": pause_slew, "slew-little": slew_little,
          **{how: steer(how) for how in ("adjtime", "ntpd", "chrony")}}
STEERED = "smear", "pause-slew", "slew-little", "adjtime", "ntpd", "chrony"  # one at a time
DAEMONS = "ntpd", "chrony"  # daemons change the rate constantly; the result must show this
SLOW = "smear", "ntpd"      # slower than the other classes

# Classes by situation. In half of these worlds, nothing happens to clocks; in "free", nothing ever
# does.
SITUATIONS = ("free", "logs", "short", "oneway", "wifi", "routes", "delack", "bursts")
CLASSES = [f"{name}/{net}" for name in (*EVENTS, "mixed", "stacked", *SITUATIONS)
           for net in ("wan", "lan")]


def pick_events(rng, name, host, odd):
    """Choose the events of a host's clock in a world of this class."""
    if name == "stacked" and host == odd:
        some = [str(one) for one in rng.permutation([*EVENTS])[:rng.integers(2, 5)]]
        steered = [one for one in some if one in STEERED]
        return [one for one in some if one not in steered[1:]]
    if name == "mixed":
        return [str(rng.choice([*EVENTS]))] if rng.random() < .8 else []
    if host != odd and rng.random() < .7:
        return []
    if name in EVENTS:
        return [name]
    if name == "logs":
        return [str(rng.choice(["set", "set", "twice", "adjtime", "chrony"]))]
    return [str(rng.choice([*EVENTS]))] if name != "free" and rng.random() < .5 else []


class EventfulClock(Clock):
    """A clock with named events."""

    def __init__(self, rng, seconds, kind, events):
        # pylint: disable=super-init-not-called
        self.steps, self.gaps, self.events, changes = [], [], events, []
        self.jumps = set()      # times at which the clock's rate or offset changes suddenly, s
        for event in events:
            some = list(EVENTS[event](self, rng, seconds))
            changes += some
            if event not in DAEMONS:
                self.jumps |= {when for begin, end, _ in some for when in (begin, end)}
        self.jumps |= {when for when, _ in self.steps}
        most = 1e3 * MOST_OSCILLATOR
        error = np.clip(oscillator(rng, seconds, kind), -most, most)
        ahead = rng.normal(0, 1e7)
        self.integrate(error, [], 0, seconds)
        self.raw = self.at, self.ahead
        self.integrate(error, changes, ahead, seconds)

    def is_ambiguous(self, at):
        """
        Return which instants have a time that the clock shows twice, or are within a
        millisecond of a step.
        """
        found = np.zeros(len(at), bool)
        for when, by in self.steps:
            found |= abs(at - when) <= max(-by, 0) / SECOND * 1.01 + .001
        for begin, end in self.gaps:
            found |= (at >= begin) & (at <= end)
        return found

    def read(self, rng, seconds):
        """
        Return a log: times (s), and the readings (ns) of the raw clock, which is never
        steered.
        """
        at = np.arange(rng.uniform(0, .1), seconds, rng.choice([.1, .1, 1]))
        raw = at * SECOND + np.interp(at, *self.raw) + rng.uniform(-READING, READING, len(at))
        return at, raw.astype(np.int64)


class NamedWorld(World):
    """A world of a class, determined by its seed."""

    def __init__(self, name, seed):
        # pylint: disable=super-init-not-called
        self.kind, self.net = name.split("/")
        self.rng = rng = np.random.default_rng([seed, zlib.crc32(name.encode())])
        hosts = int(rng.choice([2, 2, 3, 4]))
        odd = int(rng.integers(hosts))
        events = [pick_events(rng, self.kind, host, odd) for host in range(hosts)]
        slow = any(event in SLOW for some in events for event in some)
        self.seconds = float(rng.choice([1, 3, 10, 30] if self.kind == "short" else
                                        [300, 900, 3600] if slow else [60, 300, 900]))
        self.clocks = [EventfulClock(rng, self.seconds, str(rng.choice(["line", "line", "walk",
                                                                        "temperature"])), some)
                       for some in events]
        self.is_free = not any(events)
        talk = self.talk(rng, hosts)
        self.resolution = 1 if self.kind == "logs" else int(rng.choice([1, 1, 1, 1000]))
        if self.kind == "logs":
            self.logs = [(host, *clock.read(rng, self.seconds))
                         for host, clock in enumerate(self.clocks)
                         if host == odd or rng.random() < .7]
        happened = ", ".join("+".join(some) or "free" for some in events)
        self.name = (f"{name}, {hosts} hosts ({happened}), {self.seconds:.0f} s, "
                     f"{len(self.at)} messages, {talk}, resolution {self.resolution} ns, "
                     f"{len(self.logs)} logs")

    def is_unseen(self, host, at):
        """
        In addition to the instants between two messages, return instants next to a step that
        is consistent with all messages. This applies if too few messages of a direction lie
        between the step and the next or the previous one.
        """
        found = super().is_unseen(host, at)
        marks = np.array([0, *sorted(when for when in self.clocks[host].jumps
                                     if 0 < when < self.seconds), self.seconds])
        few = np.zeros(len(marks) - 1, bool)
        for when, who in (self.at, self.source), (self.at + self.delay / SECOND, self.sink):
            few |= np.histogram(when[who == host], marks)[0] < SHOW
        for i in np.flatnonzero(few):
            begin, end = marks[max(i - 1, 0)], marks[min(i + 2, len(few))]
            if self.fits_line(host, begin, end, (marks[i] + marks[i + 1]) / 2):
                found |= (at >= begin) & (at <= end)
        return found

    def fits_line(self, host, begin, end, middle):
        """
        Return whether a linear clock satisfies all messages of each of the host's pairs in
        this interval.
        """
        sent, received = self.shown()
        for other in set(range(len(self.clocks))) - {host}:
            # Ignore events that happen to the other clock at the same time.
            jumps = np.array([0, *sorted(self.clocks[other].jumps), self.seconds])
            within = ((self.at >= max(begin, jumps[jumps <= middle].max())) &
                      (self.at + self.delay / SECOND <= min(end, jumps[jumps >= middle].min())))
            there = within & (self.source == host) & (self.sink == other)
            back = within & (self.source == other) & (self.sink == host)
            if there.any() and back.any() and not fits_line(
                    sent[there], received[there] - sent[there],
                    received[back], sent[back] - received[back]):
                return False
        return True

    def is_rejected(self, result, at):
        """
        Return the instants around messages that the result calls inverted. The bound of a
        host with quality "approximate" holds only if these messages are wrong, but no message
        in these worlds is wrong.
        """
        sent, received = self.shown()
        times = []
        for stamps, who in (sent, self.source), (received, self.sink):
            time = np.full(len(stamps), np.nan)
            for name, host in result.hosts.items():
                own = who == int(name[1:])
                if host.corrected is not None and own.any():
                    time[own] = host.corrected.convert_many(
                        stamps[own], extrapolate=True)[0] - EPOCH
            times.append(time)
        found = np.zeros(len(at), bool)
        early = times[1] < times[0] - 1
        for i in np.flatnonzero(early):
            same = self.at[(self.source == self.source[i]) & (self.sink == self.sink[i]) & ~early]
            found |= ((at > same[same < self.at[i]].max(initial=0)) &
                      (at < same[same > self.at[i]].min(initial=self.seconds)
                       + self.delay.max() / SECOND))
        return found

    def talk(self, rng, hosts):
        """Send messages, and return them with their delays."""
        sending = ("bursts" if self.kind == "bursts" else
                   str(rng.choice(["even", "even", "bursts", "silence"])))
        num = int(rng.choice([60, 500, 3000, 20000]))
        at = traffic(rng, self.seconds, num, sending)
        source = rng.integers(0, hosts, len(at))
        sink = (source + rng.integers(1, hosts, len(at))) % hosts
        if self.kind == "oneway":
            source, sink = np.minimum(source, sink), np.maximum(source, sink)
        delays = Delays(rng, self, hosts)
        delay = delays.of(at, source, sink)
        requests = self.kind == "delack" or self.kind != "oneway" and rng.random() < .5
        if requests:
            think = rng.exponential(3e-4, len(at))
            if self.kind == "delack":
                # Every second segment is acknowledged immediately.
                think += np.where(rng.random(len(at)) < .5, DELAYED, 0)
            answer = at + delay / SECOND + think
            at, delay, source, sink = answered(at, delay, source, sink, answer,
                                               delays.of(answer, sink, source))
        self.deliver(at, delay, source, sink)
        return f"{'requests' if requests else 'any'}, {sending}, {delays.name}"


def fits_line(above_at, above, below_at, below):
    """
    Return whether some line has no point of @above below it and no point of @below above it.
    The line must be no steeper than steered clocks. The slack of the best offset is a concave
    function of the slope.
    """
    def slack(slope):
        return ((above - slope * (above_at - EPOCH)).min()
                - (below - slope * (below_at - EPOCH)).max())

    least, most = -MOST_STEERING, MOST_STEERING
    for _ in range(100):
        third = (most - least) / 3
        if slack(least + third) < slack(most - third):
            least += third
        else:
            most -= third
    return slack(least) >= 0


class Delays:
    """Delays of messages between hosts: a minimum for each ordered pair, and an excess."""

    def __init__(self, rng, world, hosts):
        self.rng, self.seconds, self.kind = rng, world.seconds, world.kind
        least, most, scales = ((1e4, 1e5, [5e2, 2e3, 1e4]) if world.net == "lan" else
                               (5e5, 5e7, [3e4, 3e5, 3e6]))
        self.least = np.exp(rng.uniform(np.log(least), np.log(most), (hosts, hosts)))
        self.least = np.maximum(self.least, self.least.T) * (
            1 + rng.choice([0, 0, .1, .5]) * rng.random((hosts, hosts)))
        self.scale = rng.choice(scales)
        self.queueing = str(rng.choice(["exponential", "exponential", "gamma", "pareto", "busy"]))
        self.routes = []
        if world.kind == "routes":
            self.routes = [(rng.uniform(.05, .95) * world.seconds, rng.integers(hosts),
                            rng.uniform(.4, 2)) for _ in range(rng.integers(1, 6))]
        self.name = f"{self.queueing} {self.scale / 1e3:.1f} us"

    def of(self, at, source, sink):
        """Return the delays of messages, ns."""
        least = self.least[source, sink]
        for when, host, factor in self.routes:
            # The route to one host changes, but not the route back.
            least = np.where((at > when) & (sink == host), least * factor, least)
        delay = least + queueing(self.rng, at, self.seconds, self.queueing, self.scale)
        if self.kind == "wifi":
            delay += self.wait_for_air(at)
        return delay

    def wait_for_air(self, at):
        """
        Return delays by retransmissions, which have a heavy tail, and by a station that
        sleeps until the next beacon.
        """
        again = np.where(self.rng.random(len(at)) < .3, self.rng.pareto(1.2, len(at)) * 5e5, 0)
        asleep = (np.sin(at / 3.7) > .3) & (self.rng.random(len(at)) < .8)
        return (np.minimum(again, 2 * SECOND)
                + np.where(asleep, (SLEEP - at % SLEEP) * SECOND, 0))
