# SPDX-License-Identifier: GPL-2.0-only
"""Sessions of commands typed by typed.sh, and their output."""
import os
import pathlib
import re
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
TOP = HERE.parent.parent
BUILD = TOP / "build"


def environment(programs, **more):
    """Return the environment of an installed netsync, in a new folder."""
    programs.mkdir(parents=True)
    (programs / "netsync").symlink_to(os.environ.get("NETSYNC", BUILD / "netsync"))
    # In /usr/bin, Debian's Python has the modules of Babeltrace 2.
    return dict(os.environ, PATH=f"{programs}:/usr/bin:{os.environ['PATH']}",
                BABELTRACE_PLUGIN_PATH=f"{BUILD}/plugins:{BUILD}/selftests/plugins",
                LD_LIBRARY_PATH=str(BUILD), PYTHONPATH=str(TOP / "python"), LC_ALL="C.UTF-8",
                **more)


def typed(number, text):
    """Return the line of a session that types a command."""
    return "typed %d '%s'" % (number, text.replace("'", "'\\''"))


def run(lines, folder, env, before=()):
    """Run a session, and return its output. @before: a command that runs the shell."""
    return subprocess.run([*before, "bash", "-c", "\n".join([f". {HERE}/typed.sh", *lines])], cwd=folder,
                          env=env, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=600, check=False).stdout


def parts(text):
    """Return {number: (status, output)} from the output of a session."""
    found, number, lines = {}, None, []
    for line in text.splitlines():
        begin, end = re.match(r"--- (\d+) \$ ", line), re.match(r"=== (\d+) (\d+)$", line)
        if begin:
            number, lines = int(begin[1]), []
        elif end:
            same = int(end[1]) == number
            found[int(end[1])] = int(end[2]), "\n".join(lines) if same else ""
        else:
            lines.append(line)
    return found


def judge(steps, text):
    """Yield (step, complaint or None) for each step."""
    found = parts(text)
    for step in steps:
        if step.number not in found:
            yield step, "not typed"
            continue
        status, output = found[step.number]
        if status and not step.row.may_fail:
            yield step, f"exit status {status}: " + output[-1500:]
        elif not re.search(step.row.says, output):
            yield step, f"did not print {step.row.says!r}: " + output[-1500:]
        else:
            yield step, None
