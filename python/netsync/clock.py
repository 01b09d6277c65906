# SPDX-License-Identifier: LGPL-2.1-or-later
"""Clocks: functions that correct the times of a host."""
from __future__ import annotations

import array
import ctypes
import datetime
import errno
import sys
from ctypes import POINTER, c_int64, c_void_p
from typing import TYPE_CHECKING, Any, Iterable, NamedTuple, Optional, SupportsIndex, Tuple, Union

from . import structs as s
from .errors import Error, fail
from .handles import Handle, int64
from .libraries import core
from .names import Sequence

if TYPE_CHECKING:
    import numpy

_Times = POINTER(c_int64)

# Outside its span, a result is valid for the length of the span, within these limits. See
# netsync-sync.json(5).
_MIN_SLACK = 60 * 10**9         # ns
_MAX_SLACK = 3600 * 10**9       # ns
_HOUR = 3600 * 10**9            # ns
_DAY = 24 * _HOUR


class Segment(NamedTuple):
    """t_ref = t + offset_ns + (rate - 1) * (t - from_ns)"""
    from_ns: int
    to_ns: int
    offset_ns: int
    rate: float
    bound_ns: Optional[int]         # largest bound in the segment; None if unknown


class Knot(NamedTuple):
    """How far the true time can be below and above the corrected time."""
    time_ns: int
    below_ns: Optional[int]
    above_ns: Optional[int]


class Deviation(NamedTuple):
    """The standard deviation of the correction at a time: struct netsync_deviation_knot."""
    time_ns: int
    deviation_ns: Optional[int]     # None if unknown


class Converted(NamedTuple):
    time_ns: int
    bound_ns: Optional[int]         # largest distance from the truth


class Interval(NamedTuple):
    lo_ns: Optional[int]            # earliest time of the event; None if unknown
    hi_ns: Optional[int]


class Span(NamedTuple):
    """The time range in which a host was traced, on its clock. of is the name of the result."""
    of: str
    host: str
    first_ns: int
    last_ns: int

    def holds(self, time_ns: int) -> bool:
        """Return whether this time is in the span, or so close that it can be corrected."""
        slack = min(max(self.last_ns - self.first_ns, _MIN_SLACK), _MAX_SLACK)
        return self.first_ns - slack <= time_ns <= self.last_ns + slack

    def refuse(self, time_ns: int, bound_ns: Optional[int]) -> Error:
        """Return the error that netsync convert prints for a time that is too far outside."""
        is_early = time_ns < self.first_ns
        far = self.first_ns - time_ns if is_early else time_ns - self.last_ns
        return Error(errno.ERANGE,
                     f"{time_ns}: {self.of} covers {_date(self.first_ns)} to "
                     f"{_date(self.last_ns)} on the clock of {self.host}, but this time is "
                     f"{_distance(far)} {'before' if is_early else 'after'} this range, where the "
                     f"error bound is {'unknown' if bound_ns is None else _distance(bound_ns)}. "
                     "Use extrapolate=True to convert such times.")


