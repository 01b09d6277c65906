# SPDX-License-Identifier: GPL-2.0-only
"""
Random worlds, each of which is determined by a seed: clocks of hosts, and their readings for
messages.
"""
import dataclasses

import numpy as np

SECOND = 10**9
EPOCH = 1_700_000_000 * SECOND
UNKNOWN = 2**62             # ns; bounds of this size or larger are unknown
INSTANTS = 8000             # number of instants at which results are compared with the truth; chosen
ROUNDING = 2                # ns, error by rounding times to whole ns
MOST_STEERING = 1500e-6     # maximum rate between two clocks: max_skew_ppm, plus adjtime(3) on both

KINDS = "line", "walk", "temperature", "flicker", "all"
STEERED = "chrony", "calm", "ptp", "adjtime", "smear", "set", "suspend"
ODD = ("pause", "migrate", "twice", "set", "adjtime", "chrony", "smear", "rate", "none")
RARE, ODDS, NTPD, NAMED = 1000, 2000, 3000, 4000    # the first seeds of each kind of world


def oscillator(rng, seconds, kind):
    """Return the frequency error of an oscillator in each second, ppb."""
    num = int(seconds) + 2
    error = np.full(num, rng.normal(0, 20e3))
    if kind in ("walk", "all"):
        error += np.cumsum(rng.normal(0, rng.choice([.05, .3, 1.0]), num))
    if kind in ("temperature", "all"):
        period, swing = rng.choice([300, 1200, 5000, 86400]), rng.choice([20, 100, 500])
        error += swing * np.sin(2 * np.pi * (np.arange(num) / period + rng.random()))
    if kind == "flicker":
        # Relaxations have time constants that differ by a factor of ten.
        for tau in 3, 30, 300, 3000:
            keep, value = np.exp(-1 / tau), 0.0
            noise = rng.normal(0, np.sqrt(1 - keep * keep), num) * rng.choice([.3, 2.0])
            for i in range(num):
                value = keep * value + noise[i]
                error[i] += value
    return error


def ntpd_slews(rng, seconds):
    """
    Return the slews of ntpd(8) at a poll interval of 64 s. Each second, ntpd removes a
    1024th of the offset that it measured last, at most 500 ppm. At each poll, it also
    changes the frequency.
    """
    offset = rng.choice([.12, .02, .002, .0002]) * rng.uniform(-1, 1)
    frequency, left, first = rng.normal(0, 2), 0.0, rng.integers(64)
    for at in range(int(seconds) + 1):
        if at % 64 == first:
            left = -offset + rng.normal(0, 1e-4)
            frequency += 1e6 * left * 64 / (4 * 1024 ** 2)
        ppm = np.clip(1e6 * left / 1024, -500, 500) + frequency
        left -= 1e-6 * (ppm - frequency)
        offset += 1e-6 * ppm
        yield at, at + 1, ppm


def slews(rng, seconds, how):
    """Return the rate changes that a daemon makes: from, to (s), ppm."""
    if how == "ntpd":
        yield from ntpd_slews(rng, seconds)
        return
    at = rng.uniform(0, 60)
    while at < seconds:
        if how in ("chrony", "calm"):
            poll = 2.0 ** rng.integers(*((4, 7) if how == "chrony" else (6, 11)))
            ppm, length = ((rng.uniform(20, 100), rng.uniform(.5, 8)) if how == "chrony"
                           else (rng.uniform(.1, 5), rng.uniform(5, min(60, poll))))
            yield at, at + length, ppm * rng.choice([-1, 1])
            yield at, seconds + 2, rng.normal(0, .2 if how == "chrony" else .02)
            at += poll
        elif how == "ptp":
            yield at, at + 1, rng.normal(0, .3)
            at += 1
        else:
            yield at, at + rng.uniform(1, 60), 480 * rng.choice([-1, 1])
            at += rng.uniform(200, 1500)


