# SPDX-License-Identifier: GPL-2.0-only
"""Two hosts that have only sshd: network namespaces, each with a link to a third one, from which
netsync records them by OpenSSH."""
import contextlib
import ctypes
import json
import os
import pathlib
import re
import shutil
import signal
import struct
import subprocess
import time

from ktap import NETSYNC, Skip, check
from network import ADDRESSES, HOSTS, Network

SSHD = "/usr/sbin/sshd"
# Links to the machine that records, which no traffic between the hosts uses.
CONTROL = {"web": "10.9.1", "db": "10.9.2"}
# Files of each network namespace (ip-netns(8)).
NAMED = pathlib.Path("/etc/netns")
# Folders in which a program could be left; each host has its own.
PLACES = ("/dev/shm", "/run", "/var/tmp")
SSHD_CONFIG = """
Port 22
HostKey FOLDER/host_key
AuthorizedKeysFile FOLDER/key.pub
PidFile none
StrictModes no
UsePAM no
PermitRootLogin prohibit-password
"""
SSH_CONFIG = """
Host web
	HostName 10.9.1.2
Host db
	HostName 10.9.2.2
Host *
	User root
	IdentityFile FOLDER/key
	IdentitiesOnly yes
	StrictHostKeyChecking no
	UserKnownHostsFile /dev/null
	LogLevel ERROR
"""
BPF_CALL = {"x86_64": 321, "aarch64": 280, "s390x": 351}
BPF_PROG_GET_NEXT_ID, BPF_PROG_GET_FD_BY_ID, BPF_OBJ_GET_INFO_BY_FD = 11, 13, 15
# Offset and size of the name in struct bpf_prog_info.
PROGRAM_NAME = slice(64, 80)


def call_bpf(command, *words):
    """@words: of 32 bits, at the begin of union bpf_attr. Its first word after the call, and the
    result."""
    attributes = ctypes.create_string_buffer(struct.pack(f"={len(words)}I", *words), 128)
    libc = ctypes.CDLL(None, use_errno=True)
    result = libc.syscall(BPF_CALL[os.uname().machine], command, attributes, 128)
    return result, struct.unpack_from("=2I", attributes)[1]


def bpf_programs():
    """Programs in the kernel: number -> name."""
    found, number = {}, 0
    while os.uname().machine in BPF_CALL:
        result, number = call_bpf(BPF_PROG_GET_NEXT_ID, number)
        if result < 0:
            break
        fd, _ = call_bpf(BPF_PROG_GET_FD_BY_ID, number)
        if fd < 0:
            continue
        info = ctypes.create_string_buffer(PROGRAM_NAME.stop)
        address = ctypes.addressof(info)
        call_bpf(BPF_OBJ_GET_INFO_BY_FD, fd, PROGRAM_NAME.stop, address & 0xffffffff, address >> 32)
        os.close(fd)
        found[number] = info.raw[PROGRAM_NAME].rstrip(b"\0").decode()
    return found


def programs_of_others(own):
    """Numbers of BPF programs that processes other than @own have, such as another recording."""
    found = set()
    for path in pathlib.Path("/proc").glob("[0-9]*/fdinfo/*"):
        with contextlib.suppress(OSError):
            if int(path.parts[2]) not in own:
                found |= set(map(int, re.findall(r"prog_id:\s*(\d+)", path.read_text())))
    return found


