"""The Bayesian bootstrap of a part of the problems, which other problems support with weights.

An answer for a group of problems, a leaf of a tree or a new instance is that of the bootstrap in
which problem k has a weight from Gamma(v_k), where v_k is 1 for a problem of the group itself and
between 0 and 1 for another one. So groups, leaves and forests differ in the weights v alone, which
`Evidence.weighted` applies. Their sum is the number of problems that the answer stands on.

Groups share one weight w for the problems of all other groups. It has the highest score on held-out
duels: each problem is predicted from all others, by the expected win rate of each pair at each
time, and scored by the logarithm of the probability of its result.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from polarbear.rankings.duels import ProblemDuels

# From no support to one bootstrap of all problems. With 300 problems elsewhere, the smallest weight
# above 0 stands for one problem.
BORROWED_WEIGHTS = (0.0, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0)


def borrowed_weight(duels: ProblemDuels, groups: np.ndarray, concentration: float) -> float:
    """The weight that problems of other groups have in the answer for a group.

    ``groups[k]`` is the group of problem k, and ``concentration`` that of the neutral prior. Of
    equal scores the largest weight is taken: groups that do not differ are one.
    """
    scores = held_out_scores(duels, groups, concentration, BORROWED_WEIGHTS)
    best = len(scores) - 1 - int(np.argmax(scores[::-1]))
    return BORROWED_WEIGHTS[best]


def held_out_scores(
    duels: ProblemDuels, groups: np.ndarray, concentration: float, borrowed: Sequence[float]
) -> np.ndarray:
    """The score of each borrowed weight: the mean log probability of a held-out duel.

    The prediction for problem k is the expected win rate by all problems but k. Every problem
    counts as its own weight.
    """
    indices = np.unique(groups, return_inverse=True)[1].ravel()
    n_groups = int(indices.max()) + 1
    own_weights = np.ones(duels.n_problems) if duels.weights is None else duels.weights
    wins_of_group, met_of_group = _totals(duels, indices, n_groups, own_weights)
    all_wins = wins_of_group.sum(axis=0)
    all_met = met_of_group.sum(axis=0)
    scores = np.zeros(len(borrowed))
    total_weight = 0.0
    for block in duels.blocks():
        score, is_met = duels.pair_scores(block)
        group = indices[block]
        weight = own_weights[block][:, np.newaxis] * is_met
        total_weight += float(weight.sum())
        won = np.where(is_met, score, 0.0)
        wins_inside = wins_of_group[group] - weight * won
        met_inside = met_of_group[group] - weight
        wins_elsewhere = all_wins - wins_of_group[group]
        met_elsewhere = all_met - met_of_group[group]
        for k, support in enumerate(borrowed):
            expected_wins = concentration / 2 + wins_inside + support * wins_elsewhere
            total = concentration + met_inside + support * met_elsewhere
            rate = np.clip(expected_wins / total, 1e-12, 1 - 1e-12)
            log_probability = won * np.log(rate) + (1 - won) * np.log1p(-rate)
            scores[k] += float((weight * log_probability).sum())
    return scores / max(total_weight, 1e-300)


def _totals(
    duels: ProblemDuels, indices: np.ndarray, n_groups: int, own_weights: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The weighted wins and the weighted numbers of duels in each group: [group, column]."""
    _, n, n_times = duels.positions.shape
    shape = (n_groups, n * (n - 1) // 2 * n_times)
    wins = np.zeros(shape)
    met = np.zeros(shape)
    for block in duels.blocks():
        score, is_met = duels.pair_scores(block)
        weight = own_weights[block][:, np.newaxis] * is_met
        membership = (indices[block] == np.arange(n_groups)[:, np.newaxis]).astype(float)
        wins += membership @ (weight * score)
        met += membership @ weight
    return wins, met