class Clock:
    """The offset of a clock from true time, ns, as a function of time in seconds."""

    def __init__(self, rng, seconds, kind, how):
        error = oscillator(rng, seconds, kind)
        changes, self.steps, self.gaps = [], [], []
        if how in ("chrony", "calm", "ptp", "adjtime", "ntpd"):
            changes = list(slews(rng, seconds, how))
        elif how == "smear":
            changes = [(seconds * .2, seconds * .8, 1e6 / 86400 * rng.choice([-1, 1]))]
        elif how == "set":
            self.steps = [(rng.uniform(.02, .98) * seconds,
                           rng.choice([3e9, 1e6, 1e4, 1e3]) * rng.normal())
                          for _ in range(rng.integers(1, 6))]
        elif how in ODD:
            self.odd(rng, seconds, how, changes)
        elif how == "suspend":
            begin = rng.uniform(.1, .7) * seconds
            end = begin + rng.uniform(5, .2 * seconds)
            self.gaps, self.steps = [(begin, end)], [(begin, (begin - end) * SECOND)]
        self.integrate(error, changes, rng.normal(0, 1e7), seconds)

    def integrate(self, error, changes, ahead, seconds):
        """
        Tabulate a clock from its initial offset @ahead (ns), its frequency error in each
        second (ppb), and its rate changes: from, to (s), ppm.
        """
        marks = set(range(len(error)))
        for begin, end, _ in changes:
            marks |= {begin, end}
        self.at = np.array(sorted(mark for mark in marks if mark <= seconds + 1))
        rate = error[np.minimum(self.at.astype(int), len(error) - 1)]
        more = np.zeros(len(self.at) + 1)
        for begin, end, ppm in changes:
            more[np.searchsorted(self.at, begin)] += ppm * 1e3
            more[np.searchsorted(self.at, min(end, seconds + 1))] -= ppm * 1e3
        rate = rate + np.cumsum(more[:-1])
        self.ahead = ahead + np.concatenate([[0], np.cumsum(rate[:-1] * np.diff(self.at))])

    def odd(self, rng, seconds, how, changes):
        """Add events on machines that messages may not reveal."""
        begin, length = rng.uniform(.1, .8) * seconds, rng.choice([.05, .5, 3, 10]) * rng.random()
        wait = rng.choice([0, .1, 2, 20]) * rng.random()
        if how == "pause":
            self.gaps = [(begin, begin + length)]
            self.steps = [(begin, -length * SECOND), (begin + length + wait, length * SECOND)]
        elif how == "migrate":
            self.gaps = [(begin, begin + length / 5)]
            self.steps = [(begin, rng.normal(-length / 5, .05) * SECOND)]
            changes.append((begin, seconds + 2, rng.normal(0, 30)))
        elif how == "twice":
            by = rng.choice([6, .5, .01]) * rng.normal() * SECOND
            self.steps = [(begin, by), (begin + wait, -by * rng.choice([1, 1, .9]))]
        elif how == "rate":
            changes.append((begin, seconds + 2, rng.choice([5, 50, 300]) * rng.normal()))

    def __call__(self, at):
        ahead = np.interp(at, self.at, self.ahead)
        for when, by in self.steps:
            ahead = ahead + np.where(at >= when, by, 0.0)
        return ahead.astype(np.int64)

    def is_ambiguous(self, at):
        """Return which instants have a time that the clock shows twice, or are near a step."""
        found = np.zeros(len(at), bool)
        for when, by in self.steps:
            found |= abs(at - when) <= abs(by) / SECOND * 1.01 + .001
        for begin, end in self.gaps:
            found |= (at >= begin - 1) & (at <= end + 1)
        return found


