# SPDX-License-Identifier: LGPL-2.1-or-later
"""Errors: the library's negative errno and its sentence, as an exception."""
from __future__ import annotations

import errno
import os


class Error(Exception):
    """What failed, and what to do, as a sentence; and which error it is."""

    def __init__(self, code: int, sentence: str) -> None:
        super().__init__(sentence)
        self.errno = code               # positive, as in the module errno


def fail(ret: int, sentence: str) -> Error:
    """The exception for a negative errno; where the library says nothing, what the
    system calls it."""
    return Error(-ret, sentence or f"{os.strerror(-ret)}.")


def no_memory() -> Error:
    return Error(errno.ENOMEM, "Out of memory.")
