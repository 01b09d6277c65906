# SPDX-License-Identifier: GPL-2.0-only
"""Import the package netsync from the source tree, with the libraries in build/."""
import ctypes
import pathlib
import sys

TOP = pathlib.Path(__file__).resolve().parent.parent.parent
sys.dont_write_bytecode = True
sys.path[:0] = [str(TOP / "python"), str(TOP / "selftests" / "tools")]
# If a library is loaded, the loader uses it in place of every other file with the same name.
for name in "libnetsync.so.0", "libnetsync-io.so.0":
    ctypes.CDLL(str(TOP / "build" / name))

import netsync  # noqa: E402

__all__ = ["TOP", "netsync"]
