# SPDX-License-Identifier: GPL-2.0-only
"""Clocks of simulated hosts: each is an exact integer function of true time, and consists of
segments in which its rate is constant or changes linearly. Times are in nanoseconds."""
import bisect
import heapq
import math

SECOND = 10**9
PPM = 1e-6
# Segments store rates as multiples of 2^-60, and half of the drift as multiples of 2^-100 per ns.
RATE_BITS = 60
DRIFT_BITS = 100


class Oscillator:
    """The rate of a clock that no daemon steers, less 1: linear between knots, and constant
    before the first and after the last knot."""

    def __init__(self, times, rates):
        self.times = times
        self.rates = rates

    def pieces(self):
        """Return the start, rate and drift (1/ns) of each piece, except the first piece's start."""
        found = [(None, self.rates[0], 0.0)]
        for i, (time, rate) in enumerate(zip(self.times, self.rates)):
            drift = 0.0
            if i + 1 < len(self.times):
                drift = (self.rates[i + 1] - rate) / (self.times[i + 1] - time)
            found.append((time, rate, drift))
        return found

    def max_drift(self):
        return max(abs(drift) for _, _, drift in self.pieces())


class Clock:
    """A host's clock. Changes are made in the order of true time."""

    def __init__(self, oscillator, origin, value):
        self.pieces = oscillator.pieces()
        self.max_drift = oscillator.max_drift()
        self.piece = 0
        self.steering = {}              # rate that each behaviour adds
        self.shift = 0.0                # change in the oscillator's rate since the start
        self.frozen = False
        self.steps = []                 # (true time, change of the clock in ns)
        self.dark = []                  # (start, end): the host does not run
        self.asleep = []                # those of them in which the clock cannot be read later
        self.set_times = []             # true times at which the clock was set
        self.steered_times = [origin]   # true times at which the steering changed
        self.starts, self.values, self.rates, self.drifts, self.gains = [], [], [], [], []
        self._append(origin, value)

    def value(self, time):
        """Return what the clock shows at a true time."""
        i = max(0, bisect.bisect_right(self.starts, time) - 1)
        passed = time - self.starts[i]
        return self.values[i] + passed + (
            (passed * self.rates[i] << (DRIFT_BITS - RATE_BITS)) +
            passed * passed * self.drifts[i] >> DRIFT_BITS)

    def gain(self, time):
        """Return the rate of the clock relative to the raw clock."""
        return self.gains[max(0, bisect.bisect_right(self.starts, time) - 1)]

    def natural_rate(self, time):
        """Return the oscillator's rate, less 1."""
        start, rate, drift = self.pieces[self.piece]
        return rate + self.shift + (drift * (time - start) if start is not None else 0.0)

    def _append(self, time, value):
        natural, steering = self.natural_rate(time), sum(self.steering.values())
        rate = -1.0 if self.frozen else natural + steering + natural * steering
        drift = 0.0 if self.frozen else self.pieces[self.piece][2] * (1 + steering)
        self.starts.append(time)
        self.values.append(value)
        self.gains.append(1 + steering)
        self.rates.append(-(1 << RATE_BITS) if self.frozen else round(rate * 2**RATE_BITS))
        self.drifts.append(round(drift / 2 * 2**DRIFT_BITS))

    def advance(self, time):
        """Follow the oscillator up to a true time."""
        while self.piece + 1 < len(self.pieces) and self.pieces[self.piece + 1][0] <= time:
            self.piece += 1
            knot = self.pieces[self.piece][0]
            if knot >= self.starts[-1]:
                self._append(knot, self.value(knot))

    def _change(self, time):
        assert time >= self.starts[-1]
        self.advance(time)
        self._append(time, self.value(time))

    def steer(self, time, who, rate):
        """Let a behaviour add this to the rate, in place of what it added before."""
        self.advance(time)
        self.steering[who] = rate
        self.steered_times.append(time)
        self._change(time)

    def set_forward(self, time, change):
        """Set the clock forward, or back if negative."""
        self.advance(time)
        self._append(time, self.value(time) + change)
        self.steps.append((time, change))
        self.set_times.append(time)

    def shift_rate(self, time, change):
        self.advance(time)
        self.shift += change
        self._change(time)

    def freeze(self, time, frozen):
        """Stop the clock, or let it run again."""
        self.advance(time)
        self.frozen = frozen
        self._change(time)

    def rate_range(self):
        """Return the least and the largest rate, less 1, of the clock while it runs."""
        found = []
        for i, rate in enumerate(self.rates):
            if rate == -(1 << RATE_BITS):
                continue
            found.append(rate / 2**RATE_BITS)
            if self.drifts[i] and i + 1 < len(self.starts):
                found.append(found[-1] + 2 * self.drifts[i] / 2**DRIFT_BITS *
                             (self.starts[i + 1] - self.starts[i]))
        return min(found), max(found)

    def repeated(self):
        """Return the ranges of times that the clock showed twice."""
        return [(self.value(time), self.value(time) - change)
                for time, change in self.steps if time in self.set_times and change < 0]

    def is_dark(self, time):
        return any(start <= time < end for start, end in self.dark)

    def is_asleep(self, time):
        """Return whether the machine is suspended, so that its clock shows nothing."""
        return any(start <= time <= end for start, end in self.asleep)


