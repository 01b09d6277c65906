#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Traffic between machines, interactive and bulk, over TCP and UDP.

usage: traffic.py serve CLIENTS
       traffic.py drive SECONDS RATE BURST BULK [udp:]ADDRESS...

"drive" sends, RATE times a second for SECONDS, BURST small requests to one
address after the other, each answered before the next one; halfway it moves
BULK bytes to each address and back. "serve" ends when CLIENTS TCP connections
have come and gone; it answers datagrams until then.
"""
import socket
import sys
import threading
import time

PORT = 5001
HEADER = 8
REQUEST = 64
# Of UDP, the kernel is given many datagrams at once (UDP_SEGMENT).
UDP_SEGMENT = 103
# Let it count IP ids, as it does not for datagrams that must stay whole.
IP_MTU_DISCOVER, IP_PMTUDISC_DONT = 10, 0
DATAGRAM = 1400
BUNDLE = 40 * DATAGRAM
# Nothing is sent again, so that what comes at once from all sides must fit.
SO_RCVBUFFORCE, ROOM = 33, 1 << 23


def no_delay(conn):
    conn.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return conn


def receive(conn, size):
    """Take size bytes and return the last ones; b"" at the end."""
    data = b""
    while size > 0:
        data = conn.recv(min(size, 65536))
        if not data:
            return b""
        size -= len(data)
    return data


def answer(conn):
    """A request starts with its size; the answer is as long as the request."""
    while True:
        header = conn.recv(HEADER, socket.MSG_WAITALL)
        if not header:
            return
        size = int.from_bytes(header, "little")
        receive(conn, size - HEADER)
        conn.sendall(bytes(size))


def datagrams():
    conn = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
    conn.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
    conn.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, ROOM)
    conn.setsockopt(socket.IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_DONT)
    conn.setsockopt(socket.IPPROTO_UDP, UDP_SEGMENT, DATAGRAM)
    return conn


def answer_datagrams(conn):
    """When as many bytes have come as a bundle's first ones say, send as many."""
    left = {}
    while True:
        data, client = conn.recvfrom(65536)
        if left.get(client, 0) <= 0:
            left[client] = size = int.from_bytes(data[:HEADER], "little")
        left[client] -= len(data)
        if left[client] <= 0:
            conn.sendto(size.to_bytes(HEADER, "little") + bytes(size - HEADER), client)


def serve(clients):
    conn = datagrams()
    conn.bind(("", PORT))
    threading.Thread(target=answer_datagrams, args=(conn,), daemon=True).start()
    with socket.create_server(("", PORT), family=socket.AF_INET6,
                              dualstack_ipv6=True) as listener:
        threads = []
        for _ in range(clients):
            conn = no_delay(listener.accept()[0])
            threads.append(threading.Thread(target=answer, args=(conn,)))
            threads[-1].start()
    for thread in threads:
        thread.join()


class Stream:
    """The other machine may take its time to come up."""

    def __init__(self, address):
        for _ in range(600):
            try:
                self.conn = no_delay(socket.create_connection((address, PORT), 60))
                return
            except OSError:
                time.sleep(0.1)
        sys.exit("traffic.py: %s does not answer" % address)

    def request(self, size):
        self.conn.sendall(size.to_bytes(HEADER, "little") + bytes(size - HEADER))
        if not receive(self.conn, size):
            sys.exit("traffic.py: connection lost")

    def close(self):
        self.conn.close()


class Datagrams(Stream):
    """Bundle after bundle, to a server that is up by now."""

    def __init__(self, address):
        self.conn = datagrams()
        self.conn.settimeout(60)
        self.conn.connect(("::ffff:" + address if "." in address else address, PORT))

    def request(self, size):
        while size > 0:
            super().request(min(size, BUNDLE))
            size -= BUNDLE


def drive(seconds, rate, burst, bulk, addresses):
    conns = [Datagrams(address[4:]) if address.startswith("udp:") else Stream(address)
             for address in addresses]
    start = time.monotonic()
    count = int(seconds * rate)
    for i in range(count):
        for _ in range(burst):
            conns[i % len(conns)].request(REQUEST)
        if i == count // 2 and bulk:
            for conn in conns:
                conn.request(bulk)
        time.sleep(max(0, start + (i + 1) / rate - time.monotonic()))
    for conn in conns:
        conn.close()


def main():
    if sys.argv[1] == "serve":
        serve(int(sys.argv[2]))
    else:
        seconds, rate, burst, bulk = map(int, sys.argv[2:6])
        drive(seconds, rate, burst, bulk, sys.argv[6:])


main()
