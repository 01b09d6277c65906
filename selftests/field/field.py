# SPDX-License-Identifier: GPL-2.0-only
"""Hosts to record, which are namespaces of this machine, and checks that nothing is left on
them."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
TOP = HERE.parent.parent
sys.path.insert(0, str(TOP / "selftests" / "tools"))
from ktap import case, check, main  # noqa: E402

# Names that tests import from this file.
__all__ = ["case", "check", "main"]

NETSYNC = os.environ.get("NETSYNC", str(TOP / "build" / "netsync"))
NAMESPACES = ["unshare", "--mount", "--uts", "--ipc", "--net", "--pid", "--fork",
              "--kill-child", "--mount-proc"]
# Limit for all waiting, s. Machines may be slow and busy with other tests.
PATIENCE = 60


def enter():
    """Continue in separate namespaces that have a bridge for the hosts."""
    if os.environ.get("NETSYNC_FIELD"):
        return
    if os.geteuid():
        print("TAP version 13\n1..0 # SKIP only root may make network namespaces")
        sys.exit(4)
    os.environ["NETSYNC_FIELD"] = "1"
    os.execvp("unshare", NAMESPACES + [sys.executable] + sys.argv)


def run(*command, **options):
    return subprocess.run([str(c) for c in command], check=True, **options)


def wait_for(what, condition, seconds=PATIENCE):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise AssertionError("waited in vain: " + what)
        time.sleep(0.05)

# Size of the header of an LTTng index file, bytes.
INDEX_HEADER = 16


class Field:
    """The controlling machine and a network to its hosts."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.hosts = {}
        self.added = 0
        run("mount", "-t", "tmpfs", "tmpfs", "/run")
        run("mount", "-t", "tmpfs", "tmpfs", "/dev/shm")
        run("ip", "link", "set", "lo", "up")
        run("ip", "link", "add", "bridge", "type", "bridge")
        run("ip", "addr", "add", "10.77.0.254/24", "dev", "bridge")
        run("ip", "link", "set", "bridge", "up")
        for key in ("key", "host-key"):
            run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", self.folder / key)
        self.configure()
        (self.folder / "bin").mkdir()
        ssh = self.folder / "bin" / "ssh"
        ssh.write_text(f'#!/bin/sh\nexec {shutil.which("ssh")} -F {self.folder}/ssh.conf "$@"\n')
        ssh.chmod(0o755)
        self.env = dict(os.environ, PATH=f"{self.folder}/bin:" + os.environ["PATH"])

    def configure(self):
        """Write ssh's configuration for the hosts."""
        lines = ["Host *", f"  IdentityFile {self.folder}/key", "  UserKnownHostsFile /dev/null",
                 "  StrictHostKeyChecking no", "  LogLevel ERROR"]
        for name, host in self.hosts.items():
            lines += [f"Host {name}", f"  HostName {host.address}"]
        (self.folder / "ssh.conf").write_text("\n".join(lines) + "\n")

    def add(self, name, *sshd_options, hostname=None, **env):
        # The network of a closed host may still answer for a while, so do not reuse its address.
        self.added += 1
        host = Host(self, name, self.added, sshd_options, hostname or name, env)
        self.hosts[name] = host
        self.configure()
        return host

    def record(self, *arguments, **options):
        """Start netsync record."""
        return subprocess.Popen(
            [NETSYNC, "record", "--remote-netsync", NETSYNC, *map(str, arguments)],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env=self.env, text=True, cwd=self.folder, **options)

    def close(self):
        for host in self.hosts.values():
            host.close()
        run("ip", "link", "del", "bridge")


# Time limit for "lttng list", s. LTTng's daemons can hang, and the command then hangs, too.
PATIENCE_S = 120


class Host:
    def __init__(self, field, name, number, sshd_options, hostname, env):
        self.field, self.name = field, name
        self.address = f"10.77.0.{number}"
        up = field.folder / f"{hostname}.up"
        up.unlink(missing_ok=True)
        self.process = subprocess.Popen(
            NAMESPACES + [HERE / "host", hostname, self.address, field.folder, *sshd_options],
            env=dict(os.environ, **env), stdin=subprocess.DEVNULL,
            stdout=open(field.folder / f"{name}.log", "w", encoding="utf-8"),
            stderr=subprocess.STDOUT)
        self.pid = 0
        wait_for("the namespaces of " + name, self.find_init)
        # The namespace of a killed host takes a while to disappear.
        port = f"port{self.pid}"
        run("ip", "link", "add", port, "type", "veth", "peer", "name", "eth0",
            "netns", str(self.pid))
        run("ip", "link", "set", port, "master", "bridge", "up")
        wait_for("sshd of " + name, up.exists)

    def find_init(self):
        """Find the first process of the host, once it has its own namespaces."""
        done = subprocess.run(["pgrep", "-P", str(self.process.pid)], check=False,
                              capture_output=True, text=True)
        self.pid = int(done.stdout.split()[0]) if done.stdout else 0
        try:
            return self.pid and os.readlink(f"/proc/{self.pid}/ns/net") != \
                os.readlink("/proc/self/ns/net") and \
                "host" in pathlib.Path(f"/proc/{self.pid}/cmdline").read_text(encoding="utf-8")
        except FileNotFoundError:
            return False

    def run(self, *command, check=True):
        """Run a command on the host, and return its output."""
        return subprocess.run(
            ["nsenter", "--target", str(self.pid), "--all", "--root", "--wd=/", "env",
             "HOME=/run/home", *map(str, command)],
            check=check, capture_output=True, text=True, timeout=PATIENCE_S).stdout

    def kill(self, pattern):
        """Kill the oldest process with a matching command line."""
        self.run("pkill", "-KILL", "-o", "-f", pattern)

    def leftovers(self, sessions=True):
        """List leftovers of a recording. If the host has no @sessions, do not ask LTTng for
        them."""
        found = []
        for line in self.run("ps", "-eo", "args").splitlines():
            if re.search("netsync[- ]agent|lttng-relayd|@notty", line):
                found.append(line)
        if sessions and "netsync" in self.run("lttng", "list", check=False):
            found.append("a session")
        found += self.run("ls", "/var/tmp").split()
        return found

    def close(self):
        self.process.kill()
        self.process.wait()