def traffic(rng, seconds, num, kind):
    """Return the send times of messages, s."""
    at = rng.uniform(0, seconds, num)
    if kind == "bursts":
        at = rng.choice(at[:max(4, num // 500)], num) + rng.exponential(.01, num)
    elif kind == "rarer":
        at = seconds * rng.beta(.5, 1.5, num)
    elif kind == "silence":
        begin = rng.uniform(.1, .8) * seconds
        at = at[(at < begin) | (at > begin + rng.uniform(.02, .3) * seconds)]
    return np.sort(at[at < seconds])


def queueing(rng, at, seconds, kind, scale):
    """Return delays beyond the minimum delay, ns."""
    num = len(at)
    if kind == "gamma":
        return rng.gamma(3, scale / 3, num)
    if kind == "pareto":
        return np.minimum(scale * rng.pareto(1.5, num), 5e9)
    delay = rng.exponential(scale, num)
    if kind == "busy":
        begin = rng.uniform(0, .7) * seconds
        busy = (at > begin) & (at < begin + rng.uniform(.05, .3) * seconds)
        delay += np.where(busy, scale * rng.uniform(1, 20), 0)
    return delay


def readings(rng, clock, seconds):
    """
    Return a log of a clock: times (s), and the readings (ns) of a raw clock that is never
    steered.
    """
    at = np.arange(rng.uniform(0, .1), seconds, rng.choice([.1, .1, 1]))
    for begin, end in clock.gaps:
        at = at[(at < begin) | (at > end)]
    return at, (at * SECOND).astype(np.int64)


def answered(at, delay, source, sink, answer, back):
    """Send messages and their responses. Responses are sent at @answer, and take @back."""
    return tuple(np.ravel(np.stack(ends, 1)) for ends in (
        (at, answer), (delay, back), (source, sink), (sink, source)))


@dataclasses.dataclass
class Outcome:
    """The errors of a result for all hosts except the reference. Times are in ns."""

    worst: int = 0              # error
    excess: int = 0             # maximum of an error minus its bound
    outside: int = 0            # number of instants whose error exceeds the bound
    unknown: int = 0            # number of instants without a bound
    hosts: list = dataclasses.field(default_factory=list)   # names of the compared hosts
    false: list = dataclasses.field(default_factory=list)   # names of hosts outside their bounds
    bounds: list = dataclasses.field(default_factory=list)  # an array of bounds for each host

    def add(self, name, error, bounds):
        """Add a host's errors and bounds, at the same instants."""
        known = bounds < UNKNOWN
        over = np.where(known, error - bounds - ROUNDING, -1)
        self.worst, self.excess = max(self.worst, error.max()), max(self.excess, over.max())
        self.outside += (over > 0).sum()
        self.unknown += (~known).sum()
        self.hosts.append(name)
        self.bounds.append(bounds[known])
        if (over > 0).any():
            self.false.append(name)

    @property
    def known(self):
        """Return all known bounds."""
        return np.concatenate([np.zeros(0), *self.bounds])

    @property
    def median(self):
        """Return the median bound."""
        return np.median(self.known) if len(self.known) else np.nan


class World:
    """Clocks, and their readings for messages."""

    logs = ()

    def is_unseen(self, host, at):
        """
        Return instants between two messages of a host in one direction, between which its
        clock is stepped by no more, in total, than steering could change it in this time. For
        these instants, netsync.h does not guarantee bounds.
        """
        clock, found = self.clocks[host], np.zeros(len(at), bool)
        for when, who in (self.at, self.source), (self.at + self.delay / SECOND, self.sink):
            marks = np.concatenate([[0], np.sort(when[who == host]), [self.seconds]])
            gaps = {}
            for step, by in clock.steps:
                gaps.setdefault(np.searchsorted(marks, step), []).append(by)
            for gap, steps in gaps.items():
                begin, end = marks[max(gap - 1, 0)], marks[min(gap, len(marks) - 1)]
                if abs(sum(steps)) <= MOST_STEERING * (end - begin) * SECOND:
                    found |= (at >= begin) & (at <= end)
        return found

    def __init__(self, seed):
        self.rng = rng = np.random.default_rng(seed)
        rare = RARE <= seed < NTPD
        hosts = int(rng.choice([2, 2, 2, 3, 3] if rare else [2, 2, 2, 3, 5, 10]))
        self.seconds = seconds = float(rng.choice([120, 600, 3600, 3600, 14400]))
        # Unseen steps are steps that no message reveals.
        kinds = STEERED[:5] if rare else STEERED + ("none",) * 4
        how, alone = str(rng.choice(kinds)), rng.random() < .5
        if seed >= NTPD:
            how = "ntpd"
        if how == "suspend":
            alone = True
        if seconds < 600 and how in ("calm", "suspend", "smear"):
            how = "none"
        self.clocks = [Clock(rng, seconds, str(rng.choice(KINDS)),
                             how if host == hosts - 1 or not alone else "none")
                       for host in range(hosts)]
        sending = str(rng.choice(["even", "bursts", "bursts", "rarer"] if rare else
                                 ["even", "bursts", "rarer", "silence"]))
        counts = ([2000, 20000, 100000, 300000] if not rare else
                  [2000, 4000, 8000, 20000, 40000] if sending == "bursts" else
                  [20, 50, 100, 200, 500])
        kind = str(rng.choice(["exponential", "gamma", "pareto", "busy"]))
        scale, unequal = rng.choice([1e4, 1e5, 1e6]), rng.choice([0, 0, .1, .5])
        at = traffic(rng, seconds, int(rng.choice(counts)), sending)
        source = rng.integers(0, hosts, len(at))
        sink = (source + rng.integers(1, hosts, len(at))) % hosts
        least = rng.uniform(5e3, 2e5, (hosts, hosts))
        least = (least + least.T) / 2 * (1 + unequal * rng.random((hosts, hosts)))
        delay = least[source, sink] + queueing(rng, at, seconds, kind, scale)
        if rng.random() < .2:
            late = (at > rng.uniform(.2, .8) * seconds) & (source < sink)
            delay += np.where(late, rng.uniform(1e4, 3e5), 0)
        kept = at + delay / SECOND < seconds
        for clock in self.clocks:
            for begin, end in clock.gaps:
                kept &= (at + delay / SECOND < begin) | (at > end)
        self.at, self.delay = at[kept], delay[kept]
        self.source, self.sink = source[kept], sink[kept]
        self.resolution = int(rng.choice([1, 1, 1, 1, 1000, 10000]))
        self.name = (f"{hosts} hosts, {seconds:.0f} s, {how}{' alone' if alone else ''}, "
                     f"{len(self.at)} messages, {sending}, {kind} {scale / 1e3:.0f} us, "
                     f"unequal {unequal}, resolution {self.resolution} ns")

    def deliver(self, at, delay, source, sink):
        """Keep the messages for which both hosts are running."""
        kept = at + delay / SECOND < self.seconds
        for host, clock in enumerate(self.clocks):
            for begin, end in clock.gaps:
                for when, who in (at, source), (at + delay / SECOND, sink):
                    kept &= (who != host) | (when < begin) | (when > end)
        self.at, self.delay = at[kept], delay[kept]
        self.source, self.sink = source[kept], sink[kept]

    def write_logs(self, path):
        with open(path, "w", encoding="ascii") as log:
            for host, at, raw in self.logs:
                for when, shown in zip(raw, self.clocks[host](at)):
                    log.write(f"h{host} {EPOCH + when + shown} {when} 30\n")

    def shown(self):
        """Return what the clocks show when messages are sent and received."""
        sent = (self.at * SECOND).astype(np.int64)
        received = sent + self.delay.astype(np.int64)
        for times, who in (sent, self.source), (received, self.sink):
            true = times.copy()
            for host, clock in enumerate(self.clocks):
                of_host = who == host
                times[of_host] += EPOCH + clock(true[of_host] / SECOND)
            times -= times % self.resolution
        return sent, received

    def write(self, path):
        """Write messages in the format of netsync-messages(5)."""
        np.savetxt(path, np.stack([self.source, self.sink, *self.shown()], 1), "h%d h%d %d %d")

    def is_rejected(self, _, at):
        """Return the instants around messages that a result rejects as wrong."""
        return np.zeros(len(at), bool)

    def compare(self, result):
        """Compare a result with the truth at random instants, and return an Outcome."""
        at = np.sort(self.rng.uniform(0, self.seconds, INSTANTS))
        true = EPOCH + (at * SECOND).astype(np.int64)
        reference = self.clocks[int(result.reference[1:])]
        outcome, rejected = Outcome(), self.is_rejected(result, at)
        for name, host in result.hosts.items():
            clock = self.clocks[int(name[1:])]
            own = true + clock(at)
            seen = (own >= host.first_ns) & (own <= host.last_ns)
            seen &= ~(reference.is_ambiguous(at) | clock.is_ambiguous(at))
            seen &= ~(self.is_unseen(self.clocks.index(reference), at) |
                      self.is_unseen(self.clocks.index(clock), at))
            if host.quality.name == "APPROXIMATE":
                seen &= ~rejected
            if host.corrected is None or name == result.reference or not seen.any():
                continue
            times, bounds = host.corrected.convert_many(own[seen])
            outcome.add(name, abs(times - (true + reference(at))[seen]), bounds)
        return outcome


class Odd(World):
    """
    Worlds in which something unusual happens to one host or to all hosts, with one of the
    usual kinds of traffic.
    """

    def __init__(self, seed):
        # pylint: disable=super-init-not-called
        self.rng = rng = np.random.default_rng(seed)
        hosts = int(rng.choice([2, 2, 3, 4]))
        self.seconds = seconds = float(rng.choice([60, 300, 900]))
        how, alone = str(rng.choice(ODD)), rng.random() < .7
        odd = [host for host in range(hosts) if not alone or host == rng.integers(hosts)]
        self.clocks = [Clock(rng, seconds, str(rng.choice(["line", "line", "walk"])),
                             how if host in odd else "none") for host in range(hosts)]
        talk = str(rng.choice(["any", "one way", "requests", "requests", "chain"]))
        num, scale = int(rng.choice([60, 500, 3000, 20000])), rng.choice([1e4, 1e5, 1e6])
        at = traffic(rng, seconds, num, str(rng.choice(["even", "even", "bursts", "silence"])))
        source = rng.integers(0, hosts, len(at))
        sink = (source + rng.integers(1, hosts, len(at))) % hosts
        if talk in ("one way", "chain"):
            source, sink = np.minimum(source, sink), np.maximum(source, sink)
        least = rng.uniform(5e3, 2e5, (hosts, hosts))
        delay = least[source, sink] + queueing(rng, at, seconds, "exponential", scale)
        if talk == "requests":
            answer = at + delay / SECOND + rng.exponential(3e-4, len(at))
            back = least[source, sink] + queueing(rng, at, seconds, "exponential", scale)
            at, delay, source, sink = answered(at, delay, source, sink, answer, back)
        elif talk == "chain":
            # Each hop sees the packet, so that one packet gives a message for each pair of hosts.
            at = np.repeat(at, hosts * (hosts - 1) // 2)
            hops = np.array([(i, j) for i in range(hosts) for j in range(i + 1, hosts)])
            source, sink = np.tile(hops, (len(at) // len(hops), 1)).T
            passed = np.cumsum(5e4 + rng.exponential(scale, (len(at) // len(hops), hosts)), 1)
            passed = np.repeat(passed, len(hops), 0)
            index = np.arange(len(at))
            delay = passed[index, sink] - passed[index, source]
            at = at + passed[index, source] / SECOND
        self.deliver(at, delay, source, sink)
        self.resolution = int(rng.choice([1, 1, 1000]))
        if rng.random() < .25 and self.resolution == 1:
            self.logs = [(host, *readings(rng, self.clocks[host], seconds))
                         for host in range(hosts) if rng.random() < .7]
        self.name = (f"odd, {hosts} hosts, {seconds:.0f} s, {how}{' alone' if alone else ''}, "
                     f"{len(self.at)} messages, {talk}, {scale / 1e3:.0f} us, resolution "
                     f"{self.resolution} ns, {len(self.logs)} logs")
