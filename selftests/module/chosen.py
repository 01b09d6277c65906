#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""usage: chosen.py N < LINES

Read the output of "events". Print the lines that the module must record if it samples one packet
in 2^N, according to the rules in module/netsync-events.h.
"""
import re
import sys

SYN_FIN = 3
exponent = int(sys.argv[1])


def is_chosen(key):
    return not (key * 0x9e3779b1 % 2**32) >> (32 - exponent)


def numbers(line):
    return {name: int(value) for name, value in
            re.findall(r"\b(seq|ack_seq|len)=(\d+)", line)}


def is_recorded(line):
    if " udp " in line:
        return is_chosen(int(re.search(r"digest=([0-9a-f]+)", line)[1], 16) % 2**32)
    if " icmp " in line:
        return is_chosen(int(re.search(r"echo=\d+,(\d+)", line)[1]))
    if int(re.search(r"flags=([0-9a-f]+)", line)[1], 16) & SYN_FIN:
        return True
    value = numbers(line)
    if not value["len"]:
        return is_chosen(value["ack_seq"] >> 16)
    blocks = range(value["seq"] >> 16, (value["seq"] + value["len"] - 1 >> 16) + 1)
    return any(is_chosen(block % 2**16) for block in blocks)


for text in sys.stdin:
    if is_recorded(text):
        print(text, end="")
