# SPDX-License-Identifier: GPL-2.0-only
"""The commands in a tutorial, and the output that it shows.

Blocks between fences are sessions if they begin with "$ ". Each such line is a
command, and the lines up to the next one are its output, in which a line "..." stands
for any lines. A block whose first line is a comment with a file name is that file.
Other blocks are commands for other machines.

A tutorial that records prints other numbers each time, which are not compared."""
import re
from dataclasses import dataclass, field

import session

FILE_NAME = re.compile(r"(?:#|//|/\*) (\S+\.(?:py|c|txt|yaml))(?: \*/)?$")
# tshark prints this warning only for root, but readers are usually other users.
NOT_COMPARED = re.compile(r"Running as user \"root\"")

# A number and its unit, as the output contains them, or "-" in a table.
MEASURED = re.compile(r"[-+]*\d[\d.,]*( (ns|us|ms|s|ppm|B|kB|MB))?(?!\w)|(?<= )-(?= |$)")


@dataclass
class Typed:
    line: int		# line of the command in the document
    command: str
    output: list = field(default_factory=list)
    end: int = 0	# line after its output


@dataclass
class Block:
    line: int
    lines: list

    def is_session(self):
        return bool(self.lines) and self.lines[0].startswith("$ ")

    def file_name(self):
        found = FILE_NAME.match(self.lines[0]) if self.lines else None
        return found and found[1]


def read_blocks(path):
    blocks, block = [], None
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if line.startswith("```"):
            if block is None:
                block = Block(number + 1, [])
            else:
                blocks.append(block)
                block = None
        elif block is not None:
            block.lines.append(line)
    assert block is None, f"{path}: a block is not closed"
    return blocks


def read_session(block):
    """Return the commands of a session, each with the output that the tutorial shows."""
    typed = []
    for number, line in enumerate(block.lines, block.line):
        if line.startswith("$ "):
            typed.append(Typed(number, line[2:]))
        elif line.startswith("> ") and not typed[-1].output:
            typed[-1].command += "\n" + line[2:]
        else:
            typed[-1].output.append(line)
        typed[-1].end = number + 1
    return typed


def environment(home):
    """Return an environment in which ~/netsync is netsync's source, and programs are linked with
    its libraries."""
    env = session.environment(home / "bin", HOME=str(home), LIBRARY_PATH=str(session.BUILD),
                              C_INCLUDE_PATH=str(session.TOP / "libnetsync/include"), TZ="UTC",
                              COLUMNS="80")
    (home / "netsync").symlink_to(session.TOP)
    return env


def type_tutorial(path, folder, hosts=None):
    """
    Run all sessions. @hosts: servers.Servers, if they reach hosts by ssh. Return [(Typed,
    exit status, lines of output)].
    """
    env = environment(folder / "home")
    if hosts:
        (folder / "home/bin/ssh").symlink_to(hosts.ssh)
    work = folder / "work"
    work.mkdir()
    steps, lines = [], []
    for block in read_blocks(path):
        if block.file_name():
            text = "\n".join(block.lines)
            lines.append(f"cat > {block.file_name()} <<'END OF FILE'\n{text}\nEND OF FILE")
        if not block.is_session():
            continue
        for step in read_session(block):
            steps.append(step)
            lines.append(session.typed(len(steps), step.command))
    found = session.parts(session.run(lines, work, env, hosts.on("user") if hosts else ()))
    return [(step, *printed_by(step, *found.get(number, (1, "was not typed"))))
            for number, step in enumerate(steps, 1)]


def printed_by(step, status, output):
    """Return the exit status of a command and the lines that it printed."""
    lines = output.splitlines()[step.command.count("\n"):]
    return status, [line.rstrip() for line in lines if not NOT_COMPARED.match(line)]


def without_numbers(lines):
    """Replace measurements, and the blanks that align them."""
    return [re.sub(r" +", " ", MEASURED.sub("#", line)) for line in lines]


def is_alike(shown, printed, has_measurements=False):
    """Does the printed output match what a tutorial shows?"""
    if has_measurements:
        shown, printed = without_numbers(shown), without_numbers(printed)
    pattern = "".join(r"(?:.*\n)*" if line == "..." else re.escape(line.rstrip()) + "\n"
                      for line in shown)
    return re.fullmatch(pattern, "".join(line + "\n" for line in printed)) is not None
