"""Uniform random search: the baseline that everything else should beat."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from polarbear.algorithms.base import Algorithm, Trial
from polarbear.problems.base import Kind, Setting

BLOCK = 64  # points drawn at once


class RandomSearch(Algorithm):
    """Points drawn uniformly in the box."""

    accepts: ClassVar[frozenset[Kind]] = frozenset({Kind.CONTINUOUS, Kind.INTEGER})

    def run(self, trial: Trial, setting: Setting) -> None:
        rng = np.random.default_rng(trial.seed)
        while True:
            for point in rng.uniform(trial.lower, trial.upper, (BLOCK, trial.dimension)):
                trial.evaluate(point)
