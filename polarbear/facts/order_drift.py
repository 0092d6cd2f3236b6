"""Whether the algorithms stand differently in the first and the second half of the problems.

A race takes its problems for a random sample. Where the user gives their order, a meaningful one
(by kind, or by size) misleads it: what it learns from the first problems does not hold for the
others.
"""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple

import numpy as np

from polarbear.numerics.seeds import derived_seed
from polarbear.rankings.ranking import ABSENT
from polarbear.wording import percent, time

PERMUTATIONS = 199
LEVEL = 0.01  # the p-value at which the two halves are said to differ
MIN_IN_HALF = 5  # problems of a pair in each half, below which it says nothing


class Drift(NamedTuple):
    """The pair and the time at which the two halves of the problems differ most.

    The first algorithm wins on these shares of the problems. ``p`` is how often problems in a
    random order differ at least as much.
    """

    a: str
    b: str
    at: float
    first_half: float
    second_half: float
    p: float

    @property
    def words(self) -> str:
        return (
            f"the order of the problems matters: at {time(self.at)} {self.a} beats {self.b} on "
            f"{percent(self.first_half)} of the first half and {percent(self.second_half)} of the "
            f"second (p = {self.p:.2g} in a random order); `order: random` under 'instances' "
            "shuffles them"
        )


def drift(
    positions: np.ndarray, names: tuple[str, ...], times: np.ndarray, seed: int
) -> Drift | None:
    """The drift over problems in their order, if it is more than chance.

    ``positions[problem, algorithm, time]`` are those of rankings, 0 for the best.
    """
    pairs = list(combinations(range(len(names)), 2))
    wins = np.concatenate([_wins(positions, a, b) for a, b in pairs], axis=1)
    rng = np.random.default_rng(derived_seed(seed, "drift"))
    change = _change(wins)
    total = _total(change)
    if total == 0:
        return None
    n_as_large = sum(
        _total(_change(wins[rng.permutation(len(wins))])) >= total for _ in range(PERMUTATIONS)
    )
    p = (1 + n_as_large) / (1 + PERMUTATIONS)
    if p > LEVEL:
        return None
    largest = int(np.nanargmax(np.abs(change)))
    pair, index = divmod(largest, len(times))
    first_half, second_half = _halves(wins)
    a, b = pairs[pair]
    return Drift(
        a=names[a],
        b=names[b],
        at=float(times[index]),
        first_half=float(np.nanmean(first_half[:, largest])),
        second_half=float(np.nanmean(second_half[:, largest])),
        p=p,
    )


def _wins(positions: np.ndarray, a: int, b: int) -> np.ndarray:
    """Whether a beats b, half for a draw, nan where one was not run: [problem, time]."""
    lead = positions[:, b].astype(int) - positions[:, a]
    is_absent = (positions[:, a] == ABSENT) | (positions[:, b] == ABSENT)
    return np.where(is_absent, np.nan, (np.sign(lead) + 1) / 2)


def _halves(wins: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    middle = len(wins) // 2
    return wins[:middle], wins[middle:]


def _change(wins: np.ndarray) -> np.ndarray:
    """The change of the share of wins from the first half to the second, in standard errors.

    It is nan where a half has too few problems, and 0 where nothing varies.
    """
    first_half, second_half = _halves(wins)
    n_first = (~np.isnan(first_half)).sum(axis=0)
    n_second = (~np.isnan(second_half)).sum(axis=0)
    sum_first = np.nansum(first_half, axis=0)
    sum_second = np.nansum(second_half, axis=0)
    n = np.maximum(n_first + n_second, 1)
    share = (sum_first + sum_second) / n
    variance = np.nansum((wins - share) ** 2, axis=0) / n
    counts = 1 / np.maximum(n_first, 1) + 1 / np.maximum(n_second, 1)
    error = np.sqrt(variance * counts)
    gap = sum_second / np.maximum(n_second, 1) - sum_first / np.maximum(n_first, 1)
    change = np.divide(gap, error, out=np.zeros_like(gap), where=error > 0)
    is_enough = np.minimum(n_first, n_second) >= MIN_IN_HALF
    return np.where(is_enough, change, np.nan)


def _total(change: np.ndarray) -> float:
    """The sum of squared changes over pairs and times."""
    return float(np.nansum(change**2))
