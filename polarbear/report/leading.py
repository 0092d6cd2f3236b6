"""Stretches of one leader: who is likeliest to be best when."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby

import numpy as np

from polarbear.report.material import Material
from polarbear.report.moment import draws_now, still_in
from polarbear.select import judge

SHORT = 0.06  # a stretch of at most this share of the times, within another's, is passed over


@dataclass(frozen=True)
class Stretch:
    """Neighbouring times with the same leader.

    ``p_best`` is its highest probability of being best there, at the time ``peak``; a look back at
    an earlier round has no draws to tell it from. ``mostly`` says that another leads for a short
    while in between.
    """

    algorithm: str
    start: float
    stop: float
    p_best: float | None
    peak: float
    mostly: bool = False


def p_best(material: Material) -> tuple[tuple[str, ...], np.ndarray]:
    """Who may be chosen, and P(best at t)[time, algorithm] among them; ties are shared."""
    basis = draws_now(material)
    assert basis is not None
    names = tuple(name for name in basis.algorithms if name in still_in(material))
    theta = basis.posterior.theta[:, :, [basis.algorithms.index(name) for name in names]]
    return names, np.stack([judge(theta[:, t]).p2bb for t in range(theta.shape[1])])


def stretches(material: Material) -> list[Stretch]:
    """Who is likeliest to be best when, in the order of time; looking back, who rates highest."""
    believed = material.believed
    if believed is None:
        return []
    has_draws = draws_now(material) is not None
    if has_draws:
        names, merit = p_best(material)
    else:
        names = tuple(name for name in believed.algorithms if name in still_in(material))
        merit = believed.mean[[believed.index(name) for name in names]].T
    leader = merit.argmax(axis=1).tolist()
    made = []
    for who, times, mostly in _merged(leader, max(1, int(SHORT * len(leader)))):
        peak = max(times, key=lambda t: merit[t, who])
        made.append(
            Stretch(
                names[who],
                float(believed.times[times[0]]),
                float(believed.times[times[-1]]),
                float(merit[peak, who]) if has_draws else None,
                float(believed.times[peak]),
                mostly,
            )
        )
    return made


def _merged(leader: list[int], skip: int) -> list[tuple[int, list[int], bool]]:
    """Stretches of one leader; one of at most ``skip`` times within another's is passed over."""
    runs = [(who, list(times)) for who, times in groupby(range(len(leader)), leader.__getitem__)]
    made: list[tuple[int, list[int], bool]] = []
    for who, times in runs:
        if len(made) > 1 and made[-2][0] == who and len(made[-1][1]) <= skip:
            short = made.pop()[1]
            before = made.pop()[1]
            made.append((who, [*before, *short, *times], True))
        else:
            made.append((who, times, False))
    return made
