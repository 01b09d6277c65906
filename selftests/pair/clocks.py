#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Print readings of two clocks of this machine at about the same time: CLOCK_MONOTONIC
before and after CLOCK_REALTIME, in ns. Of many readings, take the one with the
shortest interval."""
import time


def look():
    before = time.monotonic_ns()
    real = time.time_ns()
    return before, real, time.monotonic_ns()


print(*min((look() for _ in range(1000)), key=lambda at: at[2] - at[0]))
