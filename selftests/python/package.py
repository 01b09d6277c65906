# SPDX-License-Identifier: GPL-2.0-only
"""The package netsync of the source, with the libraries in build/."""
import ctypes
import pathlib
import sys

TOP = pathlib.Path(__file__).resolve().parent.parent.parent
sys.dont_write_bytecode = True
sys.path[:0] = [str(TOP / "python"), str(TOP / "selftests" / "tools")]
# The loader uses a loaded library for every other file of the same name.
for name in "libnetsync.so.0", "libnetsync-io.so.0":
    ctypes.CDLL(str(TOP / "build" / name))

import netsync  # noqa: E402

__all__ = ["TOP", "netsync"]
