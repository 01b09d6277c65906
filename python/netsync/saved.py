# SPDX-License-Identifier: LGPL-2.1-or-later
"""Read the result that netsync sync and netsync record write: netsync-sync.json(5)."""
from __future__ import annotations

import errno
import json
import os
import uuid
from typing import Any, Dict, List, Optional, Tuple, Union

from .clock import Clock, Deviation, Knot, Segment
from .errors import Error
from .names import Quality
from .result import Host, Identity, Pair, Result, Stack, Stats, Steering, Step, Trace, Utc

FORMAT = "netsync-1"


def _int(value: Any) -> int:
    if type(value) is not int or not -2**63 <= value < 2**63:
        raise ValueError(f"{value!r} is not a 64-bit integer")
    return value


def _unless_null(value: Any) -> Optional[int]:
    return None if value is None else _int(value)


def _float(value: Any) -> float:
    if type(value) not in (int, float):
        raise ValueError(f"{value!r} is not a number")
    return float(value)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{value!r} is not a string")
    return value


def _two(value: Any, what: Any) -> Tuple[Any, Any]:
    first, second = value
    return what(first), what(second)


def _clock(host: Dict[str, Any]) -> Optional[Clock]:
    if not host["segments"]:
        return None
    bound = host["bound_ns"]
    segments = [Segment(_int(g["from_ns"]), _int(g["to_ns"]), _int(g["offset_ns"]),
                        _float(g["rate"]), _unless_null(g["bound_ns"]))
                for g in host["segments"]]
    knots = [Knot(_int(time), _unless_null(below), _unless_null(above))
             for time, below, above in bound["knots"]]
    deviations = [Deviation(_int(time), _unless_null(deviation))
                  for time, deviation in host.get("deviation_ns", {"knots": []})["knots"]]
    return Clock(segments, knots, _two(bound["growth_ppm"], _float) if knots else (0.0, 0.0),
                 deviations)


def _identity(clock: Optional[Dict[str, Any]]) -> Optional[Identity]:
    if clock is None:
        return None
    return Identity(_text(clock["host_name"]),
                    None if clock["name"] is None else _text(clock["name"]),
                    None if clock["uuid"] is None else uuid.UUID(_text(clock["uuid"])),
                    _int(clock["epoch_ns"]))


def _stack(stack: Dict[str, Any]) -> Stack:
    return Stack(_int(stack["packets"]), *(_unless_null(stack[key])
                                           for key in ("min", "median", "p99", "max")))


def _steering(steering: Dict[str, Any]) -> Optional[Steering]:
    if not _int(steering["points"]):
        return None
    slowest, fastest = (None if steering[key] is None else _float(steering[key])
                        for key in ("min_ppm", "max_ppm"))
    return Steering(_int(steering["points"]), slowest, fastest, _int(steering["unknown_ns"]))


def _host(host: Dict[str, Any]) -> Host:
    bound, stacks = host["bound_ns"], host["stack_ns"]
    deviation = host.get("deviation_ns", {"median": None, "max": None})
    return Host(
        _text(host["name"]), Quality[_text(host["quality"]).upper()], _int(host["packets"]),
        _unless_null(host["first_ns"]), _unless_null(host["last_ns"]),
        _unless_null(bound["median"]), _unless_null(bound["max"]), _int(host["island"]),
        _clock(host),
        tuple(Step(_int(t["time_ns"]), _int(t["within_ns"]), _int(t["offset_ns"]),
                   _float(t["skew_ppm"]), t.get("known")) for t in host["steps"]),
        _stack(stacks["out"]), _stack(stacks["in"]), _identity(host["clock"]),
        tuple(Trace(_text(t["path"]), _int(t["shift_ns"]), _unless_null(t.get("netns")))
              for t in host["traces"]),
        _steering(host["steering"]) if "steering" in host else None,
        deviation_median_ns=_unless_null(deviation["median"]),
        deviation_max_ns=_unless_null(deviation["max"]))


def _pair(pair: Dict[str, Any]) -> Pair:
    inversions, events = pair["inversions"], pair["events"]
    return Pair(
        _two(pair["hosts"], _text), Quality[_text(pair["quality"]).upper()],
        _two(pair["messages"], _int), _two(pair["hull"], _int),
        _two(pair["min_delay_ns"], _unless_null),
        _int(inversions["before"]), _int(inversions["after"]), *_two(pair["rate"], _float),
        *(_int(events[key]) for key in ("matched", "nat", "ambiguous", "unmatched")))


def _utc(utc: Optional[Dict[str, Any]]) -> Optional[Utc]:
    clock = _clock(utc) if utc else None
    if not utc or not clock:
        return None
    return Utc(clock, tuple(_text(host) for host in utc["hosts"]),
               _unless_null(utc["bound_ns"]["median"]), _unless_null(utc["bound_ns"]["max"]))


def _result(root: Dict[str, Any], path: str) -> Result:
    hosts: List[Host] = [_host(host) for host in root["hosts"]]
    return Result(
        _text(root["reference"]), {host.name: host for host in hosts},
        tuple(_pair(pair) for pair in root["pairs"]),
        Stats(*(_int(root["stats"][key]) for key in (
            "packets", "matched", "unmatched", "ambiguous", "loopback", "unsupported", "nat",
            "evicted"))), path, _utc(root.get("utc")))


def load(path: Union[str, "os.PathLike[str]"]) -> Result:
    """Read the JSON of netsync sync."""
    name = os.fspath(path)
    try:
        with open(path, "rb") as file:
            root = json.load(file)
    except OSError as error:
        raise Error(error.errno or errno.EIO, f"{name}: {error.strerror}.") from error
    except (ValueError, RecursionError) as error:
        raise Error(errno.EINVAL, f"{name}: cannot be read as JSON: {error}.") from error
    if not isinstance(root, dict) or root.get("format") != FORMAT:
        raise Error(errno.EINVAL, f"{name}: not a result of netsync (format {FORMAT}).")
    try:
        return _result(root, os.fsdecode(name))
    except (KeyError, TypeError, ValueError, AttributeError, Error) as error:
        raise Error(errno.EINVAL, f"{name}: the result is damaged ({error}); write it again with "
                    "netsync sync.") from error
