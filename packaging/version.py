# SPDX-License-Identifier: GPL-2.0-only
"""The files that contain the version. The version in netsync.h is authoritative."""
import pathlib
import re

TOP = pathlib.Path(__file__).resolve().parent.parent
HEADER = "libnetsync/include/netsync.h"
# Pattern of the version in each file. Paths are relative to the top. The first match is used.
WRITTEN = {
    HEADER: r'^#define NETSYNC_VERSION "(.*)"$',
    "NEWS": r"^netsync (\S+)$",
    "dkms.conf": r'^PACKAGE_VERSION="(.*)"$',
    "packaging/netsync.spec": r"^Version: +(\S+)$",
    "packaging/PKGBUILD": r"^pkgver=(.*)$",
    "debian/changelog": r"^netsync \((.*)-[^-]+\) ",
}


def find(name, top=TOP):
    """Return the match of the version in a file, or None."""
    return re.search(WRITTEN[name], (top / name).read_text(), re.MULTILINE)


def current(top=TOP):
    return find(HEADER, top)[1]
