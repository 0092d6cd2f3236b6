"""Trajectories on a grid to rankings with ties to choice sets.

Data shapes, named once:

- ``values[instance, algorithm, time]``: best-so-far, smaller is better; +inf where an algorithm has
  found nothing yet, which puts it last.
- ``present``, of the same shape: who is in the ranking; the absent are neither last nor anywhere.
- ``positions``, of the same shape: 0 for the best, equal where tied, no gaps, ABSENT where absent.
"""

from __future__ import annotations

import numpy as np

from polarbear import counting
from polarbear.choice_sets import (
    MAX_ALGORITHMS,
    ChoiceSets,
    choice_sets_from_terms,
)
from polarbear.counting import ABSENT, MAX_EXACT_TIE
from polarbear.errors import RankingError

__all__ = [
    "ABSENT",
    "MAX_EXACT_TIE",
    "ChoiceSets",
    "choice_sets",
    "rank",
]

LATIN_SQUARES = 4  # of a wide tie's own width: what its subsample of orderings consists of
_LIST_LENGTH = 4_000_000  # terms gathered at a time: bounds memory, not results


def rank(
    values: np.ndarray, present: np.ndarray | None = None, tie_tolerance: float = 0.0
) -> np.ndarray:
    """Positions of the algorithms on each instance at each time.

    A value ties with the best of its block when it is at most ``tie_tolerance`` worse; the default
    asks for equality. A block is measured from its best, so it never spans more than the tolerance.
    """
    values = np.asarray(values, dtype=float)
    if values.ndim != 3 or values.shape[1] == 0:
        raise RankingError(
            f"expected values[instance, algorithm, time], found an array of shape {values.shape}"
        )
    if not tie_tolerance >= 0:
        raise RankingError(f"a tie tolerance is zero or more, found {tie_tolerance!r}")
    if present is None:
        present = np.ones(values.shape, dtype=bool)
    present = np.asarray(present, dtype=bool)
    if present.shape != values.shape:
        raise RankingError(
            f"the presence mask has shape {present.shape}, the values have {values.shape}"
        )
    undefined = np.isnan(values) & present
    if undefined.any():
        instance, algorithm, time = np.argwhere(undefined)[0]
        raise RankingError(
            f"the value of algorithm {algorithm} on instance {instance} at timepoint {time} is not "
            "a number: mark the algorithm absent there, or give +inf where it has found nothing"
        )
    positions = np.empty(values.shape, dtype=np.int16)
    counting.rank_values(values, present, float(tie_tolerance), positions)
    return positions


def choice_sets(
    positions: np.ndarray, weights: np.ndarray | None = None, seed: int = 0
) -> ChoiceSets:
    """Count the choice sets of all rankings, ties in closed form.

    ``weights[instance]`` is one unless given. The seed matters only for ties wider than
    MAX_EXACT_TIE, which are subsampled and counted in ``sampled_ties``.
    """
    positions = np.asarray(positions, dtype=np.int16)
    if positions.ndim != 3:
        raise RankingError(
            "expected positions[instance, algorithm, time], "
            f"found an array of shape {positions.shape}"
        )
    n_instances, n, _ = positions.shape
    if n > MAX_ALGORITHMS:
        raise RankingError(f"{n} algorithms in one ranking; at most {MAX_ALGORITHMS} can be ranked")
    if weights is None:
        weights = np.ones(n_instances)
    weights = np.asarray(weights, dtype=float)
    if weights.shape != (n_instances,) or not np.all(np.isfinite(weights) & (weights > 0)):
        raise RankingError(
            f"expected {n_instances} finite weights above zero, one an instance, found {weights!r}"
        )
    if n <= MAX_EXACT_TIE:
        return _count_by_table(positions, weights)
    return _count_by_list(positions, weights, seed)


def _count_by_table(positions: np.ndarray, weights: np.ndarray) -> ChoiceSets:
    _, n, n_times = positions.shape
    wins = np.zeros((n_times, n))
    rankings = np.zeros(n_times, dtype=np.int64)
    table = np.zeros((n_times, 1 << n))
    counting.count_in_table(positions, weights, wins, rankings, table)
    times, masks = np.nonzero(table)
    offsets = np.searchsorted(times, np.arange(n_times + 1)).astype(np.int64)
    return ChoiceSets(wins, offsets, masks, table[times, masks], rankings)


def _count_by_list(positions: np.ndarray, weights: np.ndarray, seed: int) -> ChoiceSets:
    n_instances, n, n_times = positions.shape
    none = np.empty(0, dtype=np.int64)
    counted = choice_sets_from_terms(
        np.zeros((n_times, n)), none, none, none, np.zeros(n_times, dtype=np.int64)
    )
    bound = np.cumsum(counting.bound_terms(positions))
    first = 0
    while first < n_instances:
        done = bound[first - 1] if first else 0
        last = max(int(np.searchsorted(bound, done + _LIST_LENGTH, side="right")), first + 1)
        length = int(bound[last - 1] - done)
        wins = np.zeros((n_times, n))
        rankings = np.zeros(n_times, dtype=np.int64)
        times, masks = np.empty(length, dtype=np.int64), np.empty(length, dtype=np.int64)
        counts = np.empty(length)
        total = counting.count_in_list(
            positions[first:last], weights[first:last], wins, rankings, times, masks, counts
        )
        terms = _with_sampled_ties(times[:total], masks[:total], counts[:total], n, seed)
        counted += choice_sets_from_terms(wins, *terms[:3], rankings, terms[3])
        first = last
    return counted


def _with_sampled_ties(
    times: np.ndarray, masks: np.ndarray, counts: np.ndarray, n: int, seed: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
    """Replace the two terms that mark a wide tie by those of a subsample of its orderings."""
    wide = np.flatnonzero(counts == counting.WIDE)
    if not len(wide):
        return times, masks, counts, 0
    known: dict[tuple[int, int], tuple[np.ndarray, np.ndarray]] = {}
    exact = np.ones(len(masks), dtype=bool)
    exact[wide] = exact[wide + 1] = False
    new = [(times[exact], masks[exact], counts[exact])]
    for k in wide:
        tie = int(masks[k]), int(masks[k + 1])
        if tie not in known:
            known[tie] = _sampled_tie(*tie, n, seed)
        sets, shares = known[tie]
        new.append((np.full(len(sets), times[k]), sets, shares * counts[k + 1]))
    time, mask, count = (np.concatenate(parts) for parts in zip(*new, strict=True))
    return time, mask, count, len(wide)


def _sampled_tie(block: int, rest: int, n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Sets of a wide tie, and their shares, over random Latin squares of orderings.

    Rotating each random ordering through all its shifts puts every item equally often in every
    place, so that the subsample favours nobody; and the same tie always gets the same orderings,
    so that counts of separate piles of rankings add up.
    """
    rng = np.random.default_rng([seed, block, rest])
    items = np.array([i for i in range(n) if block >> i & 1])
    width = len(items)
    shifts = (np.arange(width)[:, None] + np.arange(width)) % width
    orders = np.concatenate([rng.permutation(items)[shifts] for _ in range(LATIN_SQUARES)])
    chosen = np.cumsum(np.int64(1) << orders, axis=1)
    remaining = (block | rest) ^ np.concatenate(
        [np.zeros((len(orders), 1), dtype=np.int64), chosen[:, :-1]], axis=1
    )
    sets, times = np.unique(remaining, return_counts=True)
    several = sets & (sets - 1) != 0
    return sets[several], times[several] / len(orders)
