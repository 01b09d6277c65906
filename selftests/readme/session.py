# SPDX-License-Identifier: GPL-2.0-only
"""What came of the commands that typed.sh typed."""
import re


def parts(text):
    """{number: (status, output)} of what a session printed."""
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
    """(step, complaint or None) of each step."""
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
