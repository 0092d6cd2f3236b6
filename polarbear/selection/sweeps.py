"""The choice as the budget varies."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from polarbear.inference import Posterior
from polarbear.selection.criteria import Criteria, draws_of_values
from polarbear.selection.criterion_names import (
    DEFAULT_VALUE,
    Risk,
    ValueKind,
)
from polarbear.selection.preference import Context, at_points, linear
from polarbear.settings.decision_levels import DEFAULT_QUANTILE_LEVEL

SWEEP_POINTS = 200  # budgets: more than a reader can distinguish in a figure


@dataclass(frozen=True)
class SweepInterval:
    """Neighbouring positions with the same choice.

    ``p2bb``, ``lowest_p2bb`` and ``highest_p2bb`` are the mean, lowest and highest P(best) of the
    choice at these positions, ``regret`` is its highest expected regret.
    """

    from_: float
    to: float
    choice: str
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
    criteria = Criteria(draws_of_values(posterior, items, at_positions, value), gamma)
    p2bb = criteria.p2bb
    choices = criteria.order(risk)[:, 0]
    regret = criteria.regret[np.arange(len(choices)), choices]
    return SweepTable(
        over=f"budget in {context.axis}",
        intervals=_intervals(positions, choices, p2bb, regret, names),
        positions=tuple(positions.tolist()),
        choices=tuple(names[i] for i in choices),
        p2bb={name: tuple(p2bb[:, i].tolist()) for i, name in enumerate(names)},
    )


def _intervals(
    positions: np.ndarray,
    choices: np.ndarray,
    p2bb: np.ndarray,
    regret: np.ndarray,
    names: Sequence[str],
) -> tuple[SweepInterval, ...]:
    changes = np.flatnonzero(np.diff(choices)) + 1
    intervals = []
    for start, stop in pairwise([0, *changes.tolist(), len(positions)]):
        chances = p2bb[start:stop, choices[start]]
        intervals.append(
            SweepInterval(
                float(positions[start]),
                float(positions[stop - 1]),
                names[choices[start]],
                float(chances.mean()),
                float(chances.min()),
                float(chances.max()),
                float(regret[start:stop].max()),
            )
        )
    return tuple(intervals)
