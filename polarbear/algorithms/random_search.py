"""Uniform random search: the baseline."""

from typing import ClassVar

import numpy as np

from polarbear.algorithms.base import Algorithm, Trial
from polarbear.problems.base import Kind, Setting

BLOCK = 64  # points drawn at once; the stream of points does not depend on it


class RandomSearch(Algorithm):
    """Points drawn uniformly in the box."""

    accepts: ClassVar[frozenset[Kind]] = frozenset({Kind.CONTINUOUS, Kind.INTEGER})
    accepts_objectives: ClassVar[bool] = True

    def run(self, trial: Trial, setting: Setting) -> None:
        rng = np.random.default_rng(trial.seed)
        lower, upper = trial.box
        shape = (BLOCK, trial.dimension)
        is_integer = trial.kind is Kind.INTEGER
        width = upper - lower + is_integer  # whole numbers include both bounds
        while True:
            # Shares of the box: drawn integers may skip random bits, so that the stream would
            # depend on the block.
            points = lower + rng.random(shape) * width
            if is_integer:
                points = np.floor(points)
            points = np.minimum(points, upper)  # rounding may exceed it
            trial.evaluate_all(points.astype(np.int64) if is_integer else points)
