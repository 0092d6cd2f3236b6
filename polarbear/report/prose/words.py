"""When a stretch of time is, in words."""

from __future__ import annotations

import math

from polarbear.wording import time, timed

NARROW = 1.5  # times that lie within this factor are said as one


def span(start: float, stop: float, first: float, last: float, axis: str) -> str:
    """When a stretch of the grid is: up to, from .. to, from .. on."""
    if start <= first and stop >= last:
        return "at all times"
    if start == stop:
        return f"at {timed(start, axis)}"
    if start <= first:
        return f"up to {timed(stop, axis)}"
    if stop >= last:
        return f"from {timed(start, axis)} on"
    return f"from {time(start)} to {timed(stop, axis)}"


def in_between(low: float, high: float) -> str:
    """Where something changes: around 80, or between 630 and 920."""
    if low > 0 and high <= NARROW * low:
        return f"around {time(roundest(low, high))}"
    return f"between {time(low)} and {time(high)}"


def roundest(low: float, high: float) -> float:
    """The number between two others that has the fewest digits, the one nearest to the middle."""
    middle = (low + high) / 2
    digits = math.floor(math.log10(max(abs(low), abs(high))))
    for power in range(digits, digits - 16, -1):
        near = float(f"{round(middle / 10.0**power)}e{power}")
        if low <= near <= high:
            return near
    return middle