class Servers(Network):
    """Two hosts with sshd, and a machine that reaches them by ssh."""

    def __init__(self, folder):
        super().__init__()
        if not os.path.exists(SSHD) or not shutil.which("ssh"):
            raise Skip("this needs openssh-client and openssh-server")
        self.folder, self.out = folder, folder / "out"
        self.names["user"] = f"netsync-{os.getpid()}-user"
        self.named = {host: NAMED / self.names[host] for host in HOSTS}
        self.sshd = {}
        for key in "host_key", "key":
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", folder / key],
                           check=True)
        for name, text in ("sshd_config", SSHD_CONFIG), ("ssh_config", SSH_CONFIG):
            (folder / name).write_text(text.replace("FOLDER", str(folder)))
        self.ssh = folder / "bin/ssh"
        self.ssh.parent.mkdir()
        self.ssh.write_text(f'#!/bin/sh\nexec {shutil.which("ssh")} -F {folder}/ssh_config "$@"\n')
        self.ssh.chmod(0o755)
        self.env = os.environ | {"PATH": f"{self.ssh.parent}:{os.environ['PATH']}"}

    def __enter__(self):
        super().__enter__()
        for host in HOSTS:
            # ip-netns(8) mounts the files of this folder for the processes that it starts.
            self.named[host].mkdir(parents=True)
            (self.named[host] / "hosts").write_text("127.0.0.1 localhost\n" + "".join(
                f"{ADDRESSES[other][0]} {other}\n" for other in HOSTS))
            self.ip("user", "link", "add", host, "type", "veth", "peer", "name", "control", "netns",
                    self.names[host])
            for end, device, number in ("user", host, 1), (host, "control", 2):
                self.ip(end, "address", "add", f"{CONTROL[host]}.{number}/24", "dev", device)
                self.ip(end, "link", "set", device, "up")
            self.start_sshd(host)
        self.ip("user", "link", "set", "lo", "up")
        self.before = self.state()
        return self

    def __exit__(self, *what):
        # Processes of a broken connection would have the output of sshd for long.
        for host in HOSTS:
            for pid in self.processes(host):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        for folder in self.named.values():
            shutil.rmtree(folder)
        with contextlib.suppress(OSError):
            NAMED.rmdir()
        return super().__exit__(*what)

    def restrict(self, host):
        """Whoever logs in next has no rights, on an old kernel without BTF that is locked down."""
        fake = self.folder / "fake"
        fake.mkdir()
        (fake / "uname").write_text('#!/bin/sh\n[ "$1" = -r ] && echo 5.4.0-9 || exec /bin/uname "$@"\n')
        (fake / "uname").chmod(0o755)
        script = self.folder / "restricted"
        script.write_text(f"""#!/bin/sh
mount -t tmpfs none /sys/kernel/btf
mount -t tmpfs none /sys/kernel/security
echo "none integrity [confidentiality]" > /sys/kernel/security/lockdown
export PATH={fake}:$PATH
exec setpriv --bounding-set -all --inh-caps -all sh -c "$SSH_ORIGINAL_COMMAND"
""")
        script.chmod(0o755)
        with open(self.folder / "sshd_config", "a", encoding="ascii") as config:
            config.write(f"ForceCommand unshare -m {script}\n")
        self.running.remove(self.sshd[host])
        self.stop_sshd(host)
        self.start_sshd(host)
        self.before = self.state()

    def stop_sshd(self, host):
        self.sshd[host].kill()
        self.sshd[host].communicate()

    def start_sshd(self, host):
        mounts = " && ".join(f"mount -t tmpfs none {at}" for at in PLACES)
        self.sshd[host] = self.start(host, "sh", "-c", f"{mounts} && mkdir /run/sshd && exec {SSHD} "
                                     f"-D -e -f {self.folder}/sshd_config")
        end = time.monotonic() + 30
        while (b"listening" not in self.sshd[host].stderr.readline() and
               time.monotonic() < end):
            check(self.sshd[host].poll() is None, self.sshd[host].returncode)

    def serve_page(self):
        """Start a web server on db."""
        (self.folder / "www").mkdir()
        (self.folder / "www/index.html").write_text("hello\n")
        server = self.start("db", "python3", "-u", "-m", "http.server", "80", "-d",
                            self.folder / "www", stdout=subprocess.PIPE)
        check(server.stdout.readline().startswith(b"Serving"))

    def processes(self, host):
        """All on a host but its sshd: number -> program."""
        said = subprocess.run(["ip", "netns", "pids", self.names[host]], check=True, text=True,
                              capture_output=True).stdout
        found = {}
        for pid in set(map(int, said.split())) - {at.pid for at in self.running}:
            with contextlib.suppress(OSError):
                found[pid] = os.readlink(f"/proc/{pid}/exe")
        return found

    def recorders(self, host):
        """Processes of recordings, other than those of sshd."""
        return {pid: path for pid, path in self.processes(host).items()
                if not os.path.basename(path).startswith("sshd")}

    def files(self, host):
        """In the folders of a host that everybody can write to."""
        root = pathlib.Path(f"/proc/{self.sshd[host].pid}/root")
        return {str(path.relative_to(root)) for at in PLACES
                for path in (root / at[1:]).rglob("*")} | {
                    str(path) for path in pathlib.Path.home().glob("netsync-*")}

    def state(self):
        return {host: (self.files(host), self.processes(host)) for host in HOSTS}, bpf_programs()

    def left(self):
        """What is on the hosts and was not there before."""
        hosts, programs = self.state()
        found = [f"{host}: {what}" for host in HOSTS
                 for old, new in zip(self.before[0][host], hosts[host])
                 for what in (new if isinstance(new, set) else new.items()) if what not in
                 (old if isinstance(old, set) else old.items())]
        new = set(programs) - set(self.before[1])
        if new:
            new -= programs_of_others({pid for host in HOSTS for pid in self.processes(host)})
        return found + [f"{number}: {programs[number]}" for number in new]

    def check_nothing_left(self):
        end = time.monotonic() + 20
        while self.left() and time.monotonic() < end:
            time.sleep(0.05)
        check(not self.left(), self.left())

    def begin(self, via, hosts, *words, out=None):
        if not out:
            shutil.rmtree(self.out, ignore_errors=True)
        process = subprocess.Popen(
            self.on("user", NETSYNC, "record", *(("--via", via) if via else ()), "-o", out or self.out,
                    *(word for host in hosts for word in ("--host", host)), *words),
            env=self.env, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE,
            stdout=subprocess.PIPE, text=True)
        self.running.append(process)
        return process

    def records(self, process, out=None):
        """Wait until both hosts do."""
        end = time.monotonic() + 60
        while (len(list((out or self.out).glob("*/packets.*"))) < len(HOSTS) and
               time.monotonic() < end):
            check(process.poll() is None, process.poll() is not None and process.stderr.read())
            time.sleep(0.01)
        time.sleep(0.3)

    def end(self, process, status=0):
        out, err = process.communicate(timeout=90)
        check(process.returncode == status, process.returncode, out, err)
        return err

    def ping(self, count=50):
        return self.on("web", "ping", "-q", "-i", "0.01", "-c", count, "10.8.0.2")

    def result(self, *hosts, out=None):
        """Both hosts have one clock: its offset is 0, to within the bound."""
        result = json.loads(((out or self.out) / "sync.json").read_text())
        check({host["name"] for host in result["hosts"]} == set(hosts), result["hosts"])
        for host in result["hosts"]:
            for segment in host["segments"]:
                bound = segment["bound_ns"]
                check(bound is None or abs(segment["offset_ns"]) <= bound, segment)
        return result

    def capture(self, host):
        return next(self.out.glob(f"{host}/packets.*"))

    def kill_connection(self, host):
        """Kill sshd's processes of the connections, not that which listens."""
        for pid in self.processes(host):
            with contextlib.suppress(OSError):
                if "sshd" in os.readlink(f"/proc/{pid}/exe"):
                    os.kill(pid, signal.SIGKILL)
