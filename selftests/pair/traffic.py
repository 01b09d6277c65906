#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Traffic between machines, interactive and bulk, over TCP, UDP and SCTP.

usage: traffic.py serve CLIENTS
       traffic.py drive SECONDS RATE BURST [TIMESx]BULK [udp:|sctp:]ADDRESS...

"drive" sends, RATE times a second for SECONDS, BURST small requests to each address in
turn. Each request is answered before the next one. Halfway, or TIMES times at equal
intervals, it moves BULK bytes to each address and back. "serve" ends when CLIENTS TCP
connections have come and gone; until then it answers datagrams, and SCTP if the kernel
supports it.
"""
import errno
import os
import socket
import sys
import threading
import time

PORT = 5001
HEADER = 8
REQUEST = 64
# Pass many datagrams to the kernel in one call (UDP_SEGMENT).
UDP_SEGMENT = 103
# Let the kernel count IP ids. It does not count them for datagrams that must not be fragmented.
IP_MTU_DISCOVER, IP_PMTUDISC_DONT = 10, 0
DATAGRAM = 1400
BUNDLE = 40 * DATAGRAM
PAIR = 2 * DATAGRAM
WINDOW = 16 * PAIR
# Lost data are not sent again, so the receive buffer must hold bursts from all senders.
SO_RCVBUFFORCE, ROOM = 33, 1 << 23
# An SCTP message cannot be longer than the socket's send buffer.
SCTP_NODELAY, MESSAGE = 3, 16000


def message(size):
    """Return a message with random contents, which distinguish datagrams."""
    return size.to_bytes(HEADER, "little") + os.urandom(size - HEADER)


def no_delay(conn):
    conn.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return conn


def receive(conn, size):
    """Receive @size bytes and return the last ones, or b"" at the end of the connection."""
    data = b""
    while size > 0:
        data = conn.recv(min(size, 65536))
        if not data:
            return b""
        size -= len(data)
    return data


def answer(conn):
    """
    Answer each request until the connection ends. A request starts with its size, and the
    answer has the same size.
    """
    while True:
        header = conn.recv(HEADER, socket.MSG_WAITALL)
        if not header:
            return
        size = int.from_bytes(header, "little")
        receive(conn, size - HEADER)
        conn.sendall(message(size))


def datagrams():
    conn = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
    conn.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
    conn.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, ROOM)
    conn.setsockopt(socket.IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_DONT)
    conn.setsockopt(socket.IPPROTO_UDP, UDP_SEGMENT, DATAGRAM)
    return conn


def send(conn, data, client):
    """Send all data at once if the device computes checksums."""
    try:
        if conn.getsockopt(socket.IPPROTO_UDP, UDP_SEGMENT):
            conn.sendto(data, client)
            return
    except OSError as error:
        if error.errno != errno.EIO:
            raise
        conn.setsockopt(socket.IPPROTO_UDP, UDP_SEGMENT, 0)
    for i in range(0, len(data), DATAGRAM):
        conn.sendto(data[i:i + DATAGRAM], client)


def answer_datagrams(conn):
    """The first bytes of a bundle of datagrams give its size. Answer with as many bytes when the
    whole bundle has arrived."""
    left = {}
    while True:
        data, client = conn.recvfrom(65536)
        if left.get(client, 0) <= 0:
            left[client] = size = int.from_bytes(data[:HEADER], "little")
        left[client] -= len(data)
        if left[client] <= 0:
            send(conn, message(size), client)


def sctp(family):
    conn = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_SCTP)
    conn.setsockopt(socket.IPPROTO_SCTP, SCTP_NODELAY, 1)
    return conn


def answer_sctp(listener):
    while True:
        threading.Thread(target=answer, args=(listener.accept()[0],), daemon=True).start()


def serve_sctp():
    try:
        listener = sctp(socket.AF_INET6)
    except OSError:
        return
    listener.bind(("", PORT))
    listener.listen(100)
    threading.Thread(target=answer_sctp, args=(listener,), daemon=True).start()


def serve(clients):
    conn = datagrams()
    conn.bind(("", PORT))
    threading.Thread(target=answer_datagrams, args=(conn,), daemon=True).start()
    serve_sctp()
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
    """A TCP connection to a server that may still be booting."""

    def __init__(self, address):
        for _ in range(600):
            try:
                self.conn = no_delay(socket.create_connection((address, PORT), 60))
                return
            except OSError:
                time.sleep(0.1)
        sys.exit("traffic.py: %s does not answer" % address)

    def request(self, size):
        self.send(message(size))
        if not receive(self.conn, size):
            sys.exit("traffic.py: connection lost")

    def send(self, data):
        self.conn.sendall(data)

    def close(self):
        self.conn.close()


class Datagrams(Stream):
    """Sends a large bundle of datagrams, then small ones, to a server that is already up."""

    def __init__(self, address):
        self.conn = datagrams()
        self.conn.settimeout(60)
        self.server = "::ffff:" + address if "." in address else address, PORT
        self.conn.connect(self.server)

    def send(self, data):
        send(self.conn, data, self.server)

    def request(self, size):
        """After the first bundle, data arrive faster than the server answers them."""
        super().request(max(HEADER, min(size, BUNDLE)))
        for left in range(size - BUNDLE, 0, -WINDOW):
            window = min(left, WINDOW)
            for i in range(window, 0, -PAIR):
                self.send(message(max(HEADER, min(i, PAIR))))
            if not receive(self.conn, window):
                sys.exit("traffic.py: datagrams lost")


class Messages(Stream):
    """Sends SCTP messages to a server that is already up."""

    def __init__(self, address):
        self.conn = sctp(socket.AF_INET6 if ":" in address else socket.AF_INET)
        self.conn.connect((address, PORT))

    def request(self, size):
        while size > 0:
            super().request(max(HEADER, min(size, MESSAGE)))
            size -= MESSAGE


KINDS = {"": Stream, "udp:": Datagrams, "sctp:": Messages}


def connect(address):
    kind = next(kind for kind in reversed(KINDS) if address.startswith(kind))
    return KINDS[kind](address[len(kind):])


def drive(seconds, rate, burst, times, bulk, addresses):
    conns = [connect(address) for address in addresses]
    start = time.monotonic()
    count = int(seconds * rate)
    turns = {count * (2 * i + 1) // (2 * times) for i in range(times) if bulk}
    for i in range(count):
        for _ in range(burst):
            conns[i % len(conns)].request(REQUEST)
        if i in turns:
            for conn in conns:
                conn.request(bulk)
        time.sleep(max(0, start + (i + 1) / rate - time.monotonic()))
    for conn in conns:
        conn.close()


def main():
    if sys.argv[1] == "serve":
        serve(int(sys.argv[2]))
    else:
        seconds, rate, burst = map(int, sys.argv[2:5])
        times, _, bulk = sys.argv[5].rpartition("x")
        drive(seconds, rate, burst, int(times or 1), int(bulk), sys.argv[6:])


main()
