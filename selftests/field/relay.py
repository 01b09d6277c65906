# SPDX-License-Identifier: GPL-2.0-only
"""Run a real relay daemon and netsync live, and stream sessions to the daemon.

A Session acts like LTTng's consumer daemon (protocol 2.13). It streams a ctf.Trace, completely
or up to a certain time.
"""
import contextlib
import json
import os
import pathlib
import re
import select
import signal
import socket
import struct
import subprocess
import sys
import time
import uuid

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))

from ktap import NETSYNC, check

ADD_STREAM, CREATE, VERSION, METADATA, CLOSE, INDEX, STREAMS_SENT = 1, 2, 5, 6, 7, 13, 16
ROTATE, CREATE_CHUNK, CLOSE_CHUNK = 18, 19, 20
OK = 10
NONE = 2**64 - 1
PATIENCE = 30


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Relayd:
    """lttng-relayd, with its own ports on this machine."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.control, self.data, self.live = (free_port() for _ in range(3))
        self.url = "net://127.0.0.1:%d" % self.live
        self.process = None

    def start(self):
        run = self.folder / "run"
        run.mkdir(parents=True, exist_ok=True)
        environment = dict(os.environ, LTTNG_HOME=str(self.folder),
                           LTTNG_RUNDIR=str(run),
                           LTTNG_RELAYD_HEALTH=str(run / "health"))
        tcp = "tcp://127.0.0.1:%d"
        self.process = subprocess.Popen(
            ["lttng-relayd", "-C", tcp % self.control, "-D", tcp % self.data,
             "-L", tcp % self.live, "-o", self.folder / "traces"],
            env=environment, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for port in self.control, self.data, self.live:
            while True:
                with contextlib.suppress(ConnectionRefusedError):
                    socket.create_connection(("127.0.0.1", port)).close()
                    break
                time.sleep(0.02)
        return self

    def viewers(self):
        """Return the number of sessions that have a viewer."""
        out = subprocess.run(["babeltrace2", "--input-format=lttng-live", self.url],
                             capture_output=True, text=True, check=True).stdout
        return out.count("1 client(s) connected")

    def wait_for_viewers(self, number):
        while self.viewers() != number:
            time.sleep(0.05)

    def stop(self):
        if self.process:
            self.process.kill()
            self.process.wait()
        self.process = None

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.stop()


class Session:
    """A session of one host. It streams the data that a test has added to its trace."""

    count = 0

    def __init__(self, relayd, trace, name="live", timer_us=1_000_000,
                 streams=(0, 1)):
        self.trace, self.name = trace, name
        self.sent = {stream: 0 for stream in streams}
        self.seq = {stream: 0 for stream in streams}
        self.control = socket.create_connection(("127.0.0.1", relayd.control))
        self.data = socket.create_connection(("127.0.0.1", relayd.data))
        self._ask(VERSION, struct.pack(">II", 2, 13), 8)
        names = name.encode() + b"\0", trace.hostname.encode() + b"\0"
        Session.count += 1
        answer = self._ask(CREATE, struct.pack(
            ">IIIIBB16sQQBQ", len(names[0]), len(names[1]), 0, timer_us, 0, 0,
            uuid.uuid4().bytes, Session.count, int(time.time()) + Session.count,
            0, 0) + b"".join(names), 16)
        _, status, length = struct.unpack(">QII", answer)
        assert status == OK, status
        self._receive(length)
        self._do(CREATE_CHUNK, struct.pack(">QQI", 0, int(time.time()), 0))
        self.handle = {stream: self._add("channel0_%d" % stream) for stream in streams}
        self.metadata = self._add("metadata")
        self._do(STREAMS_SENT, b"")
        text = trace.metadata().encode()
        self._tell(METADATA, struct.pack(">QI", self.metadata, 0) + text)

    def _tell(self, command, payload):
        self.control.sendall(struct.pack(">QQII", 0, len(payload), command, 0) + payload)

    def _receive(self, size):
        answer = b""
        while len(answer) < size:
            part = self.control.recv(size - len(answer))
            if not part:
                raise ConnectionError("the relay daemon closed the connection")
            answer += part
        return answer

    def _ask(self, command, payload, size):
        self._tell(command, payload)
        return self._receive(size)

    def _do(self, command, payload):
        status = struct.unpack(">I", self._ask(command, payload, 4))[0]
        assert status == OK, (command, status)

    def _add(self, channel):
        names = channel.encode() + b"\0", b"kernel\0"
        answer = self._ask(ADD_STREAM, struct.pack(
            ">IIQQQ", len(names[0]), len(names[1]), 0, 0, 0) + b"".join(names), 12)
        handle, status = struct.unpack(">QI", answer)
        assert status == OK, status
        return handle

    def _index(self, stream, seq, packet_bits, content_bits, begin, end):
        self._do(INDEX, struct.pack(
            ">10Q", self.handle[stream], seq, packet_bits, content_bits, begin,
            end, 0, 0, stream, seq))

    def send(self, until=None):
        """
        Send the part of the trace before a time (in the units that netsync prints) and
        nothing later, as LTTng's live timer does.
        """
        clock = None if until is None else \
            (until - self.trace.epoch) * self.trace.freq // 10**9
        for stream, handle in self.handle.items():
            events = sorted(self.trace.streams.get(stream, []))
            while self.sent[stream] < len(events):
                part = events[self.sent[stream]:][:self.trace.per_packet]
                if clock is not None:
                    part = [event for event in part if event[0] < clock]
                if not part:
                    break
                seq = self.seq[stream]
                packet, used = self.trace.packet(stream, part, seq)
                self.data.sendall(struct.pack(">QQQII", 0, handle, seq,
                                              len(packet), 0) + packet)
                self._index(stream, seq, len(packet) * 8, used * 8,
                            part[0][0], part[-1][0])
                self.seq[stream] += 1
                self.sent[stream] += len(part)
            if clock is not None:
                # Report without a packet that there are no events before this time.
                self._index(stream, NONE, 0, 0, 0, clock)
        return self

    def close(self):
        """Send all data, and then destroy the session."""
        handles = [*self.handle.items(), (None, self.metadata)]
        self._do(ROTATE, struct.pack(">IBQ", len(handles), 0, 0) + b"".join(
            struct.pack(">QQ", handle, self.seq.get(stream, 0))
            for stream, handle in handles))
        for stream, handle in handles:
            last = self.seq[stream] - 1 if self.seq.get(stream) else NONE
            self._do(CLOSE, struct.pack(">QQ", handle, last))
        answer = self._ask(CLOSE_CHUNK, struct.pack(
            ">QQBI", 0, int(time.time()), 0, 0), 8)
        self._receive(struct.unpack(">II", answer)[1])
        self.abandon()

    def abandon(self):
        """Make the host disappear without closing the session."""
        self.control.close()
        self.data.close()


class Live:
    """A run of netsync live."""

    def __init__(self, folder, *arguments):
        self.result = folder / "live.json"
        self.err = folder / "live.err"
        with open(self.err, "wb") as err:
            self.process = subprocess.Popen(
                [NETSYNC, "live", "--format", "json-lines", "--interval", "200ms",
                 "--output", self.result, "--force", *map(str, arguments)],
                stdout=subprocess.PIPE, stderr=err, text=True)
        self.line = None

    def wait_for(self, what, condition):
        """Wait until the output fulfils the condition. Report @what if it never does."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            if not select.select([self.process.stdout], [], [], 1)[0]:
                continue
            text = self.process.stdout.readline()
            check(text, "ended while waiting for", what, self.said())
            self.line = json.loads(text)
            if condition(self.line):
                return self.line
        raise AssertionError("waited for %s, but: %s %s" % (what, self.line, self.said()))

    def wait_to_say(self, words):
        end = time.monotonic() + PATIENCE
        while words not in self.said():
            check(time.monotonic() < end, "never said:", words, "but:", self.said())
            time.sleep(0.05)

    def wait_for_packets(self, **least):
        """Wait until each named host has at least this many packets, and check that no other
        hosts appear."""
        def met(line):
            packets = {host["name"]: host["packets"] for host in line["hosts"]}
            return packets.keys() == least.keys() and \
                all(packets[name] >= number for name, number in least.items())
        return self.wait_for(least, met)

    def wait_for_end(self):
        return self.wait_for("the end", lambda line: line["hosts"] and not any(
            host["running"] for host in line["hosts"]))

    def children(self):
        return subprocess.run(["pgrep", "-P", str(self.process.pid)],
                              capture_output=True, text=True, check=False).stdout.split()

    def memory(self):
        """
        Return the memory use of the process and its children, KiB. Shared memory is
        counted once.
        """
        total = 0
        for pid in [str(self.process.pid), *self.children()]:
            with contextlib.suppress(OSError):
                text = pathlib.Path("/proc", pid, "smaps_rollup").read_text()
                total += int(re.search(r"^Pss: +(\d+)", text, re.MULTILINE)[1])
        return total

    def said(self):
        return self.err.read_text()

    def end(self, status=0):
        self.process.send_signal(signal.SIGINT)
        self.process.stdout.read()
        check(self.process.wait(PATIENCE) == status, self.process.returncode, self.said())
        return json.loads(self.result.read_text())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()
