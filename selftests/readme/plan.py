# SPDX-License-Identifier: GPL-2.0-only
"""Where tests type each command of README.md and INSTALL.md, in order, and the output that they
expect. test_commands fails if a command in the documents is not listed here, or if a listed
command is not in the documents."""
import re
from dataclasses import dataclass
from typing import Optional

from readme import read_commands

# Places where commands are typed. The commands of each place are typed in one session.
SAMPLE = "sample"	# on sample traces: test_commands
RELEASE = "release"	# in a clean release of Debian, which becomes the root of guests
SOURCE = "source"	# in another release, where netsync is built and installed from source
ARCHIVE = "archive"	# in a third release, from the archive for hosts without a compiler
WEB = "web"		# on the guest web
EACH = "each"		# on both; "web" in file names is replaced by the host's name
ELSEWHERE = "elsewhere"	# not typed: @reason names another test, or explains why none exists


@dataclass(frozen=True)
class Row:
    begin: str		# how the command begins
    place: str
    says: str = ""	# regular expression that the output must match
    until: int = 0	# the command is ended by ^C after this many seconds
    beside: str = ""	# how the row begins whose command is typed at the same time
    stays: bool = False	# once the command prints @says, the next row is typed; then ^C ends both
    fetch: bool = False	# files written on db are copied to web
    may_fail: bool = False	# the command may fail, and INSTALL.md says what to do in this case
    reason: str = ""


ACCURATE = r"web +.*(accurate|approximate)"

# Duration of a recording, s. On a guest with a fraction of a busy processor, perf and bpftrace need
# most of this time to start.
RECORDED_S = 40

PLAN = [
    Row("netsync sync web/ db/", SAMPLE),
    Row("apt-get update && apt-get install -y make && make demo", RELEASE, ACCURATE),
    Row("apt-get update && apt-get install -y make && make check", ELSEWHERE,
        reason="this is the command that runs the tests"),
    Row("netsync record -o fetch", WEB, ACCURATE),
    Row("netsync doctor --host web --host db", WEB, "db"),
    Row("netsync record --live", WEB, "recording on", stays=True),
    Row("netsync live now", WEB, "web", until=RECORDED_S),
    Row("netsync clock-log", EACH, until=RECORDED_S, fetch=True,
        beside="tcpdump -i any -s 128 --time-stamp-precision nano -w web"),
    Row("tcpdump -i any -s 128 --time-stamp-precision nano -w web", EACH, until=RECORDED_S,
        fetch=True),
    Row("tcpdump -i any -s 128 --time-stamp-precision nano -w db", ELSEWHERE,
        reason="the row before is typed on db, too, with the name of its file"),
    Row("netsync sync web.pcap db.pcap", WEB, ACCURATE),
    Row("netsync sync -o captures.json", WEB),
    Row("netsync apply -m captures.json", WEB),
    Row("modprobe netsync-probes", EACH),
    Row("lttng create --output", EACH),
    Row("lttng enable-event", EACH, "netsync_clock"),
    Row("lttng start", EACH),
    Row("lttng destroy", EACH),
    Row("netsync sync web:/var/trace", WEB, ACCURATE),
    Row("netsync sync --format json", WEB),
    Row("netsync apply -m sync.json web:/var/trace", WEB),
    Row("trace-cmd record", EACH, until=RECORDED_S, beside="perf record", fetch=True),
    Row("perf record", EACH, until=RECORDED_S, fetch=True),
    Row("netsync sync web.dat db.data", WEB, ACCURATE),
    Row("bpftrace", EACH, r"\d+ \d+", until=3 * RECORDED_S),
    Row("netsync sync --messages FILE", SAMPLE, ACCURATE),
    Row("netsync report -m fetch/sync.json", WEB, "sync.html"),
    Row("babeltrace2 fetch/web fetch/db", WEB, "inet_"),
    Row("netsync apply -m fetch/sync.json", WEB),
    Row("babeltrace2 corrected", WEB, "inet_"),
    Row("time=$(babeltrace2", WEB),
    Row("netsync convert", WEB, r"\d+\.\d{9} \d+\.\d{9}"),
    Row("netsync record --preset critical-path", WEB, ACCURATE),
    Row("netsync path -m slow/sync.json", WEB, "curl"),
    Row("netsync states -m slow/sync.json", WEB),
    Row("import netsync", WEB, r"\d{19}"),
    Row("make deb SETUP=1", RELEASE, r"netsync_.*\.deb"),
    Row("cd build/deb && apt-get install ./netsync_", RELEASE),
    Row("apt-get install ./netsync-dkms_", RELEASE),
    Row("apt-get install gcc", SOURCE),
    Row("apt-get install lttng-tools babeltrace2", RELEASE),
    Row("apt-get install lttng-tools lttng-modules-dkms", RELEASE, may_fail=True),
    Row("make && make modules && make install modules_install", SOURCE),
    Row("mpirun", SOURCE, ACCURATE),
    Row("netsync doctor --fix lttng", RELEASE, "with lttng-probe-netsync"),
    Row("modprobe -r lttng-probe-netsync", EACH),
    Row("modprobe -r netsync-probes", ELSEWHERE,
        reason="where LTTng is not installed; the row before does the same beside it"),
    Row("make host-archive", SOURCE, r"netsync-.*\.tar\.gz"),
    Row("ssh root@web apt-get install", ARCHIVE),
    Row("ssh root@web 'tar", ARCHIVE),
    Row("tac ", ARCHIVE, "Directory not empty", may_fail=True),
    Row("mokutil --import", ELSEWHERE, reason="it needs firmware with Secure Boot"),
    Row("modinfo -F signer", ELSEWHERE, reason="it needs a module that was signed"),
]

# Commands that the text names without arguments. Tests only check that they exist.
MENTIONED = re.compile(r"(make .*|netsync [a-z-]+( --[a-z-]+( [a-z]+)?)?)$")


@dataclass(frozen=True)
class Step:
    number: int
    where: str		# name of the document, and line
    text: str
    kind: str
    row: Row


def mentioned(path=None):
    """Return the commands that the text mentions without typing them."""
    return [c for c in read_commands(*([path] if path else []))
            if c.kind == "text" and MENTIONED.match(c.text)]


def steps(path=None):
    """Return all commands of both documents with their rows. Raise AssertionError if they
    differ."""
    rows, found = list(PLAN), []
    for command in read_commands(*([path] if path else [])):
        if command.kind == "text" and MENTIONED.match(command.text):
            continue
        where = f"{command.document}:{command.line}"
        assert rows, f"{where} is not in plan.py: {command.text}"
        row = rows.pop(0)
        assert command.text.startswith(row.begin), \
            f"{where} is {command.text!r}, plan.py has {row.begin!r}"
        found.append(Step(len(found) + 1, where, command.text, command.kind, row))
    assert not rows, f"README.md and INSTALL.md have no more {rows[0].begin!r}"
    return found


def at(place, path=None):
    return [step for step in steps(path) if step.row.place == place]


def find(begin, path=None) -> Optional[Step]:
    return next((step for step in steps(path) if step.row.begin == begin), None)
