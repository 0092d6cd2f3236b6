"""Ticks along a logarithmic axis of time."""

from __future__ import annotations

import math

from polarbear.wording import tick

MANY = 4  # orders of magnitude, from which on each has a single tick
TOO_MANY = 8  # from which on every second has


def ticks(first: float, last: float) -> list[tuple[float, str]]:
    """Times with their words: at 1, 2 and 5 of each order of magnitude, or at each order."""
    if first <= 0:
        return []
    orders = math.log10(last / first)
    powers = range(math.floor(math.log10(first)), math.ceil(math.log10(last)) + 1)
    steps = (1,) if orders > MANY else (1, 2, 5)
    values = [float(f"{step}e{power}") for power in powers for step in steps]
    inside = [value for value in values if 0.98 * first <= value <= 1.02 * last]
    return [(value, tick(value)) for value in inside[:: 2 if orders > TOO_MANY else 1]]
