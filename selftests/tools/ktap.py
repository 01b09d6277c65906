# SPDX-License-Identifier: GPL-2.0-only
"""Functions that the tests of the command share: run the command, and report in KTAP."""
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import traceback

TOP = pathlib.Path(__file__).resolve().parent.parent.parent
NETSYNC = os.environ.get("NETSYNC", str(TOP / "build" / "netsync"))

# An emulated command takes this many times as long as the command on this machine.
SLOWER = int(os.environ.get("NETSYNC_SLOWER", "1"))

CASES = []


def case(function):
    """Decorator for a test, whose title is the function's docstring. The function calls check()
    for conditions that must be true."""
    CASES.append(function)
    return function


class Skip(Exception):
    pass


def check(condition, *what):
    if not condition:
        raise AssertionError(" ".join(str(w) for w in what))


class Run:
    def __init__(self, *arguments, cwd=None, env=None, stdin=b"",
                 timeout=120):
        done = subprocess.run([NETSYNC, *map(str, arguments)], cwd=cwd,
                              env=dict(os.environ, **(env or {})),
                              input=stdin, capture_output=True,
                              timeout=timeout * SLOWER, check=False)
        self.status = done.returncode
        self.out = done.stdout.decode()
        # Names are bytes and may not be valid UTF-8.
        self.err = done.stderr.decode(errors="replace")
        # A crash of a reader process does not end the command, so search the messages for it.
        check("is a bug in netsync" not in self.err, arguments, self.err)

    def json(self):
        return json.loads(self.out)

    def expect(self, status, *words):
        """Check the exit status, and that stderr contains all of these words."""
        check(self.status == status, "exit status", self.status, "not", status,
              "stderr:", self.err)
        for word in words:
            check(word in self.err, "not in stderr:", repr(word), "but:",
                  self.err)
        return self


def sync(*arguments, **options):
    return Run("sync", *arguments, **options)


def sync_json(*arguments, status=0, **options):
    return sync("--format", "json", *arguments,
                **options).expect(status).json()


def peak(command):
    """Return a command's peak memory, in KiB, including that of its small parent."""
    code = ("import os, sys; pid = os.posix_spawnp(sys.argv[1], sys.argv[1:], "
            "os.environ); _, s, u = os.wait4(pid, 0); print(s, u.ru_maxrss)")
    status, size = subprocess.run(
        [sys.executable, "-S", "-c", code, *map(str, command)], check=True,
        capture_output=True).stdout.split()[-2:]
    check(status == b"0")
    return int(size)


def children_of(pid):
    """
    Return the command's child processes: the first one reads files, the others read
    traces.
    """
    path = pathlib.Path(f"/proc/{pid}/task/{pid}/children")
    try:
        return [int(child) for child in path.read_text(encoding="ascii").split()]
    except OSError:
        return []


def main():
    """Run all cases, or the cases given as arguments."""
    cases = [c for c in CASES if c.__name__ in sys.argv[1:]] or CASES
    # If the tests run under nohup(1), SIGHUP is ignored, and commands would inherit this.
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    print("TAP version 13")
    print(f"1..{len(cases)}")
    failed = 0
    for number, function in enumerate(cases, 1):
        name = function.__doc__.split("\n")[0].rstrip(".")
        with tempfile.TemporaryDirectory(prefix="netsync-test-") as folder:
            try:
                function(pathlib.Path(folder))
                print(f"ok {number} - {name}", flush=True)
            except Skip as reason:
                print(f"ok {number} - {name} # SKIP {reason}", flush=True)
            except Exception as error:
                failed += 1
                text = str(error) if isinstance(error, AssertionError) \
                    and str(error) else traceback.format_exc()
                print("# " + text.strip().replace("\n", "\n# "))
                print(f"not ok {number} - {name}", flush=True)
    sys.exit(1 if failed else 0)
