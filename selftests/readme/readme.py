# SPDX-License-Identifier: GPL-2.0-only
"""Find the commands in README.md and INSTALL.md, in order. Commands are lines of blocks, joined
where a command continues on the next line, and text between backquotes."""
import pathlib
import re
import subprocess
from dataclasses import dataclass, replace

TOP = pathlib.Path(__file__).resolve().parent.parent.parent
README = TOP / "README.md"
DOCUMENTS = (README, TOP / "INSTALL.md")

# Words with which commands in the text begin. Most names between backquotes are not commands.
PROGRAMS = ("babeltrace2", "bpftrace", "lttng", "make", "modinfo", "modprobe", "mokutil",
            "netsync", "netsync-mpi", "perf", "tac", "tcpdump", "trace-cmd")


@dataclass(frozen=True)
class Command:
    line: int	# line of the document at which it begins
    text: str
    kind: str	# "block", "text" or "python"
    document: str = README.name


def is_whole(text):
    """Return whether the command is complete for a shell."""
    return not text.endswith("\\") and subprocess.run(
        ["bash", "-n"], input=text, text=True, capture_output=True, check=False).returncode == 0


def commands_of_block(number, lines):
    """Return the commands of a block that begins at line @number."""
    lines = [line.rstrip() for line in lines]
    if any(line.startswith("$ ") for line in lines):
        # In a session, lines without a prompt are output.
        for i, line in enumerate(lines):
            if line.startswith("$ "):
                yield Command(number + i, line[2:], "block")
        return
    if lines[0].startswith("import "):
        yield Command(number, "\n".join(lines), "python")
        return
    at = 0
    while at < len(lines):
        end = at + 1
        while end < len(lines) and not is_whole("\n".join(lines[at:end])):
            end += 1
        if lines[at].strip():
            yield Command(number + at, "\n".join(lines[at:end]), "block")
        at = end


def commands_of_text(number, lines):
    """Return the commands of a paragraph, which may contain line breaks."""
    text = "\n".join(line.strip() for line in lines)
    for found in re.finditer("`([^`]+)`", text):
        words = found[1].split()
        if len(words) > 1 and words[0] in PROGRAMS:
            yield Command(number + text.count("\n", 0, found.start()), " ".join(words), "text")


def cut(text):
    """Yield (number of the first line, lines, "fenced", "block" or "text") for each part."""
    part, begin, kind = [], 1, "text"
    for number, line in enumerate(text.splitlines() + [""], 1):
        if line.startswith("```"):
            yield begin, part, kind
            part, begin, kind = [], number + 1, "text" if kind == "fenced" else "fenced"
        elif kind == "fenced":
            part.append(line)
        else:
            is_block = line.startswith("    ") and (kind == "block" or not part or not part[-1])
            new = "block" if is_block or (kind == "block" and not line.strip()) else "text"
            if new != kind:
                yield begin, part, kind
                part, begin, kind = [], number, new
            part.append(line)
    yield begin, part, kind


def commands_of_document(path):
    for number, lines, kind in cut(path.read_text()):
        while lines and not lines[-1].strip():
            lines = lines[:-1]
        if not lines:
            continue
        if kind == "text":
            yield from commands_of_text(number, lines)
        elif kind == "block" or any(line.startswith("$ ") for line in lines):
            indent = min(len(line) - len(line.lstrip()) for line in lines if line.strip())
            yield from commands_of_block(number, [line[indent:] for line in lines])


def read_commands(*paths):
    return [replace(command, document=path.name) for path in paths or DOCUMENTS
            for command in commands_of_document(path)]
