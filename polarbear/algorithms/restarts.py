"""What every CMA-ES has that is started again and again until the budget ends."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import ClassVar

from pydantic import Field

from polarbear.algorithms.base import Algorithm
from polarbear.problems.base import Kind

SMALLEST_DIMENSION = 2  # a population for fewer would be too small to learn from


class RestartedCma(Algorithm):
    """A CMA-ES whose starts are uniform random points, with a larger population each."""

    sigma0: float = Field(
        0.2, gt=0, le=1, description="the first standard deviation, as a share of the box"
    )
    popsize: int | None = Field(
        None, ge=2, description="the first start's population; by default 4 + 3 log d"
    )
    restart_growth: float = Field(
        2.0, ge=1, description="each start's population, as a multiple of the one before"
    )

    accepts: ClassVar[frozenset[Kind]] = frozenset({Kind.CONTINUOUS})

    def population(self, dimension: int) -> int:
        return self.popsize or 4 + int(3 * math.log(max(dimension, SMALLEST_DIMENSION)))

    def populations(self, dimension: int) -> Iterator[int]:
        """The population of each start."""
        first = self.population(dimension)
        return (round(first * self.restart_growth**start) for start in itertools.count())
