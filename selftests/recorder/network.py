# SPDX-License-Identifier: GPL-2.0-only
"""Two network namespaces, in which netsync-recorder records real packets; and what is in these."""
import contextlib
import os
import pathlib
import shutil
import signal
import struct
import subprocess
import time

from ktap import Skip, check

TOP = pathlib.Path(__file__).resolve().parent.parent.parent
RECORDER = TOP / "build/netsync-recorder"
HOSTS = ("web", "db")
ADDRESSES = {"web": ("10.8.0.1", "fd08::1"), "db": ("10.8.0.2", "fd08::2")}
# A client and a server program, one for each host. Both use IPv4 and IPv6.
TALK = """
import socket, sys
family, address, port, rounds, size = sys.argv[1:]
family = socket.AF_INET6 if family == "6" else socket.AF_INET
data = b"secret" * (int(size) // 6)
with socket.create_connection((address, int(port))) as s:
    for _ in range(int(rounds)):
        s.sendall(data)
        left = len(data)
        while left:
            left -= len(s.recv(left))
"""
SERVE = """
import socket, threading
def echo(s):
    with s:
        while data := s.recv(65536):
            s.sendall(data)
listener = socket.create_server(("::", PORT), family=socket.AF_INET6, dualstack_ipv6=True)
print("ready", flush=True)
while True:
    threading.Thread(target=echo, args=(listener.accept()[0],), daemon=True).start()
"""


def needs_namespaces():
    if os.geteuid():
        raise Skip("network namespaces need root")
    done = subprocess.run(["unshare", "-n", "true"], check=False, capture_output=True, text=True)
    if done.returncode:
        raise Skip(f"there are no network namespaces here: {done.stderr.strip()}")


