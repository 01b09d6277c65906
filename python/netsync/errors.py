# SPDX-License-Identifier: LGPL-2.1-or-later
"""Errors: a negative errno value and a sentence of the library, as an exception."""
from __future__ import annotations

import errno
import os


class Error(Exception):
    """A sentence that explains what failed and what to do, and the error number."""

    def __init__(self, code: int, sentence: str) -> None:
        super().__init__(sentence)
        self.errno = code               # positive error number, as in the module errno


def fail(ret: int, sentence: str) -> Error:
    """Return the exception for a negative errno value. Without a sentence from the
    library, use the system's text."""
    return Error(-ret, sentence or f"{os.strerror(-ret)}.")


def no_memory() -> Error:
    return Error(errno.ENOMEM, "Out of memory.")
