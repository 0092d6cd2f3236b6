"""The choice as the budget varies."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from polarbear.inference import Posterior
from polarbear.racing.recommendation import advise
from polarbear.selection.criteria import criteria_of
from polarbear.selection.criterion_names import (
    DEFAULT_VALUE,
    Risk,
    ValueKind,
)
from polarbear.selection.preference import Context, at_points, linear
from polarbear.settings.decision_levels import DEFAULT_QUANTILE_LEVEL

Part = tuple[float, float, tuple[str, ...]]  # first and last position, and the algorithms
SWEEP_POINTS = 200  # budgets: more than a reader can distinguish in a figure


@dataclass(frozen=True)
class SweepInterval:
    """Neighbouring positions with the same choice.

    ``algorithms`` are those that may be the best, as in the recommendation of a race; the choice is
    the first of them. It is a single one where the choice is not by P(best). ``p2bb``,
    ``lowest_p2bb`` and ``highest_p2bb`` are the mean, lowest and highest P(best) of the choice at
    these positions, ``regret`` is its highest expected regret.
    """

    from_: float
    to: float
    choice: str
    algorithms: tuple[str, ...]
    p2bb: float
    lowest_p2bb: float
    highest_p2bb: float
    regret: float


@dataclass(frozen=True)
class SweepTable:
    """The choice at each position; ``p2bb`` has P(best) at each position by name."""

    over: str
    intervals: tuple[SweepInterval, ...]
    positions: tuple[float, ...]
    choices: tuple[str, ...]
    p2bb: dict[str, tuple[float, ...]]


def sweep(
    posterior: Posterior,
    items: Sequence[int],
    names: Sequence[str],
    context: Context,
    risk: Risk,
    gamma: float = DEFAULT_QUANTILE_LEVEL,
    value: ValueKind = DEFAULT_VALUE,
) -> SweepTable:
    """The choice among the items, with these names, at single budgets all over the grid."""
    times = context.times
    steps = max(1, round(SWEEP_POINTS / max(1, len(times) - 1))) if context.joint else 1
    between = times[:-1, None] + np.diff(times)[:, None] * np.arange(steps) / steps
    positions = np.append(between.ravel(), times[-1])
    at_positions = linear(at_points(times, positions))
    criteria = criteria_of(posterior, items, at_positions, value, gamma)
    p2bb = criteria.p2bb
    choices = criteria.order(risk)[:, 0]
    if risk == Risk.P2BB:
        parts = _likely_best(posterior, times, p2bb[::steps], names)
    else:
        parts = _same_choice(positions, choices, names)
    intervals = [
        _interval(start, stop, group, names, positions, p2bb, criteria.regret)
        for start, stop, group in parts
    ]
    return SweepTable(
        over=f"budget in {context.axis}",
        intervals=tuple(intervals),
        positions=tuple(positions.tolist()),
        choices=tuple(names[i] for i in choices),
        p2bb={name: tuple(p2bb[:, i].tolist()) for i, name in enumerate(names)},
    )


def _likely_best(
    posterior: Posterior, times: np.ndarray, p_best: np.ndarray, names: Sequence[str]
) -> Iterator[Part]:
    """The spans of the recommendation, which are about the times of the grid."""
    same_values = None
    if posterior.duels is not None:
        same_values = posterior.duels.same_values(posterior.algorithms, names)
    for span in advise(names, times, p_best, same_values=same_values).spans:
        yield span.start, span.stop, span.algorithms


def _same_choice(
    positions: np.ndarray, choices: np.ndarray, names: Sequence[str]
) -> Iterator[Part]:
    """Spans of neighbouring positions with the same choice."""
    changes = np.flatnonzero(np.diff(choices)) + 1
    for start, stop in pairwise([0, *changes.tolist(), len(positions)]):
        yield float(positions[start]), float(positions[stop - 1]), (names[choices[start]],)


def _interval(
    start: float,
    stop: float,
    group: tuple[str, ...],
    names: Sequence[str],
    positions: np.ndarray,
    p2bb: np.ndarray,
    regret: np.ndarray,
) -> SweepInterval:
    """The interval of a span; ``p2bb`` and ``regret`` are [position, algorithm]."""
    choice = names.index(group[0])
    is_inside = (positions >= start) & (positions <= stop)
    p_best = p2bb[is_inside, choice]
    return SweepInterval(
        from_=start,
        to=stop,
        choice=group[0],
        algorithms=group,
        p2bb=float(p_best.mean()),
        lowest_p2bb=float(p_best.min()),
        highest_p2bb=float(p_best.max()),
        regret=float(regret[is_inside, choice].max()),
    )