def lacks_bpf():
    """Return the reason why the source bpf cannot be used on this machine, or an empty text."""
    done = subprocess.run([RECORDER, "--via", "bpf", "-d", "0.01"], check=False, text=True,
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    return done.stderr.strip() if done.returncode == 1 else ""


@contextlib.contextmanager
def control_group():
    """Create a control group of version 2."""
    mounts = pathlib.Path("/proc/mounts").read_text().splitlines()
    where = [m.split()[1] for m in mounts if m.split()[2] == "cgroup2"]
    if not where:
        raise Skip("no control groups of version 2 are mounted")
    group = pathlib.Path(where[0], f"netsync-{os.getpid()}")
    try:
        group.mkdir()
    except OSError as error:
        raise Skip(f"{group}: {error.strerror}") from error
    try:
        yield group
    finally:
        for _ in range(50):
            with contextlib.suppress(OSError):
                group.rmdir()
                break
            time.sleep(0.1)


def sources():
    """Return the sources that work on this machine. test_bpf reports why the source bpf does not
    work."""
    return ("packet",) if lacks_bpf() else ("packet", "bpf")


class Network:
    """
    Two network namespaces that act as hosts connected by a cable. Recorders use the source
    @via.
    """

    def __init__(self, via="packet"):
        needs_namespaces()
        self.names = {host: f"netsync-{os.getpid()}-{host}" for host in HOSTS}
        self.via = via
        self.running = []

    def __enter__(self):
        for name in self.names.values():
            subprocess.run(["ip", "netns", "add", name], check=True)
        self.ip("web", "link", "add", "eth0", "type", "veth", "peer", "name", "eth0", "netns",
                self.names["db"])
        for host in HOSTS:
            for address, size in zip(ADDRESSES[host], ("/24", "/64")):
                self.ip(host, "address", "add", address + size, "dev", "eth0",
                        *(("nodad",) if ":" in address else ()))
            for device in "lo", "eth0":
                self.ip(host, "link", "set", device, "up")
        return self

    def __exit__(self, *_):
        for process in self.running:
            if process.poll() is None:
                process.kill()
            process.communicate()
        for name in self.names.values():
            subprocess.run(["ip", "netns", "delete", name], check=False)

    def ip(self, host, *words):
        subprocess.run(["ip", "-n", self.names[host], *words], check=True)

    def on(self, host, *words):
        return ["ip", "netns", "exec", self.names[host], *map(str, words)]

    def start(self, host, *words, **options):
        process = subprocess.Popen(self.on(host, *words), stderr=subprocess.PIPE, **options)
        self.running.append(process)
        return process

    def record(self, host, path, *options, **popen):
        """
        Start a recorder. Return its process after the process has written the start of its
        capture.
        """
        process = self.start(host, RECORDER, "--via", self.via, "-o", path, *options,
                             **popen)
        self.wait_for(process, path)
        return process

    @staticmethod
    def wait_for(process, path):
        end = time.monotonic() + 30
        while not (path.exists() and path.stat().st_size) and time.monotonic() < end:
            check(process.poll() is None, process.poll(),
                  process.poll() is not None and process.stderr.read())
            time.sleep(0.01)

    def serve(self, port=5001):
        server = self.start("db", "python3", "-c", SERVE.replace("PORT", str(port)),
                            stdout=subprocess.PIPE)
        check(server.stdout.readline() == b"ready\n")
        return server

    def talk(self, *arguments):
        """Run the program TALK with @arguments on the host web."""
        subprocess.run(self.on("web", "python3", "-c", TALK, *arguments), check=True, timeout=60)

    def stop(self, process, number=signal.SIGINT, status=0):
        process.send_signal(number)
        _, err = process.communicate(timeout=30)
        check(process.returncode == status, process.returncode, err.decode())
        return err.decode()


def tshark(path, *words):
    if not shutil.which("tshark"):
        raise Skip("this needs tshark")
    done = subprocess.run(["tshark", "-r", path, *words], check=False, capture_output=True,
                          text=True)
    check(done.returncode == 0, done.stderr)
    return done.stdout


def judge_capture(path):
    """
    Wireshark's own readers find nothing wrong with a capture. Return: what capinfos
    prints, by heading.
    """
    bad = tshark(path, "-Y", "_ws.malformed || _ws.expert.severity == error")
    check(not bad, path, bad[:2000])
    done = subprocess.run(["capinfos", path], check=False, capture_output=True, text=True)
    check(done.returncode == 0 and not done.stderr.replace("Running as user \"root\"", ""), done.stderr)
    return {name.strip(): text.strip() for name, _, text in
            (line.partition(":") for line in done.stdout.splitlines())}


class Frame:
    """
    A packet in a capture: its device (name, namespace), direction, captured bytes and
    original size.
    """

    def __init__(self, device, time_ns, data, original, is_out):
        self.device, self.time_ns, self.data = device, time_ns, data
        self.original, self.is_out = original, is_out

    def key(self):
        return self.device, self.is_out, self.data, self.original


class Capture:
    """A pcapng capture in this machine's byte order: its frames, devices and packet counts."""

    def __init__(self, path):
        data, at, self.devices, self.frames, self.counts = path.read_bytes(), 0, [], [], None
        while at < len(data):
            kind, size = struct.unpack_from("=II", data, at)
            check(size >= 12 and size % 4 == 0 and at + size <= len(data), path, at, size)
            self.take(kind, data[at + 8:at + size - 4])
            at += size

    @staticmethod
    def options(body):
        at, found = 0, {}
        while at + 4 <= len(body):
            code, size = struct.unpack_from("=HH", body, at)
            found[code] = body[at + 4:at + 4 + size]
            at += 4 + (size + 3) // 4 * 4
        return found

    def take(self, kind, body):
        if kind == 1:
            texts = self.options(body[8:])
            space = int(texts[3].decode().rsplit(" ", 1)[1])
            self.devices.append((texts[2].decode(), space))
        elif kind == 6:
            device, high, low, kept, original = struct.unpack_from("=IIIII", body)
            flags = struct.unpack("=I", self.options(body[20 + (kept + 3) // 4 * 4:])[2])[0]
            self.frames.append(Frame(self.devices[device], high << 32 | low,
                                     body[20:20 + kept], original, flags & 3 == 2))
        elif kind == 5:
            texts = self.options(body[12:])
            self.counts = tuple(struct.unpack("=Q", texts[code])[0] for code in (4, 7))
