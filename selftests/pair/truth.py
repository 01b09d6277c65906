#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""usage: truth.py OUT PAUSE

Until terminated, exchange time every PAUSE seconds with the machine that runs the
guests, over a serial port, which is independent of the network. Then write to OUT, as
JSON, the exchange with the shortest round trip of every ten:

    [[sent, host, received], ...]

in nanoseconds of CLOCK_MONOTONIC; "sent" and "received" are of this guest, "host" is
of the machine. The host's time was read between the two, which bounds the error
strictly.
"""
import json
import os
import signal
import sys
import termios
import time
import tty

PORT = "/dev/ttyS1"
BURST = 10


def open_port():
    port = os.open(PORT, os.O_RDWR | os.O_NOCTTY)
    if not os.isatty(port):
        return port
    tty.setraw(port)
    attr = termios.tcgetattr(port)
    attr[2] |= termios.CLOCAL
    attr[6][termios.VMIN] = 8
    attr[6][termios.VTIME] = 0
    termios.tcsetattr(port, termios.TCSANOW, attr)
    return port


def exchange(port):
    sent = time.monotonic_ns()
    os.write(port, b"?")
    answer = b""
    while len(answer) < 8:
        answer += os.read(port, 8 - len(answer))
    return sent, int.from_bytes(answer, "little"), time.monotonic_ns()


def main():
    running = True

    def stop(_signal, _frame):
        nonlocal running
        running = False

    signal.signal(signal.SIGTERM, stop)
    port = open_port()
    pause = float(sys.argv[2])
    samples = []
    while running:
        samples.append(min((exchange(port) for _ in range(BURST)),
                           key=lambda sample: sample[2] - sample[0]))
        time.sleep(pause)
    with open(sys.argv[1], "w", encoding="ascii") as out:
        json.dump(samples, out)


main()
