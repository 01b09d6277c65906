# SPDX-License-Identifier: GPL-2.0-only
"""Find the files of each package, from Debian's lists and from the RPM spec."""
import fnmatch
import pathlib
import re

TOP = pathlib.Path(__file__).resolve().parent.parent.parent
# Package names in RPM that differ from those in Debian.
RPM_NAMES = {"libnetsync-dev": "libnetsync-devel"}


def debian():
    """Yield (package, pattern) for the staged files that each package contains."""
    for file in sorted((TOP / "debian").glob("*.install")):
        for pattern in file.read_text().split():
            yield file.stem, "/" + pattern


def rpm(**macros):
    """Yield (package, pattern) from the RPM spec with these macros, except for documents."""
    text = (TOP / "packaging/netsync.spec").read_text()
    macros.update(re.findall(r"^%global (\w+) +(\S+)$", text, re.MULTILINE))
    macros["version"] = re.search(r"^Version: +(\S+)$", text, re.MULTILINE)[1]
    names = {name: debian_name for debian_name, name in RPM_NAMES.items()}
    package = None
    for line in text.splitlines():
        header = re.match(r"%files(?: (-n )?(\S+))?$", line)
        if header:
            own, name = header.groups()
            package = "netsync" if not name else name if own else "netsync-" + name
        elif re.match(r"%[a-z]", line) and not re.match(r"%(license|doc|dir) ", line):
            package = None
        elif package and re.match(r"%{(?!_docdir)", line):
            while "%{" in line:
                line = re.sub(r"%\{(\w+)\}", lambda m: macros[m[1]], line)
            yield names.get(package, package), line


def owners(path, patterns):
    """Return the packages that contain a file or a folder above it."""
    parts = path.split("/")
    return {package for package, pattern in patterns
            if len(pattern.split("/")) <= len(parts) and
            all(map(fnmatch.fnmatchcase, parts, pattern.split("/")))}