class HostClock(Clock):
    """A host's clock and its raw clock, which has the same oscillator."""

    def __init__(self, oscillator, origin, value):
        self.raw = Clock(oscillator, origin, origin)
        super().__init__(oscillator, origin, value)

    def finish(self, time):
        self.advance(time)
        self.raw.advance(time)

    def pause(self, start, end):
        """The host does not run, and neither does any of its clocks: a paused guest."""
        for clock in (self, self.raw):
            clock.freeze(start, True)
        self.dark.append((start, end))
        self.steps.append((start, start - end))

    def resume(self, end):
        for clock in (self, self.raw):
            clock.freeze(end, False)

    def sleep(self, start, end, error):
        """The machine is suspended; its clock is set when it resumes, by an error in ns."""
        self.raw.freeze(start, True)
        self.dark.append((start, end))
        self.asleep.append((start, end))
        self.set_times.append(end)
        if error:
            self.steps.append((end, error))

    def wake(self, end, error):
        self.raw.freeze(end, False)
        self.advance(end)
        self._append(end, self.value(end) + error)

    def migrate(self, time, change):
        for clock in (self, self.raw):
            clock.shift_rate(time, change)


# ---- oscillators -----------------------------------------------------------------------------

def steady(rng, start, end):
    del start, end
    return Oscillator([0], [rng.uniform(-60, 60) * PPM])


