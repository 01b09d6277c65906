# SPDX-License-Identifier: GPL-2.0-only
"""A tutorial -> what its reader types and sees.

Blocks between fences are sessions if they begin with "$ ": each such line is a command, and
the lines up to the next one are its output, in which a line "..." stands for any lines. A
block whose first line is a comment with the name of a file is that file. Other blocks are
commands for other machines."""
import os
import pathlib
import re
import subprocess
from dataclasses import dataclass, field

HERE = pathlib.Path(__file__).resolve().parent
TOP = HERE.parent.parent
FILE_NAME = re.compile(r"(?:#|//|/\*) (\S+\.(?:py|c|txt))(?: \*/)?$")
# tshark says so to root on standard error; readers are other users.
NOT_COMPARED = re.compile(r"Running as user \"root\"")


@dataclass
class Typed:
    line: int		# of the document, where the command stands
    command: str
    output: list = field(default_factory=list)
    end: int = 0	# the line behind its output


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
    """Its commands, each with the output that the tutorial shows."""
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
    """Netsync as if it were installed, and its source in ~/netsync."""
    build = TOP / "build"
    programs = home / "bin"
    programs.mkdir(parents=True)
    (programs / "netsync").symlink_to(build / "netsync")
    (home / "netsync").symlink_to(TOP)
    return dict(os.environ, HOME=str(home), PATH=f"{programs}:/usr/bin:{os.environ['PATH']}",
                BABELTRACE_PLUGIN_PATH=str(build / "plugins"), LD_LIBRARY_PATH=str(build),
                LIBRARY_PATH=str(build), C_INCLUDE_PATH=str(TOP / "libnetsync/include"),
                PYTHONPATH=str(TOP / "python"), LC_ALL="C.UTF-8", TZ="UTC", COLUMNS="80")


def type_tutorial(path, folder):
    """[(Typed, exit status, lines of its output)] of all sessions."""
    env = environment(folder / "home")
    work = folder / "work"
    work.mkdir()
    typed, script = [], [f". {TOP}/selftests/readme/typed.sh"]
    for block in read_blocks(path):
        if block.file_name():
            text = "\n".join(block.lines)
            script.append(f"cat > {block.file_name()} <<'END OF FILE'\n{text}\nEND OF FILE")
        if not block.is_session():
            continue
        for step in read_session(block):
            typed.append(step)
            script.append("typed %d '%s'" % (len(typed), step.command.replace("'", "'\\''")))
    done = subprocess.run(["bash", "-c", "\n".join(script)], cwd=work, env=env, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=600,
                          check=False)
    return [(step, *printed) for step, printed in zip(typed, cut_printed(done.stdout, typed))]


def cut_printed(text, typed):
    """(exit status, lines of output) of each command."""
    for number, step in enumerate(typed, 1):
        begin = f"--- {number} $ {step.command}\n"
        end = re.compile(rf"^=== {number} (\d+)$", re.MULTILINE)
        at = text.find(begin)
        found = end.search(text, at)
        assert at >= 0 and found, f"{step.command}: was not typed: {text[-2000:]}"
        lines = text[at + len(begin):found.start()].splitlines()
        yield int(found[1]), [line.rstrip() for line in lines if not NOT_COMPARED.match(line)]
        text = text[found.end():]


def is_alike(shown, printed):
    """Is what a tutorial shows what was printed?"""
    pattern = "".join(r"(?:.*\n)*" if line == "..." else re.escape(line.rstrip()) + "\n"
                      for line in shown)
    return re.fullmatch(pattern, "".join(line + "\n" for line in printed)) is not None
