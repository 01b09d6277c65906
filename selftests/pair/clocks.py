#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""What two clocks of this machine show at one time: CLOCK_MONOTONIC before and
after CLOCK_REALTIME, in ns, of many tries the one with the least between."""
import time


def look():
    before = time.monotonic_ns()
    real = time.time_ns()
    return before, real, time.monotonic_ns()


print(*min((look() for _ in range(1000)), key=lambda at: at[2] - at[0]))
