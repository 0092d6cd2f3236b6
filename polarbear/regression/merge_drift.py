"""Drift over merges: is the newest version worse than the one k merges ago?

Each merge may lose so little that no gate finds it. The newest merges are therefore compared with
those that ended k = 1, 2, 4, 8, ... merges ago, as many as half of k on each side: the more merges,
the less noise of single runs. The score of a problem at a time is the share of duels that the newer
merges win against the older ones, a draw counting half.

If nothing has changed between the merges of both sides, they are interchangeable, and a score less
1/2 is as likely with either sign, on each problem independently. A sum of independent signs with
weights whose squares add up to 1 exceeds z with a probability of at most 3.18 (1 - Phi(z))
(Bentkus and Dzindzalieta 2015). This holds for any number of problems and needs no simulation, so a
history has the same answer on every machine. The bounds of all windows of times add up.

A history is looked at after every merge, for ever. The error is divided among the values of k, and
for each k among its comparisons: 1/2 for the first one, then 1/6, 1/12, ..., which add up to 1.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from polarbear.numerics.arrays import Floats, spread
from polarbear.regression.gate_decision import window_means, windows
from polarbear.regression.history_files import MergeResult

SUM_OF_SIGNS = 1 / (4 * ndtr(-np.sqrt(2)))  # the constant of Bentkus and Dzindzalieta, 3.18
MOST_ON_A_SIDE = 16  # merges; more of them have little noise to average out
MOST_RIVALS = 50  # other merges by which the win rate of one is measured


@dataclass(frozen=True)
class Comparison:
    """The newest merges against as many older ones, which ended ``merges_ago``.

    ``win_rate`` is that of the newer ones between the times ``from`` and ``to``, where they lose
    most clearly; None without common problems. ``p`` bounds the probability that merges without
    drift lose as clearly, and ``error`` is the share of the permitted error of this comparison.
    """

    merges_ago: int
    merges: int
    problems: int
    win_rate: float | None
    from_: float | None
    to: float | None
    p: float
    error: float

    @property
    def is_drift(self) -> bool:
        """Whether the newer merges are shown to be worse."""
        return self.p <= self.error


def comparisons(
    results: Sequence[MergeResult], tolerance: float, alpha: float
) -> tuple[Comparison, ...]:
    """The newest merges of a sequence against earlier ones, the shortest distance first."""
    n_merges = len(results)
    compared = []
    level = 0
    while n_merges >= (merges_ago := 2**level) + _merges_on_a_side(merges_ago):
        n_on_a_side = _merges_on_a_side(merges_ago)
        number = n_merges - merges_ago - n_on_a_side + 1  # of the comparisons with this distance
        error = (1 - alpha) / ((level + 1) * (level + 2)) / (number * (number + 1))
        older_end = n_merges - merges_ago
        newer = results[n_merges - n_on_a_side :]
        older = results[older_end - n_on_a_side : older_end]
        compared.append(_comparison(newer, older, merges_ago, tolerance, error))
        level += 1
    return tuple(compared)


def _merges_on_a_side(merges_ago: int) -> int:
    return min(max(1, merges_ago // 2), MOST_ON_A_SIDE)


def _comparison(
    newer: Sequence[MergeResult],
    older: Sequence[MergeResult],
    merges_ago: int,
    tolerance: float,
    error: float,
) -> Comparison:
    scores = mean_scores(newer, older)
    n_on_a_side = len(newer)
    if not len(scores):
        return Comparison(merges_ago, n_on_a_side, 0, None, None, None, 1.0, error)
    spans = windows(scores.shape[1])
    means = window_means(scores, spans)
    z = _standardised_loss(means, tolerance)
    p = min(1.0, len(spans) * SUM_OF_SIGNS * float(ndtr(-z.max())))
    clearest = int(z.argmax())
    start, stop = spans[clearest]
    times = newer[0].times
    return Comparison(
        merges_ago=merges_ago,
        merges=n_on_a_side,
        problems=len(scores),
        win_rate=float(np.nanmean(means[:, clearest])),
        from_=times[start],
        to=times[stop - 1],
        p=p,
        error=error,
    )


def _standardised_loss(means: Floats, tolerance: float) -> Floats:
    """By how much win rates are below one half less the tolerance: [window]."""
    lost = np.nan_to_num(0.5 - means)
    has_score = ~np.isnan(means)
    excess = ((lost - tolerance) * has_score).sum(axis=0)
    return np.asarray(excess / np.sqrt(np.maximum(np.square(lost).sum(axis=0), 1e-12)))


def mean_scores(newer: Sequence[MergeResult], older: Sequence[MergeResult]) -> Floats:
    """The share of duels that newer merges win against older ones: [problem, time].

    It is the mean over pairs of merges, then over the instances of a problem. NaN where runs are
    absent. Only instances that all of these merges have are used.
    """
    everyone = [*newer, *older]
    common = set.intersection(*(set(result.instances) for result in everyone))
    instances = [name for name in newer[0].instances if name in common]
    if not instances:
        return np.empty((0, len(newer[0].times)))
    new_values = [result.values_on(instances) for result in newer]
    old_values = [result.values_on(instances) for result in older]
    tie_tolerance = newer[0].tie_tolerance
    pairs = [_scores(new, old, tie_tolerance) for new in new_values for old in old_values]
    scores = np.mean(pairs, axis=0)
    problem_of = dict(zip(newer[0].instances, newer[0].problems, strict=True))
    names, problem = np.unique([problem_of[name] for name in instances], return_inverse=True)
    totals = np.zeros((len(names), scores.shape[1]))
    np.add.at(totals, problem, scores)
    return np.asarray(totals / np.bincount(problem)[:, None])


def _scores(new: Floats, old: Floats, tie_tolerance: float) -> Floats:
    """1 for a win, 0 for a loss, 1/2 for a draw; NaN where a run is absent."""
    with np.errstate(invalid="ignore"):
        is_draw = (new == old) | (np.abs(new - old) <= tie_tolerance)
    is_absent = np.isnan(new) | np.isnan(old)
    return np.where(is_absent, np.nan, np.where(is_draw, 0.5, new < old))


def win_rates(results: Sequence[MergeResult]) -> Floats:
    """The win rate of each merge against the others of its sequence: [merge, time].

    Of many others, as many as MOST_RIVALS are used, evenly spaced.
    """
    rates = []
    for number, result in enumerate(results):
        others = [*results[:number], *results[number + 1 :]]
        rivals = [others[index] for index in spread(len(others), MOST_RIVALS)] if others else []
        scores = [mean_scores([result], [rival]) for rival in rivals]
        rows = np.concatenate([np.full((1, len(result.times)), np.nan), *scores])
        has_score = ~np.isnan(rows)
        total = np.where(has_score, rows, 0).sum(axis=0)
        with np.errstate(invalid="ignore"):
            rates.append(total / has_score.sum(axis=0))
    return np.array(rates)
