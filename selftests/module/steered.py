#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""usage: steered.py records < TEXT
       steered.py map TEXT READINGS

Read events netsync_clock in the output of ftrace or babeltrace2. Either print their fields, one
line for each event; or check whether the map from CLOCK_MONOTONIC to CLOCK_MONOTONIC_RAW that
they define agrees with readings of both (see steer.c), each within the time that it took, and
whether CLOCK_REALTIME, CLOCK_BOOTTIME and CLOCK_TAI agree by the offsets.
"""
import bisect
import re
import sys

FIELDS = ("mono raw offs_real offs_boot offs_tai mult raw_mult shift steps seq "
          "clocksource").split()
# The kernel applies a new rate from a counter value that it read slightly before the event's own
# value. In an emulated kernel with fault detection, the difference can be several ms.
MOMENT = 20_000_000
# The accuracy that netsync-events.h documents for the events, plus two roundings, ns.
TOLERANCE = 50 + 2


def records(lines):
    for line in lines:
        if "netsync_clock:" not in line:
            continue
        found = dict(re.findall(r'(\w+) ?= ?"?([\w-]+)', line.split("netsync_clock:")[1]))
        yield [found[name] if name == "clocksource" else int(found[name])
               for name in FIELDS]


def compare(events, readings):
    points = sorted(record[:2] + [record[5] / record[6]] for record in events)
    times = [mono for mono, _, _ in points]

    def raw(mono):
        i = max(bisect.bisect_right(times, mono) - 1, 0)
        at, value, rate = points[i]
        # Between two records, use the line that connects them. After the last record, use its rate.
        if i + 1 < len(points):
            after, end, rate_after = points[i + 1]
            # The previous rate was applied too long, until the new rate took effect.
            ahead = value + (after - at) / rate - end
            change = 1 / rate - 1 / rate_after
            moment = ahead / change if abs(change) > 1e-6 else 0
            if 0 < moment < min(MOMENT, after - at):
                return (value + (mono - at) / rate if mono < after - moment else
                        end - (after - mono) / rate_after)
            return value + (mono - at) * (end - value) / (after - at)
        return value + (mono - at) / rate

    misses = []
    for before, middle, after, *_ in readings:
        if before < times[0]:
            continue
        misses.append((max(raw(before) - middle, middle - raw(after)),
                       after - before,
                       abs(middle - raw((before + after) / 2))))
    if not misses:
        sys.exit("there is nothing to compare")
    misses.sort()
    windows = sorted(window for _, window, _ in misses)
    usual = windows[len(windows) // 2]
    quick = sorted(miss for _, window, miss in misses if window <= usual)
    print(f"{len(points)} events, {len(misses)} readings, window {usual} ns; of those "
          f"not slower: median {quick[len(quick) // 2]:.0f}, "
          f"99 % {quick[int(len(quick) * .99)]:.0f}, at most {quick[-1]:.0f} ns; "
          f"outside of their windows by {misses[-1][0]:.0f} ns at most")
    return len(misses) >= 100 and misses[-1][0] <= TOLERANCE


def contradicted(events, readings):
    """Find the first reading that differs by more than rounding from CLOCK_MONOTONIC plus the
    offset that the events report."""
    events = sorted(events)
    times = [event[0] for event in events]
    for _, _, before, *shown, after in readings:
        first = max(bisect.bisect_right(times, before - TOLERANCE) - 1, 0)
        last = bisect.bisect_right(times, after + TOLERANCE)
        for offset, name, time in zip((2, 3, 4), FIELDS[2:5], shown):
            if before >= times[0] and not any(
                    before - 1 <= time - event[offset] <= after + 1
                    for event in events[first:last]):
                return f"{name}: {time} at {before} to {after}, events: {events[first:last]}"
    return None


if sys.argv[1] == "records":
    for record in records(sys.stdin):
        print(*record)
else:
    with open(sys.argv[2]) as text, open(sys.argv[3]) as lines:
        told = list(records(text))
        shown = [[int(n) for n in line.split()] for line in lines]
    if not compare(told, shown):
        sys.exit("the map and the readings contradict each other")
    wrong = contradicted(told, shown)
    if wrong:
        sys.exit(wrong)
