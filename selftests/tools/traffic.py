# SPDX-License-Identifier: GPL-2.0-only
"""Two machines as tcpdump sees them, which are network namespaces of this machine. They share a
clock, so that the true offset is 0.
"""
import os
import subprocess
import sys
import time

from ktap import Skip

A, B = "10.99.0.1", "10.99.0.2"
# The address of a, if a router separates it from b.
INSIDE = "10.98.0.1"

SERVER = """
import socket, threading
tcp = socket.create_server(("10.99.0.2", 8080))
udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
udp.bind(("10.99.0.2", 5353))
def echo():
    while True:
        data, peer = udp.recvfrom(9000)
        udp.sendto(data[::-1], peer)
threading.Thread(target=echo, daemon=True).start()
print("ready", flush=True)
while True:
    link, _ = tcp.accept()
    while data := link.recv(65536):
        link.sendall(data[:100])
    link.close()
"""

CLIENT = """
import os, socket, time
udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
udp.settimeout(5)
for _ in range(5):
    link = socket.create_connection(("10.99.0.2", 8080))
    for i in range(40):
        link.sendall(os.urandom(50 + i))
        link.recv(1000)
        udp.sendto(os.urandom(20 + i * 20), ("10.99.0.2", 5353))
        udp.recv(9000)
        time.sleep(.002)
    link.sendall(os.urandom(200_000))
    link.shutdown(socket.SHUT_WR)
    while link.recv(65536):
        pass
    link.close()
"""


def run(*command):
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.PIPE)


class Namespaces:
    """The namespaces a and b, connected by a virtual cable or by a router that translates
    addresses."""

    def __init__(self, translated=False):
        self.a, self.b, self.router = (f"netsync-{os.getpid()}-{n}" for n in "abr")
        self.translated = translated
        self.captures = []

    def join(self, one, other, *, device="eth0"):
        """Connect two ends, given as (namespace, address)."""
        run("ip", "link", "add", "eth0", "netns", one[0], "type", "veth",
            "peer", "name", device, "netns", other[0])
        for (name, address), own in (one, "eth0"), (other, device):
            run("ip", "-n", name, "addr", "add", address + "/24", "dev", own)
            for up in ("lo", own):
                run("ip", "-n", name, "link", "set", up, "up")

    def translate(self):
        run("ip", "netns", "add", self.router)
        self.join((self.a, INSIDE), (self.router, "10.98.0.254"), device="eth1")
        self.join((self.b, B), (self.router, "10.99.0.254"))
        run("ip", "-n", self.a, "route", "add", "default", "via", "10.98.0.254")
        for rule in ("sysctl -q -w net.ipv4.ip_forward=1", "nft add table ip nat",
                     "nft add chain ip nat sent { type nat hook postrouting priority 100 ; }",
                     "nft add rule ip nat sent oifname eth0 masquerade"):
            run("ip", "netns", "exec", self.router, *rule.split())

    def __enter__(self):
        try:
            for name in (self.a, self.b):
                run("ip", "netns", "add", name)
            if self.translated:
                self.translate()
            else:
                self.join((self.a, A), (self.b, B))
        except (OSError, subprocess.CalledProcessError) as error:
            self.__exit__()
            raise Skip(f"there can be no network namespaces ({error})") from error
        return self

    def __exit__(self, *_):
        for process in self.captures:
            process.kill()
            process.wait()
        for name in (self.a, self.b, self.router):
            subprocess.run(["ip", "netns", "del", name], check=False,
                           stderr=subprocess.DEVNULL)

    def start(self, name, *command, **options):
        return subprocess.Popen(["ip", "netns", "exec", name, *map(str, command)],
                                **options)

    def capture(self, name, *command):
        """Start tcpdump or dumpcap, and wait until it captures."""
        process = self.start(name, *command, stderr=subprocess.PIPE, text=True)
        for line in process.stderr:
            if "listening on" in line or line.startswith("File:"):
                break
        self.captures.append(process)

    def talk(self):
        """Send TCP, UDP and pings in both directions, and end all captures."""
        with self.start(self.b, sys.executable, "-c", SERVER,
                        stdout=subprocess.PIPE) as server:
            server.stdout.readline()
            for command in ((sys.executable, "-c", CLIENT),
                            ("ping", "-q", "-i", ".02", "-c", "30", B)):
                with self.start(self.a, *command, stdout=subprocess.DEVNULL) as client:
                    pass
                if client.returncode:
                    raise RuntimeError(f"{command[0]}: status {client.returncode}")
            server.kill()
        # Wait for packets that the kernel has not passed to the captures yet.
        time.sleep(1)
        for process in self.captures:
            process.terminate()
            process.communicate()
        self.captures = []
