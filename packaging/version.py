# SPDX-License-Identifier: GPL-2.0-only
"""Where the version is written. netsync.h has the one that counts."""
import pathlib
import re

TOP = pathlib.Path(__file__).resolve().parent.parent
HEADER = "libnetsync/include/netsync.h"
# The first match of each pattern, in these files below the top.
WRITTEN = {
    HEADER: r'^#define NETSYNC_VERSION "(.*)"$',
    "NEWS": r"^netsync (\S+)$",
    "dkms.conf": r'^PACKAGE_VERSION="(.*)"$',
    "packaging/netsync.spec": r"^Version: +(\S+)$",
    "packaging/PKGBUILD": r"^pkgver=(.*)$",
    "debian/changelog": r"^netsync \((.*)-[^-]+\) ",
}


def find(name, top=TOP):
    """The match of the version in a file, or None."""
    return re.search(WRITTEN[name], (top / name).read_text(), re.MULTILINE)


def current(top=TOP):
    return find(HEADER, top)[1]
