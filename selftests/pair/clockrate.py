#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""usage: clockrate.py PPM

Make this machine's clock run PPM parts per million fast (at most 500). Print CLOCK_MONOTONIC
before and after the change, and PPM, as JSON.
"""
import ctypes
import json
import os
import sys
import time

ADJ_FREQUENCY = 0x0002


class Timex(ctypes.Structure):
    """The first members of struct timex. The kernel may fill in the members after them."""
    _fields_ = [("modes", ctypes.c_uint), ("offset", ctypes.c_long),
                ("freq", ctypes.c_long), ("rest", ctypes.c_char * 256)]


def main():
    ppm = float(sys.argv[1])
    timex = Timex(modes=ADJ_FREQUENCY, freq=round(ppm * 65536))
    libc = ctypes.CDLL(None, use_errno=True)
    before = time.monotonic_ns()
    if libc.adjtimex(ctypes.byref(timex)) < 0:
        sys.exit("clockrate.py: " + os.strerror(ctypes.get_errno()))
    if timex.freq != round(ppm * 65536):
        sys.exit("clockrate.py: the kernel allows only %g" % (timex.freq / 65536))
    print(json.dumps([before, time.monotonic_ns(), ppm]))


main()