def _date(time_ns: int) -> str:
    date = datetime.datetime(1970, 1, 1) + datetime.timedelta(seconds=time_ns // 10**9)
    return f"{date:%Y-%m-%d %H:%M:%S} UTC"


def _distance(ns: int) -> str:
    if ns >= 2 * _DAY:
        return f"{ns // _DAY} days"
    if ns >= 2 * _HOUR:
        return f"{ns // _HOUR} h"
    for unit, name in (10**9, "s"), (10**6, "ms"), (10**3, "us"):
        if ns >= unit:
            return f"{ns // unit}.{ns % unit // (unit // 1000):03} {name}"
    return f"{ns} ns"


def known(value: int) -> Optional[int]:
    return None if value == s.UNKNOWN else value


def _bound(value: Optional[int]) -> int:
    return s.UNKNOWN if value is None else int64(value)


def _integers(numpy: Any, times: Any) -> Any:
    """Return the times of a numpy array as contiguous 64-bit integers."""
    is_date = times.dtype == numpy.dtype("datetime64[ns]")
    if not is_date and (times.dtype.kind not in "iu" or
                        not numpy.can_cast(times.dtype, numpy.int64)):
        raise TypeError(f"times must be int64 or datetime64[ns], not {times.dtype}; a "
                        "float cannot represent them exactly")
    return numpy.ascontiguousarray(times.view("int64") if is_date else times, dtype=numpy.int64)


def _does_not_fit(ret: int) -> Error:
    return fail(ret, "The corrected time does not fit into 64 bits.")


class Clock:
    """A host's clock relative to the reference. It is constant, and threads may share it.
    Times far outside the span of the result are an error unless extrapolate is set."""

    # Span of the result. The reference's own clock and clocks made from numbers have no
    # span, because they are valid at any time.
    _span: Optional[Span] = None

    def __init__(self, segments: Iterable[Segment], knots: Iterable[Knot] = (),
                 growth_ppm: Tuple[float, float] = (0.0, 0.0),
                 deviations: Iterable[Deviation] = ()) -> None:
        segment_list, knot_list, deviation_list = list(segments), list(knots), list(deviations)
        segment_array = (s.netsync_segment * max(1, len(segment_list)))(*(
            s.netsync_segment(int64(g.from_ns), int64(g.to_ns), int64(g.offset_ns), g.rate,
                              _bound(g.bound_ns)) for g in segment_list))
        knot_array = (s.netsync_knot * max(1, len(knot_list)))(*(
            s.netsync_knot(int64(k.time_ns), _bound(k.below_ns), _bound(k.above_ns))
            for k in knot_list))
        deviation_array = (s.netsync_deviation_knot * max(1, len(deviation_list)))(*(
            s.netsync_deviation_knot(int64(d.time_ns), _bound(d.deviation_ns))
            for d in deviation_list))
        model = s.netsync_model(
            size=ctypes.sizeof(s.netsync_model), num_segments=len(segment_list),
            num_knots=len(knot_list), segment_size=ctypes.sizeof(s.netsync_segment),
            knot_size=ctypes.sizeof(s.netsync_knot),
            segments=ctypes.cast(segment_array, POINTER(s.netsync_segment)),
            knots=ctypes.cast(knot_array, POINTER(s.netsync_knot)), growth_ppm=growth_ppm,
            num_deviations=len(deviation_list),
            deviation_size=ctypes.sizeof(s.netsync_deviation_knot),
            deviations=ctypes.cast(deviation_array, POINTER(s.netsync_deviation_knot)))
        self._make(model)

    @classmethod
    def _copy(cls, pointer: int) -> "Clock":
        """Copy a clock that the library keeps only until the next solve."""
        clock = cls.__new__(cls)
        model = s.netsync_model(size=ctypes.sizeof(s.netsync_model))
        core.netsync_clock_model(pointer, model)
        clock._make(model)
        return clock

    @classmethod
    def _adopt(cls, pointer: c_void_p) -> "Clock":
        """Own a clock that the library made for the caller."""
        clock = cls.__new__(cls)
        clock._handle = Handle(pointer.value, core.netsync_clock_free)
        return clock

    def _make(self, model: s.netsync_model) -> None:
        pointer = c_void_p()
        ret = core.netsync_clock_new(model, pointer)
        if ret:
            raise fail(ret, "Invalid clock: segments and knots must be in order, rates "
                       "positive, bounds and deviations not negative."
                       if ret == -errno.EINVAL else "Out of memory.")
        self._handle = Handle(pointer.value, core.netsync_clock_free)

    def _model(self) -> s.netsync_model:
        model = s.netsync_model(size=ctypes.sizeof(s.netsync_model))
        core.netsync_clock_model(self._handle.pointer, model)
        return model

    @property
    def segments(self) -> Tuple[Segment, ...]:
        model = self._model()
        elements = (core.netsync_model_segment(model, i)[0] for i in range(model.num_segments))
        return tuple(Segment(e.from_ns, e.to_ns, e.offset_ns, e.rate, known(e.bound_ns))
                     for e in elements)

    @property
    def knots(self) -> Tuple[Knot, ...]:
        model = self._model()
        elements = (core.netsync_model_knot(model, i)[0] for i in range(model.num_knots))
        return tuple(Knot(e.time_ns, known(e.below_ns), known(e.above_ns)) for e in elements)

    @property
    def deviations(self) -> Tuple[Deviation, ...]:
        """Knots of the standard deviation; empty if the method does not compute it."""
        model = self._model()
        elements = (core.netsync_model_deviation(model, i)[0]
                    for i in range(model.num_deviations))
        return tuple(Deviation(e.time_ns, known(e.deviation_ns)) for e in elements)

    @property
    def growth_ppm(self) -> Tuple[float, float]:
        """How fast bounds grow before the first knot and after the last one."""
        before, after = self._model().growth_ppm
        return before, after

    def _check(self, *times: int) -> None:
        for time_ns in times:
            if self._span is not None and not self._span.holds(time_ns):
                try:
                    bound = self.convert(time_ns, extrapolate=True).bound_ns
                except Error:
                    bound = None
                raise self._span.refuse(time_ns, bound)

    def convert(self, time_ns: SupportsIndex, *, extrapolate: bool = False) -> Converted:
        """Return the corrected time, and the largest error that it can have."""
        t_ref, bound = c_int64(), c_int64()
        if not extrapolate:
            self._check(int64(time_ns))
        ret = core.netsync_convert(self._handle.pointer, int64(time_ns), t_ref, bound)
        if ret:
            raise _does_not_fit(ret)
        return Converted(t_ref.value, known(bound.value))

    def deviation(self, time_ns: SupportsIndex) -> Optional[int]:
        """Return the standard deviation of the correction of a time, in ns, or None where it
        is unknown. It is not a bound; see netsync_deviation(3)."""
        return known(core.netsync_deviation(self._handle.pointer, int64(time_ns)))

    def interval(self, time_ns: SupportsIndex, *, extrapolate: bool = False) -> Interval:
        """Return the earliest and the latest time of an event on the reference clock,
        guaranteed."""
        lo, hi = c_int64(), c_int64()
        if not extrapolate:
            self._check(int64(time_ns))
        ret = core.netsync_interval(self._handle.pointer, int64(time_ns), lo, hi)
        if ret:
            raise _does_not_fit(ret)
        return Interval(None if lo.value == -2**63 else lo.value, known(hi.value))

    def utc_interval(self, time_ns: SupportsIndex, utc: "Clock", *,
                     extrapolate: bool = False) -> Interval:
        """Return the earliest and the latest UTC of an event. @utc converts the reference time
        of the same result to UTC."""
        lo, hi = c_int64(), c_int64()
        if not extrapolate:
            self._check(int64(time_ns))
        ret = core.netsync_utc_interval(self._handle.pointer, utc._handle.pointer,
                                        int64(time_ns), lo, hi)
        if ret:
            raise _does_not_fit(ret)
        return Interval(None if lo.value == -2**63 else lo.value, known(hi.value))

    def order(self, time_ns: SupportsIndex, other: "Clock", other_ns: SupportsIndex, *,
              extrapolate: bool = False) -> Sequence:
        """Compare an event at a time of this clock with an event at a time of the other."""
        if not extrapolate:
            self._check(int64(time_ns))
            other._check(int64(other_ns))
        return Sequence(core.netsync_order(self._handle.pointer, int64(time_ns),
                                           other._handle.pointer, int64(other_ns)))

    def convert_many(self, times: Union["numpy.ndarray[Any, Any]", Iterable[int]], *,
                     extrapolate: bool = False) -> Any:
        """Return corrected times and their bounds: for a numpy array (of integers, or
        datetime64[ns]) as numpy arrays of the same shape, else as array.array("q"). An
        unknown bound is 2**63 - 1."""
        numpy = sys.modules.get("numpy")
        if numpy is not None and isinstance(times, numpy.ndarray):
            return self._convert_numpy(numpy, times, extrapolate)
        given = times if isinstance(times, array.array) and times.typecode == "q" else \
            array.array("q", map(int64, times))
        if given and not extrapolate:
            self._check(min(given), max(given))
        t_ref, bound = (array.array("q", bytes(8 * len(given))) for _ in range(2))
        self._convert(len(given), *(a.buffer_info()[0] for a in (given, t_ref, bound)))
        return t_ref, bound

    def deviation_many(self, times: Union["numpy.ndarray[Any, Any]", Iterable[int]]) -> Any:
        """Return the standard deviations at these times, in ns: for a numpy array as a numpy
        array of the same shape, else as array.array("q"). An unknown one is 2**63 - 1."""
        numpy = sys.modules.get("numpy")
        result: Any
        if numpy is not None and isinstance(times, numpy.ndarray):
            given = _integers(numpy, times)
            result = numpy.empty(times.shape, "int64")
            num, addresses = given.size, (given.ctypes.data, result.ctypes.data)
        else:
            given = array.array("q", map(int64, times))
            result = array.array("q", bytes(8 * len(given)))
            num, addresses = len(given), (given.buffer_info()[0], result.buffer_info()[0])
        core.netsync_deviation_many(self._handle.pointer, num,
                                    *(ctypes.cast(a, _Times) for a in addresses))
        return result

    def _convert_numpy(self, numpy: Any, times: Any, extrapolate: bool) -> Any:
        is_date = times.dtype == numpy.dtype("datetime64[ns]")
        given = _integers(numpy, times)
        if given.size and not extrapolate:
            self._check(int(given.min()), int(given.max()))
        t_ref, bound = numpy.empty(times.shape, "int64"), numpy.empty(times.shape, "int64")
        self._convert(given.size, given.ctypes.data, t_ref.ctypes.data, bound.ctypes.data)
        return (t_ref.view("datetime64[ns]") if is_date else t_ref), bound

    def _convert(self, num: int, *addresses: int) -> None:
        ret = core.netsync_convert_many(self._handle.pointer, num,
                                        *(ctypes.cast(a, _Times) for a in addresses))
        if ret:
            raise _does_not_fit(ret)
