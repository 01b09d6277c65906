#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Exchange beacons between network namespaces, over IPv4 or IPv6 only. Or exchange beacons with
an address of another machine; this machine then has the ID 0 or 1.

usage: beacons.py 4|6 SECONDS RATE NAMESPACE...
       beacons.py ID SECONDS RATE ADDRESS
"""
import ipaddress
import sys
import time

from agents import Agent, start_all

PORT = 7712


def start_one(me, rate, address):
    agent = Agent()
    agent.open(PORT)
    agent.start(me, {1 - me: (PORT, [address])}, rate=rate)
    return [agent]


def start_namespaces(family, rate, names):
    agents = [Agent(name) for name in names]
    start_all(agents, rate=rate, addresses=lambda agent: [
        a for a in agent.addresses if ipaddress.ip_address(a).version == family])
    return agents


def main():
    kind, seconds, rate = map(int, sys.argv[1:4])
    agents = start_namespaces(kind, rate, sys.argv[4:]) if kind in (4, 6) else \
        start_one(kind, rate, sys.argv[4])
    time.sleep(seconds)
    for agent in agents:
        print(agent.namespace, agent.stop())
    sys.exit(any([agent.end() for agent in agents]))


main()
