# SPDX-License-Identifier: GPL-2.0-only
"""Messages between simulated hosts: when they are sent, how long they take, and what of them a
recorder sees. All times are true times in nanoseconds, except the stamps of a recording."""
import math
from typing import NamedTuple

from clocks import SECOND, log_uniform


class Sent(NamedTuple):
    """A message, in true time. Wrong messages have been matched with another packet."""
    sender: int
    receiver: int
    sent: int
    received: int
    link: int
    is_wrong: bool = False


class Link:
    """Two hosts that exchange messages, and the delays of each direction."""

    def __init__(self, rng, hosts, num):
        self.hosts = hosts
        self.num = num                          # about so many messages in both directions
        least = log_uniform(rng, 5e3, 3e7)
        skewed = rng.choice((1, 1, log_uniform(rng, 1, 30)))
        self.least = [least, least * skewed][::rng.choice((-1, 1))]
        mean = least * log_uniform(rng, 0.01, 3)
        self.mean = [mean * log_uniform(rng, 0.5, 2) for _ in range(2)]
        self.tail = rng.choice(("exponential", "exponential", "lognormal"))
        self.pattern = rng.choice(("poisson", "requests", "requests", "periodic", "bursts"))
        self.one_way = False
        self.share = rng.choice((0.5, 0.5, rng.uniform(0.1, 0.9)))  # of direction 0
        self.routes = [[], []]                  # (start, end, change of the least delay)
        self.queues = [[], []]                  # (start, end, size, period, floor)
        self.windows = None                     # times in which messages are sent

    def least_delay(self, direction, time):
        least = self.least[direction]
        for start, end, change in self.routes[direction]:
            if time >= end:
                least += change
            elif time > start:
                least += change * (time - start) / (end - start)
        return max(0, least)

    def delay(self, rng, direction, time):
        mean, tail = self.mean[direction], self.tail
        if tail == "exponential":
            excess = rng.expovariate(1 / mean)
        elif tail == "lognormal":
            excess = mean * rng.lognormvariate(-1.0, 1.4)
        elif tail == "pareto":
            excess = mean * (rng.paretovariate(1.1) - 1)
        elif tail == "uniform":
            excess = rng.uniform(0, 2 * mean)
        else:
            excess = wifi_excess(rng, mean)
        for start, end, size, period, floor in self.queues[direction]:
            if start <= time < end:
                excess += floor + size * ((time - start) % period) / period
        return int(self.least_delay(direction, time) + min(excess, 20 * SECOND))


def wifi_excess(rng, mean):
    """Retries with a doubling backoff, and now and then a station that sleeps until a beacon."""
    excess, backoff = rng.expovariate(1 / mean), mean
    while rng.random() < 0.3 and backoff < 64 * mean:
        excess += rng.uniform(0, backoff)
        backoff *= 2
    if rng.random() < 0.1:
        excess += rng.uniform(0, 102.4e6)
    return excess


# ---- patterns: the send times, and the direction, of a link's messages -----------------------

def plan_sends(rng, link, start, end):
    """Return (time, direction) of messages; a direction of 2 is a request with a reply."""
    windows = link.windows or [(start, end)]
    span = sum(b - a for a, b in windows)
    sends = []
    for a, b in windows:
        num = max(2, round(link.num * (b - a) / span))
        sends += PATTERNS[link.pattern](rng, link, a, b, num)
    if link.one_way:
        keep = rng.randrange(2) if link.share == 0.5 else int(link.share < 0.5)
        sends = [(time, keep) for time, _ in sends]
    return sorted(sends)


def _poisson(rng, link, start, end, num):
    return [(rng.randrange(start, end), int(rng.random() >= link.share)) for _ in range(num)]


