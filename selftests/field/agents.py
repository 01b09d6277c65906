# SPDX-License-Identifier: GPL-2.0-only
"""Agents that receive the same commands as from netsync record."""
import json
import os
import pathlib
import subprocess

TOP = pathlib.Path(__file__).resolve().parents[2]
NETSYNC = os.environ.get("NETSYNC", str(TOP / "build/netsync"))
SESSION = 0x123456789abcdef


class Agent:
    """An agent in its own network namespace, or in the current one."""

    def __init__(self, namespace=None):
        self.namespace = namespace
        self.port, self.addresses = 0, []
        enter = ["ip", "netns", "exec", namespace] if namespace else []
        self.process = subprocess.Popen(
            [*enter, NETSYNC, "agent"], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, text=True)
        self.hello = json.loads(self.process.stdout.readline())

    def ask(self, what, **members):
        print(json.dumps({"do": what, **members}), file=self.process.stdin, flush=True)
        return json.loads(self.process.stdout.readline())

    def open(self, port=0):
        answer = self.ask("beacon-open", port=port)
        self.port, self.addresses = answer["port"], answer["addresses"]

    def start(self, number, peers, rate=50, session=SESSION):
        """Start a beacon. @peers is {number: (port, addresses)}."""
        answer = self.ask("beacon-start", id=number, rate=rate, session=session,
                          peers=[{"id": n, "port": port, "addresses": addresses}
                                 for n, (port, addresses) in peers.items()])
        if answer:
            raise AssertionError(answer)

    def stop(self):
        """Stop the beacon. Return the numbers of packets sent and received, by peer."""
        return {p["id"]: (p["sent"], p["received"])
                for p in self.ask("beacon-stop")["peers"]}

    def end(self):
        self.process.stdin.close()
        return self.process.wait(60)


def start_all(agents, addresses=lambda agent: agent.addresses, **options):
    """Start beacons between all agents. @addresses(agent) returns the addresses of an agent."""
    for agent in agents:
        agent.open()
    for i, agent in enumerate(agents):
        agent.start(i, {j: (other.port, addresses(other))
                        for j, other in enumerate(agents) if j != i}, **options)
