#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""TCP traffic between two machines, interactive and bulk.

usage: traffic.py serve CLIENTS
       traffic.py drive SECONDS RATE BURST BULK ADDRESS...

"drive" sends, RATE times a second for SECONDS, BURST small requests to one
address after the other, each answered before the next one; halfway it moves
BULK bytes to each address and back. "serve" ends when CLIENTS connections have come and gone.
"""
import socket
import sys
import threading
import time

PORT = 5001
HEADER = 8
REQUEST = 64


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


def serve(clients):
    with socket.create_server(("", PORT), family=socket.AF_INET6,
                              dualstack_ipv6=True) as listener:
        threads = []
        for _ in range(clients):
            conn = no_delay(listener.accept()[0])
            threads.append(threading.Thread(target=answer, args=(conn,)))
            threads[-1].start()
    for thread in threads:
        thread.join()


def connect(address):
    """The other machine may take its time to come up."""
    for _ in range(600):
        try:
            return no_delay(socket.create_connection((address, PORT), 60))
        except OSError:
            time.sleep(0.1)
    sys.exit("traffic.py: %s does not answer" % address)


def request(conn, size):
    conn.sendall(size.to_bytes(HEADER, "little") + bytes(size - HEADER))
    if not receive(conn, size):
        sys.exit("traffic.py: connection lost")


def drive(seconds, rate, burst, bulk, addresses):
    conns = [connect(address) for address in addresses]
    start = time.monotonic()
    count = int(seconds * rate)
    for i in range(count):
        for _ in range(burst):
            request(conns[i % len(conns)], REQUEST)
        if i == count // 2 and bulk:
            for conn in conns:
                request(conn, bulk)
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
