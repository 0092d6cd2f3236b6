"""What is ranked: best-so-far values on a grid of times."""

from __future__ import annotations

import sys
from dataclasses import dataclass

from polarbear.numerics.arrays import Floats

# Stands where a ranking recorded only its best: below these, in an order that nobody knows.
UNRECORDED = sys.float_info.max


@dataclass(frozen=True)
class GridValues:
    """Best-so-far values on a grid: values[instance, algorithm, time].

    +inf where a run had found nothing yet, NaN where an algorithm is absent: it was not run on that
    instance, or was stopped on purpose before that time. UNRECORDED where an imported ranking holds
    only those above it.
    """

    instances: tuple[str, ...]
    algorithms: tuple[str, ...]
    times: Floats
    values: Floats
