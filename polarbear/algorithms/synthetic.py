"""The algorithms of the synthetic suite: each reports the trajectory drawn for its name."""

from typing import ClassVar

from polarbear.algorithms.base import Algorithm, Trial
from polarbear.problems.base import Kind, Setting


class Synthetic(Algorithm):
    """No optimiser: its trajectories come from the truth in the suite `synthetic`."""

    accepts: ClassVar[frozenset[Kind]] = frozenset({Kind.SCORES})
    reports_any_axis: ClassVar[bool] = True

    def run(self, trial: Trial, setting: Setting) -> None:
        for t, y in zip(*trial.problem.trajectory(self.name), strict=True):
            trial.report(t, y)
