"""Who leads when: the probability of being best at each time, and stretches of one leader."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby

import numpy as np

from polarbear.report.material import Material
from polarbear.select.criteria import wins

SHORT = 0.06  # a stretch of at most this share of the times, within another's, is passed over


@dataclass(frozen=True)
class Stretch:
    """Neighbouring times with the same leader; ``p_best`` is highest at the time ``peak``.

    ``mostly`` says that another leads for a short while in between.
    """

    algorithm: str
    start: float
    stop: float
    p_best: float
    peak: float
    mostly: bool = False


def p_best(material: Material) -> np.ndarray:
    """P(best at t)[time, candidate] among the candidates, from the posterior's draws."""
    assert material.basis is not None
    theta = material.basis.posterior.theta[:, :, [*_places(material)]]
    return np.stack(
        [wins(theta[:, t], theta[:, t].max(axis=1)).mean(axis=0) for t in range(theta.shape[1])]
    )


def _places(material: Material) -> list[int]:
    assert material.basis is not None
    return [material.basis.algorithms.index(name) for name in material.candidates]


def stretches(material: Material) -> list[Stretch]:
    """Who has the highest mean rating when, among the candidates, in the order of time."""
    assert material.basis is not None
    rating = material.basis.posterior.theta[:, :, _places(material)].mean(axis=0)
    leader, likely = rating.argmax(axis=1).tolist(), p_best(material)
    runs = [(who, list(times)) for who, times in groupby(range(len(leader)), leader.__getitem__)]
    made: list[Stretch] = []
    skip = max(1, int(SHORT * len(leader)))
    position = 0
    while position < len(runs):
        who, times = runs[position]
        mostly = False
        while (
            position + 2 < len(runs)
            and runs[position + 2][0] == who
            and len(runs[position + 1][1]) <= skip
        ):
            times = [*times, *runs[position + 1][1], *runs[position + 2][1]]
            position, mostly = position + 2, True
        peak = max(times, key=lambda t: likely[t, who])
        grid = material.basis.times
        made.append(
            Stretch(
                material.candidates[who],
                float(grid[times[0]]),
                float(grid[times[-1]]),
                float(likely[peak, who]),
                float(grid[peak]),
                mostly,
            )
        )
        position += 1
    return made
