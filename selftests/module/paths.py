#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""usage: paths.py CASE [ARGUMENT...]

Send packets that take unusual paths through the network stack.

  serve ADDRESS PORT      accept connections one by one, read a line, close
  again ADDRESS PORT      connect to that twice from one port
  raw FROM TO COUNT       datagrams with own IP headers, some of them nonsense
  loop ADDRESS COUNT      multicasts that come back
  tun|tap FROM TO COUNT   datagrams that come in by such a device, and go out
  generate DEVICE MODE    20 datagrams of pktgen, sent or received by a device
  xdp PIN                 a program for generic XDP that passes everything
"""
import ctypes
import fcntl
import os
import socket
import struct
import subprocess
import sys
import time

UDP_PORT = 6000
# The system call number of bpf(2), for which libc has no function.
BPF = {"x86_64": 321, "aarch64": 280, "s390x": 351, "i686": 357}


def checksum(data):
    total = sum(struct.unpack(">%dH" % (len(data) // 2), data))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return ~total & 0xffff


def datagram(source, target, number, version=0x45):
    payload = b"number %06d" % number
    udp = struct.pack(">HHHH", UDP_PORT, UDP_PORT, 8 + len(payload), 0) + payload
    head = struct.pack(">BBHHHBBH4s4s", version, 0, 20 + len(udp), number, 0, 64,
                       17, 0, socket.inet_aton(source), socket.inet_aton(target))
    return head[:10] + struct.pack(">H", checksum(head)) + head[12:] + udp


def serve(address, port):
    server = socket.create_server((address, int(port)))
    print("ready", file=sys.stderr, flush=True)
    while True:
        peer = server.accept()[0]
        peer.recv(100)
        peer.close()


def again(address, port):
    for _ in range(2):
        client = socket.socket()
        client.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        client.bind(("", 4444))
        client.connect((address, int(port)))
        client.send(b"x")
        assert client.recv(1) == b""
        client.close()
        time.sleep(1.2)


def raw(source, target, count):
    out = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW)
    for i in range(int(count)):
        out.sendto(datagram(source, target, i), (target, 0))
    for version in 0x4f, 0x40, 0x65, 0x05:
        for size in 20, 24, 28, 40:
            try:
                out.sendto(datagram(source, target, 1, version)[:size], (target, 0))
            except OSError:
                pass


def loop(address, count):
    member = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    member.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP,
                      socket.inet_aton("239.1.1.1") + socket.inet_aton(address))
    member.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF,
                      socket.inet_aton(address))
    member.bind(("", UDP_PORT))
    for _ in range(int(count)):
        member.sendto(b"around", ("239.1.1.1", UDP_PORT))
        assert member.recv(100) == b"around"


def device(kind, source, target, count):
    flags = {"tun": 1, "tap": 2}[kind] | 0x1000
    fd = os.open("/dev/net/tun", os.O_RDWR)
    fcntl.ioctl(fd, 0x400454ca, struct.pack("16sH22x", kind.encode(), flags))
    subprocess.run(f"ip addr add {target}/24 dev {kind}; ip link set {kind} up;"
                   f"ip neigh add {source} lladdr 02:00:00:00:00:77 dev {kind}",
                   shell=True, stderr=subprocess.DEVNULL, check=False)
    link = b""
    if kind == "tap":
        with open("/sys/class/net/tap/address", encoding="ascii") as text:
            mac = bytes.fromhex(text.read().strip().replace(":", ""))
        link = mac + b"\2\0\0\0\0\x77\x08\0"
    out = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    out.bind((target, UDP_PORT))
    for i in range(int(count)):
        os.write(fd, link + datagram(source, target, i))
        out.recv(100)
        out.sendto(b"answer", (source, UDP_PORT))
    for size in range(14, 41):
        try:
            os.write(fd, (link + datagram(source, target, 1))[:size])
        except OSError:
            pass


def generate(name, mode):
    """pktgen accepts one command per write."""
    def tell(path, *commands):
        for command in commands:
            with open("/proc/net/pktgen/" + path, "w", encoding="ascii") as file:
                file.write(command + "\n")

    with open(f"/sys/class/net/{name}/address", encoding="ascii") as text:
        mac = text.read().strip()
    tell("kpktgend_0", "rem_device_all", "add_device " + name)
    tell(name, "xmit_mode " + mode, "count 20", "pkt_size 100", "dst 10.1.0.1",
         "dst_mac " + mac, "udp_dst_min 7", "udp_dst_max 7")
    tell("pgctrl", "start")
    tell("kpktgend_0", "rem_device_all")


def xdp(pin):
    """r0 = XDP_PASS; exit"""
    code = ctypes.create_string_buffer(struct.pack("=BBhiBBhi", 0xb7, 0, 0, 2,
                                                   0x95, 0, 0, 0))
    name = ctypes.create_string_buffer(b"GPL")
    load = struct.pack("=IIQQIIQII", 6, 2, ctypes.addressof(code),
                       ctypes.addressof(name), 0, 0, 0, 0, 0).ljust(128, b"\0")
    libc = ctypes.CDLL(None, use_errno=True)
    bpf = BPF[os.uname().machine]
    fd = libc.syscall(bpf, 5, load, len(load))
    path = ctypes.create_string_buffer(pin.encode())
    attr = struct.pack("=QI", ctypes.addressof(path), max(fd, 0)).ljust(128, b"\0")
    if fd < 0 or libc.syscall(bpf, 6, attr, len(attr)):
        sys.exit(os.strerror(ctypes.get_errno()))


CASES = {"serve": serve, "again": again, "raw": raw, "loop": loop, "xdp": xdp,
         "generate": generate, "tun": lambda *a: device("tun", *a),
         "tap": lambda *a: device("tap", *a)}
CASES[sys.argv[1]](*sys.argv[2:])
