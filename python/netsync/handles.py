# SPDX-License-Identifier: LGPL-2.1-or-later
"""Objects of the libraries, each used by one thread at a time and released in order, and
conversion of values to the libraries' types."""
from __future__ import annotations

import contextlib
import ctypes
import errno
import operator
import os
import threading
from typing import Any, Callable, Dict, Iterable, Iterator, List, Optional, SupportsIndex, Union

from . import structs as s
from .errors import Error, fail, no_memory

Text = Union[str, bytes, "os.PathLike[str]", "os.PathLike[bytes]"]


def as_list(inputs: Union[Text, Iterable[Text]]) -> List[Text]:
    """Accept one input, or several."""
    if isinstance(inputs, (str, bytes, os.PathLike)):
        return [inputs]
    return list(inputs)


def int64(value: SupportsIndex) -> int:
    """Convert a time. A float is rejected, because it is not exact."""
    number = operator.index(value)
    if not -2**63 <= number < 2**63:
        raise Error(errno.ERANGE, f"{number} does not fit into 64 bits.")
    return number


def uint(value: SupportsIndex, bits: int = 32) -> int:
    number = operator.index(value)
    if not 0 <= number < 2**bits:
        raise Error(errno.EINVAL, f"{number} is not between 0 and {2**bits - 1}.")
    return number


def encode(text: Text) -> bytes:
    """Encode a name or path, which the libraries take as bytes."""
    raw = os.fsencode(text)
    if b"\0" in raw:
        raise Error(errno.EINVAL, f"{raw!r} contains a zero byte, which names and paths "
                    "cannot contain.")
    return raw


def decode(raw: Optional[bytes]) -> str:
    return os.fsdecode(raw or b"")


class Guard:
    """A lock that fails instead of waiting if the thread already holds it. It also keeps
    an exception of a callback until the library returns."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._owner = 0
        self._may_push = False
        self.raised: Optional[BaseException] = None

    def __enter__(self) -> None:
        if self._owner == threading.get_ident():
            raise Error(errno.EDEADLK, "A callback must not use the object that calls it; "
                        "collect the data, and use the object afterwards.")
        self._lock.acquire()
        self._owner = threading.get_ident()

    def __exit__(self, *_: object) -> None:
        self._owner = 0
        self._lock.release()

    @contextlib.contextmanager
    def within(self) -> Iterator[None]:
        """For calls that are also allowed in callbacks that may push; there, the thread
        already holds the lock."""
        if self._may_push and self._owner == threading.get_ident():
            yield
        else:
            with self:
                yield

    def wrap(self, function: Callable[..., Optional[int]], otherwise: int = 0,
             may_push: bool = False) -> Callable[..., int]:
        """Wrap a function for the library, and keep the exception that it raises."""
        def call(*arguments: Any) -> int:
            outer, self._may_push = self._may_push, may_push
            try:
                return function(*arguments) or 0
            except BaseException as error:  # raised again by Handle.call()
                self.raised = self.raised or error
                return otherwise
            finally:
                self._may_push = outer
        return call


class Handle:
    """A pointer that is released after its last reference, but before the objects it needs."""

    def __init__(self, pointer: Optional[int], free: Callable[[int], None],
                 error: Optional[Callable[[int], bytes]] = None,
                 needs: Optional["Handle"] = None) -> None:
        self.pointer = pointer
        if not pointer:
            raise no_memory()
        self._free = free
        self._error = error
        self._needs = needs
        self.guard: Guard = needs.guard if needs else Guard()
        self._watchers: Dict[Any, Any] = {}     # the current callback of each type

    def __del__(self) -> None:
        if self.pointer:
            self._free(self.pointer)

    def call(self, function: Callable[..., Optional[int]], *arguments: Any) -> None:
        """Call the function with the pointer. A negative result, or an exception of a
        callback, is raised."""
        self.number(function, *arguments)

    def number(self, function: Callable[..., Optional[int]], *arguments: Any) -> int:
        """The same, but return the result."""
        with self.guard:
            return self._result(function, *arguments)

    def within(self, function: Callable[..., Optional[int]], *arguments: Any) -> None:
        """Call the function; this is also allowed in callbacks that may push."""
        with self.guard.within():
            self._result(function, *arguments)

    def watch(self, watch: Callable[..., None], func: Any, convert: Callable[[Any], Any],
              function: Optional[Callable[[Any], Any]]) -> None:
        """Let the library call a function with each converted struct or text; None ends this."""
        callback = func()
        if function is not None:
            each = function

            def call(_: Any, given: Any) -> None:
                each(convert(given))
            callback = func(self.guard.wrap(call))
        self.call(watch, callback, None)
        self._watchers[func] = callback

    def written(self, function: Callable[..., Optional[int]]) -> bytes:
        """Return what the library writes to a netsync_write_func; also allowed in
        callbacks that push."""
        parts: List[bytes] = []

        def write(_: Any, data: int, size: int) -> int:
            parts.append(ctypes.string_at(data, size))
            return 0
        self.within(function, s.write_func(write), None)
        return b"".join(parts)

    def _result(self, function: Callable[..., Optional[int]], *arguments: Any) -> int:
        result = function(self.pointer, *arguments)
        raised, self.guard.raised = self.guard.raised, None
        if raised:
            raise raised
        if result is not None and result < 0:
            assert self.pointer
            raise fail(result, decode(self._error(self.pointer)) if self._error else "")
        return result or 0