def _requests(rng, link, start, end, num):
    del link
    return [(rng.randrange(start, end), 2) for _ in range(max(1, num // 2))]


def _periodic(rng, link, start, end, num):
    del link
    period, phase = (end - start) / max(1, num // 2), rng.random()
    return [(start + int(period * (i + phase % 1 + rng.uniform(0, 0.05))), 2)
            for i in range(max(1, num // 2 - 1))]


def _bursts(rng, link, start, end, num):
    bursts = rng.randint(2, 30)
    length = min((end - start) / bursts, log_uniform(rng, 1e6, 2e9))
    times = [rng.randrange(start, max(start + 1, int(end - length))) for _ in range(bursts)]
    return [(rng.choice(times) + rng.randrange(int(length)), rng.choice((0, 1, 2)))
            for _ in range(num * 2 // 3)]


def _bulk(rng, link, start, end, num):
    """A stream in one direction, and acknowledgements after two packets, or delayed."""
    bulk, sends, time = rng.randrange(2), [], start
    gap = (end - start) / max(1, num * 2 // 3)
    late = rng.choice((0, 40e6))
    while time < end:
        sends.append((time, bulk))
        if rng.random() < 0.5:
            ack = time + int(link.least[bulk] + rng.uniform(0, late) + gap)
            sends.append((min(ack, end - 1), 1 - bulk))
        time += max(1, int(rng.uniform(0.2, 1.8) * gap))
    return sends


PATTERNS = {"poisson": _poisson, "requests": _requests, "periodic": _periodic,
            "bursts": _bursts, "bulk": _bulk}


def send_messages(rng, links, clocks, start, end):
    """Return all messages in true time. Hosts that do not run neither send nor receive."""
    messages = []

    def send(number, direction, time):
        link = links[number]
        a, b = link.hosts if direction == 0 else link.hosts[::-1]
        if clocks[a].is_dark(time):
            return None
        arrival = time + link.delay(rng, direction, time)
        for dark_start, dark_end in clocks[b].dark:
            if dark_start <= arrival < dark_end:
                if rng.random() < 0.5:
                    return None
                arrival = dark_end + rng.randrange(10**6)
        messages.append(Sent(a, b, time, arrival, number))
        return arrival

    for number, link in enumerate(links):
        for time, direction in plan_sends(rng, link, start, end):
            arrival = send(number, direction % 2, time)
            if direction == 2 and arrival is not None:
                service = int(rng.expovariate(1 / log_uniform(rng, 1e4, 1e7)))
                send(number, 1, arrival + service)
    return messages


# ---- what a recorder does to messages --------------------------------------------------------

def lose_messages(rng, messages, share, outages, late):
    """Lose single messages, all of a host's in outages (host, start, end), and those that a host
    saw before its recording began."""
    def is_lost(host, time):
        return time < late.get(host, 0) or any(
            host == of and start <= time < end for of, start, end in outages)
    return [m for m in messages if rng.random() >= share and
            not is_lost(m.sender, m.sent) and not is_lost(m.receiver, m.received)]


def mismatch(rng, messages, share, is_near):
    """Match a share of the messages with the arrival of another message of their direction."""
    by_direction = {}
    for i, message in enumerate(messages):
        by_direction.setdefault((message.sender, message.receiver), []).append(i)
    found = list(messages)
    for numbers in by_direction.values():
        numbers.sort(key=lambda i: messages[i].sent)
        for place, i in enumerate(numbers):
            if rng.random() >= share or len(numbers) < 3:
                continue
            other = place + rng.choice((-3, -2, -1, 1, 2, 3)) if is_near else \
                rng.randrange(len(numbers))
            if 0 <= other < len(numbers) and other != place:
                found[i] = messages[i]._replace(
                    received=messages[numbers[other]].received, is_wrong=True)
    return found


def repeat_messages(rng, messages, share):
    """Repeat a share of the messages; some repetitions arrived later."""
    found = list(messages)
    for message in messages:
        if rng.random() < share:
            late = rng.choice((0, int(log_uniform(rng, 1e3, 1e9))))
            found.append(message._replace(received=message.received + late))
    return found


def min_delays(messages):
    """Return the least delay of the right messages of each direction."""
    least = {}
    for m in messages:
        if not m.is_wrong:
            key = m.sender, m.receiver
            least[key] = min(least.get(key, math.inf), m.received - m.sent)
    return least
