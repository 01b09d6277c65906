# SPDX-License-Identifier: LGPL-2.1-or-later
"""From traces to a result in one call, as in netsync sync."""
from __future__ import annotations

import os
import warnings
from typing import Any, Callable, Iterable, List, Optional, Union

from .estimate import Synchronization, method_of
from .handles import Text, as_list
from .names import Limit, Method
from .reader import Progress, Reader
from .result import Result


def sync(inputs: Union[Text, Iterable[Text]] = (), *,
         messages: Union[Text, Iterable[Text]] = (),
         packets: Union[Text, Iterable[Text]] = (),
         clocks: Union[Text, Iterable[Text]] = (),
         addresses: Union[str, Iterable[str]] = (),
         split_netns: bool = False, split_gpus: bool = False, strict: bool = False,
         jobs: int = 0, timeout_ns: int = 0,
         begin_ns: Optional[int] = None, end_ns: Optional[int] = None, limit: Limit = Limit.AT,
         method: Union[str, Method] = Method.AUTO, reference: Optional[str] = None,
         max_skew_ppm: float = 0.0, max_drift_ppm_s: float = 0.0,
         resolution_ns: int = 0,
         warn: Optional[Callable[[str], Any]] = None,
         progress: Optional[Progress] = None) -> Result:
    """Read traces (@inputs, each "PATH" or "NAME=PATH"), captures and texts, or a part of
    the time (see Reader.window()), and estimate the clocks of their hosts. Python's
    lock is released meanwhile. Warnings are passed to @warn, or else raised as
    RuntimeWarning."""
    found = method_of(method)
    said: List[str] = []
    synchronization = Synchronization()
    reader = Reader(synchronization, warn or said.append)
    try:
        reader.timeout(timeout_ns)
        reader.split_gpus(split_gpus)
        for what in as_list(inputs):
            reader.add(what)
        for add, paths in ((reader.add_messages, messages), (reader.add_packets, packets),
                           (reader.add_clocks, clocks)):
            for path in as_list(paths):
                add(path, strict)
        for address in [addresses] if isinstance(addresses, str) else addresses:
            reader.add_address(address)
        reader.split_netns(split_netns)
        reader.jobs(jobs)
        reader.window(begin_ns, end_ns, kind=limit)
        reader.read(progress)
    finally:
        for sentence in said:
            warnings.warn(sentence, RuntimeWarning, stacklevel=2)
    return synchronization.solve(method=found, reference=reference, max_skew_ppm=max_skew_ppm,
                                 max_drift_ppm_s=max_drift_ppm_s, resolution_ns=resolution_ns,
                                 threads=jobs or len(os.sched_getaffinity(0)))
