"""What is ranked: best-so-far values on a grid of times."""

from __future__ import annotations

from dataclasses import dataclass

from polarbear.numerics.arrays import Floats


@dataclass(frozen=True)
class GridValues:
    """Best-so-far values on a grid: values[instance, algorithm, time].

    +inf where a run had found nothing yet, NaN where an algorithm is absent: it was not run on that
    instance, or was stopped on purpose before that time.
    """

    instances: tuple[str, ...]
    algorithms: tuple[str, ...]
    times: Floats
    values: Floats