# Exit status of a recording without packets, which cannot be synchronized.
RECORDED = 2


def processes():
    """List processes of a recording on this machine."""
    done = subprocess.run(["pgrep", "--ns", str(os.getpid()), "--nslist", "pid", "-r", "D,R,S",
                           "-af", "ssh -T|lttng-relayd|netsync[- ]agent"],
                          check=False, capture_output=True, text=True)
    return done.stdout


class Recording:
    """A run of netsync record, with its messages. It must leave nothing behind."""

    def __init__(self, field, process, said="", timeout=120):
        self.out, self.err = process.communicate(timeout=timeout)
        self.err = said + self.err
        self.status = process.returncode
        self.folder = field.folder / "out"
        for host in field.hosts.values():
            check(not host.leftovers(), host.name, "has left", host.leftovers(), self.err)
        left = processes()
        check(not left, "left here:", left, self.err)

    def expect(self, status, *words):
        check(self.status == status, "exit status", self.status, "not", status, self.err)
        for word in words:
            check(word in self.err, "not said:", repr(word), "but:", self.err)
        return self

    def events(self, host):
        """Return the total number of events in the traces of a host."""
        done = subprocess.run(["babeltrace2", self.folder / host], check=False,
                              capture_output=True)
        check(done.returncode == 0, host, "cannot be read:", done.stderr)
        return done.stdout.count(b"\n")

    def has(self, *hosts):
        found = sorted(os.listdir(self.folder))
        check(found == sorted([*hosts, "sync.json"]), found, self.err)
        for host in hosts:
            check(self.events(host) > 100, host, self.events(host), self.err)
        open_to = [str(path) for path in [self.folder, *self.folder.rglob("*")]
                   if path.stat().st_mode & 0o077]
        check(not open_to, "others can read:", open_to)
        return self


def nonsense(field, kind, request):
    """Install an invalid netsync on the host "bad"."""
    path = field.folder / "nonsense"
    path.write_text("#!/bin/sh\n"
                    f"[ $(hostname) = bad ] || exec {NETSYNC} \"$@\"\n"
                    f"NETSYNC={NETSYNC} exec {HERE}/nonsense {kind} {request}\n")
    path.chmod(0o755)
    return path


def with_hosts(*names):
    """Run a case with a field of these hosts."""
    def decorate(function):
        def run_case(folder):
            field = Field(folder)
            try:
                for name in names:
                    field.add(name)
                function(field)
            finally:
                field.close()
        run_case.__name__, run_case.__doc__ = function.__name__, function.__doc__
        return case(run_case)
    return decorate


def until_said(process, words):
    """Wait until a message contains @words; return all messages until then."""
    said = ""
    while words not in said:
        line = process.stderr.readline()
        check(line, "it ended:", said)
        said += line
    return said


def started(process):
    """Wait until recording has begun, and return all messages until then."""
    return until_said(process, "recording on")


# A command that runs until the test has created a file, however long that takes.
UNTIL_DONE = ["sh", "-c", "until [ -e done ]; do sleep 0.1; done; rm done"]


def end_command(field):
    (field.folder / "done").touch()


def can_be_read(session):
    """
    Has a relay daemon event packets of a session, and its metadata, which LTTng sends
    every five seconds?
    """
    return any(b"event {" in file.read_bytes() for file in session.rglob("metadata")) and \
        any(file.stat().st_size > INDEX_HEADER for file in session.rglob("*.idx"))


def wait_for_traces(field, *hosts, number=1):
    """
    Wait until something of this session can be read for each host, and then for a time
    between two transmissions of metadata. If the relay daemon is lost while metadata is
    requested, lttng-consumerd 2.13.9 can deadlock.
    """
    incoming = field.folder / "out" / "+incoming"
    for host in hosts:
        wait_for("a trace of " + host, lambda host=host: any(
            map(can_be_read, incoming.glob(f"*-{host}-{number}"))))
    time.sleep(2)