def quartz(rng, start, end, drift=0.02):
    """Temperature, as sinusoids, and ageing; at most drift, in ppm/s."""
    skew, seconds = rng.uniform(-60, 60), (end - start) / SECOND
    waves = []
    for _ in range(rng.randint(1, 3)):
        period = math.exp(rng.uniform(math.log(max(5, seconds / 8)), math.log(4 * seconds + 40)))
        largest = min(drift * period / (2 * math.pi) / 4, 3)
        waves.append((period, largest * rng.uniform(0.1, 1), rng.uniform(0, 2 * math.pi)))
    ageing = rng.uniform(-1, 1) * drift / 4 * 0.1
    num = int(min(400, max(8, 16 * seconds / min(w[0] for w in waves))))
    times = [start + (end - start) * i // num for i in range(num + 1)]
    rates = []
    for time in times:
        passed = (time - start) / SECOND
        rates.append((skew + ageing * passed + sum(
            size * math.sin(2 * math.pi * passed / period + phase)
            for period, size, phase in waves)) * PPM)
    return Oscillator(times, rates)


def walking(rng, start, end, drift=0.02):
    """A random walk of the rate, at most drift, in ppm/s."""
    num = rng.randint(4, 200)
    times = [start + (end - start) * i // num for i in range(num + 1)]
    step = (end - start) / num / SECOND * drift
    rates = [rng.uniform(-60, 60)]
    for _ in range(num):
        rates.append(rates[-1] + max(-3.0, min(3.0, rng.uniform(-step, step))))
    return Oscillator(times, [rate * PPM for rate in rates])


def bending(rng, start, end):
    """Drift as fast as the limit allows, in one or a few bends."""
    num = rng.randint(1, 5)
    times = sorted({start, end} | {rng.randrange(start, end) for _ in range(num)})
    rates = [rng.uniform(-60, 60)]
    for a, b in zip(times, times[1:]):
        drift = rng.choice((0, rng.uniform(-0.09, 0.09), rng.choice((-0.09, 0.09))))
        rates.append(max(-110, min(110, rates[-1] + drift * (b - a) / SECOND)))
    return Oscillator(times, [rate * PPM for rate in rates])


# ---- what is done to clocks: generators that yield the next true time they act at ------------

def run_behaviours(clock, behaviours, start, end):
    """Run behaviours of a clock in the order of true time."""
    queue = []
    clock.now = start
    for number, behaviour in enumerate(behaviours):
        _push_behaviour(queue, number, behaviour, start)
    while queue and queue[0][0] < end:
        time, number, behaviour = heapq.heappop(queue)
        if clock.is_dark(time):         # no daemon runs in a paused or suspended machine
            # The behaviour that resumes the machine acts first.
            heapq.heappush(queue, (clock.dark[-1][1] + 1, number, behaviour))
            continue
        clock.now = time
        _push_behaviour(queue, number, behaviour, time)
    # What began in time, such as a pause, ends in time.
    for _, _, behaviour in sorted(queue, key=lambda entry: entry[:2]):
        behaviour.close()
    clock.finish(max(end, clock.starts[-1], clock.raw.starts[-1]))


def _push_behaviour(queue, number, behaviour, now):
    time = next(behaviour, None)
    if time is not None:
        heapq.heappush(queue, (max(now, int(time)), number, behaviour))


def log_uniform(rng, low, high):
    return math.exp(rng.uniform(math.log(low), math.log(high)))


def moments(rng, start, end, count):
    """Return times, away from the ends of the record."""
    edge = (end - start) // 20
    return sorted(rng.randrange(start + edge, end - edge) for _ in range(count))


def rate_steps(rng, clock, start, end, count, ppm):
    for time in moments(rng, start, end, count):
        yield time
        clock.steer(clock.now, "rate", rng.uniform(-ppm, ppm) * PPM)


def settings(rng, clock, start, end, count, sizes, signs=(-1, 1)):
    for time in moments(rng, start, end, count):
        yield time
        clock.set_forward(clock.now, rng.choice(signs) * int(log_uniform(rng, *sizes)))


def adjtime(rng, clock, start, end, count, sizes, rate=500):
    """Slews by adjtime(3), each after the one before has ended."""
    last = start
    for time in moments(rng, start, end, count):
        yield max(time, last)
        size, sign = log_uniform(rng, *sizes), rng.choice((-1, 1))
        clock.steer(clock.now, "adjtime", sign * rate * PPM)
        last = clock.now + int(size / (rate * PPM))
        yield last
        clock.steer(clock.now, "adjtime", 0.0)


class Pll:
    """The kernel's phase-locked loop, as ntpd and systemd-timesyncd use it: an offset decays by
    a share in each second."""

    def __init__(self, clock, share, frequency):
        self.clock, self.share, self.frequency, self.rest = clock, share, frequency, 0.0

    def tick(self):
        amount = max(-500e3, min(500e3, self.rest * self.share))        # ns in a second
        self.rest -= amount
        self.clock.steer(self.clock.now, "pll", self.frequency + amount / SECOND)


def ntpd(rng, clock, start, end, poll, noise, error, step=128 * 10**6):
    """ntpd: measures the clock's error every poll seconds, within a noise in ns."""
    frequency = -clock.natural_rate(start) + rng.uniform(-error, error) * PPM
    pll = Pll(clock, 1 / (4 * max(4, poll / 4)), frequency)
    next_poll = start + rng.randrange(poll * SECOND)
    time = start + rng.randrange(SECOND)
    while time < end:
        yield time
        if clock.now >= next_poll:
            offset = clock.value(clock.now) - clock.now + rng.gauss(0, noise)
            if abs(offset) > step:
                clock.set_forward(clock.now, -int(offset))
                pll.rest = 0.0
            else:
                pll.rest = -offset
                pll.frequency -= offset / SECOND * poll * (pll.share / 4) ** 2 * 4
                pll.frequency = max(-400 * PPM, min(400 * PPM, pll.frequency))
            next_poll = clock.now + poll * SECOND
        pll.tick()
        time = clock.now + SECOND


def timesyncd(rng, clock, start, end, poll, noise):
    """systemd-timesyncd: sets a clock that errs by more than 0.4 s, and slews others."""
    yield from ntpd(rng, clock, start, end, poll, noise, 20, 400 * 10**6)


def chronyd(rng, clock, start, end, poll, noise, error, largest=500.0, makestep=None, first=0):
    """chronyd: corrects the frequency, and slews the offset away by at most so many ppm. With
    makestep, one of the first three updates sets a clock that errs by more than so many ns."""
    error *= PPM
    frequency, updates = -clock.natural_rate(start) + rng.uniform(-error, error), 0
    time = start + rng.randrange(poll * SECOND // 2, 3 * poll * SECOND // 2) + first
    clock.steer(clock.now, "chrony", frequency)
    while time < end:
        yield time
        offset = clock.value(clock.now) - clock.now + rng.gauss(0, noise)
        updates += 1
        error = max(error / 2, noise / poll / SECOND / 4)
        frequency = -clock.natural_rate(clock.now) + rng.gauss(0, error)
        time = clock.now + int(poll * SECOND * rng.uniform(0.9, 1.1))
        if makestep and updates <= 3 and abs(offset) > makestep:
            clock.set_forward(clock.now, -int(offset))
            clock.steer(clock.now, "chrony", frequency)
            continue
        limit = largest * PPM
        slew = abs(offset) / max(abs(offset) / limit, poll * SECOND / rng.uniform(1, 6))
        slew = min(slew, max(0.0, limit - abs(frequency)) if largest <= 500 else limit)
        if slew <= 0:
            continue
        clock.steer(clock.now, "chrony", frequency - math.copysign(slew, offset))
        done = clock.now + int(abs(offset) / slew)
        if done < time:
            yield done
            clock.steer(clock.now, "chrony", frequency)


def ptp4l(rng, clock, start, end, interval, noise, error):
    """ptp4l: a PI servo; the first large offset is stepped."""
    integral = -clock.natural_rate(start) + rng.uniform(-error, error) * PPM
    time, first = start + rng.randrange(int(interval * SECOND)), True
    while time < end:
        yield time
        offset = clock.value(clock.now) - clock.now + rng.gauss(0, noise)
        if first and abs(offset) > 20000:
            clock.set_forward(clock.now, -int(offset))
        else:
            integral -= 0.3 * offset / SECOND
            integral = max(-400 * PPM, min(400 * PPM, integral))
            rate = integral - 0.7 * offset / SECOND
            clock.steer(clock.now, "ptp", max(-500 * PPM, min(500 * PPM, rate)))
        first = False
        time = clock.now + int(interval * SECOND * rng.uniform(0.95, 1.05))


def leap_smear(rng, clock, start, end, seconds, is_smooth):
    """A leap second, smeared over so many seconds: linear, or with a smooth rate."""
    begin = rng.randrange(start - int(seconds * SECOND * 0.8), end)
    peak, sign = SECOND / (seconds * SECOND), rng.choice((-1, 1))
    num = 64 if is_smooth else 1
    for i in range(num):
        time = begin + int(seconds * SECOND * i / num)
        share = math.pi / 2 * math.sin(math.pi * (i + 0.5) / num) if is_smooth else 1.0
        if time + seconds * SECOND / num > start:
            yield max(time, start)
            clock.steer(clock.now, "smear", sign * peak * share)
    yield begin + int(seconds * SECOND)
    clock.steer(clock.now, "smear", 0.0)


def pauses(rng, clock, start, end, count, lengths, agent):
    """A paused guest; afterwards, its agent sets or slews the clock, or does nothing."""
    last = start
    for time in moments(rng, start, end, count):
        yield max(time, last)
        length = int(log_uniform(rng, *lengths))
        begun = clock.now
        clock.pause(begun, begun + length)
        last = begun + length
        try:
            yield last
            clock.now = last
        except GeneratorExit:
            clock.resume(last)
            raise
        clock.resume(last)
        if agent in ("step", "late"):
            yield last + int(log_uniform(rng, 10**4, 10**7 if agent == "step" else 10**10))
            clock.set_forward(clock.now, length)
        elif agent == "slew":
            yield last + int(log_uniform(rng, 10**4, 10**9))
            clock.steer(clock.now, "agent", 500 * PPM)
            last = clock.now + int(length / (500 * PPM))
            yield last
            clock.steer(clock.now, "agent", 0.0)
        last = max(last, clock.now) + 1


def migrations(rng, clock, start, end, count, lengths, ppm, agent):
    """A guest that moves to hosts with other rates, and is paused meanwhile."""
    done = 0
    for time in pauses(rng, clock, start, end, count, lengths, agent):
        yield time
        if len(clock.dark) > done and clock.now >= clock.dark[-1][1]:
            done = len(clock.dark)
            clock.migrate(clock.now, rng.uniform(-ppm, ppm) * PPM)


def suspends(rng, clock, start, end, count, lengths, error):
    """A machine that is suspended, and whose clock is set from the RTC when it resumes."""
    last = start
    for time in moments(rng, start, end, count):
        yield max(time, last)
        length, wrong = int(log_uniform(rng, *lengths)), int(rng.uniform(-error, error))
        begun = clock.now
        clock.sleep(begun, begun + length, wrong)
        last = begun + length
        try:
            yield last
            clock.now = last
        except GeneratorExit:
            clock.wake(last, wrong)
            raise
        clock.wake(last, wrong)
        last += 1
