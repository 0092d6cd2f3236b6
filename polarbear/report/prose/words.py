"""When a stretch of time is, in words."""

from __future__ import annotations

from polarbear.report.leading import Stretch
from polarbear.wording import time, timed


def span(part: Stretch, first: float, last: float, axis: str) -> str:
    """When a stretch is: up to, from .. to, from .. on."""
    mostly = " (nearly always)" if part.mostly else ""
    if part.start <= first and part.stop >= last:
        return "at nearly all times" if part.mostly else "at all times"
    if part.start == part.stop:
        return f"at {timed(part.start, axis)}"
    if part.start <= first:
        return f"up to {timed(part.stop, axis)}{mostly}"
    if part.stop >= last:
        return f"from {timed(part.start, axis)} on{mostly}"
    return f"from {time(part.start)} to {timed(part.stop, axis)}{mostly}"
