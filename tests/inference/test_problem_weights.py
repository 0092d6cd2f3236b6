"""The weight of other groups' problems: chosen on held-out duels, by brute force and on truths."""

import numpy as np
import pytest

from polarbear.inference.empirical.problem_weights import (
    BORROWED_WEIGHTS,
    borrowed_weight,
    held_out_scores,
)
from polarbear.rankings.duels import ProblemDuels, duels_of


def duels_with(win_rates: np.ndarray, rng: np.random.Generator) -> ProblemDuels:
    """Duels of two algorithms at three times, the first of which wins with these rates."""
    first_wins = rng.random((len(win_rates), 3)) < win_rates[:, np.newaxis]
    positions = np.stack([~first_wins, first_wins], axis=1).astype(np.int16)
    return duels_of(positions)


def score_by_brute_force(
    duels: ProblemDuels, groups: np.ndarray, concentration: float, borrowed: float
) -> float:
    logs = []
    weights = np.ones(duels.n_problems) if duels.weights is None else duels.weights
    first = duels.positions[:, 0] < duels.positions[:, 1]
    for k in range(duels.n_problems):
        others = np.arange(duels.n_problems) != k
        support = np.where(groups == groups[k], 1.0, borrowed) * others * weights
        for time in range(first.shape[1]):
            rate = (concentration / 2 + support @ first[:, time]) / (concentration + support.sum())
            logs.append(weights[k] * np.log(rate if first[k, time] else 1 - rate))
    return float(np.sum(logs) / (weights.sum() * first.shape[1]))


@pytest.mark.parametrize("has_weights", [False, True])
def test_scores_are_those_of_predictions_from_all_other_problems(has_weights: bool):
    rng = np.random.default_rng(1)
    groups = rng.integers(0, 3, 40)
    duels = duels_with(np.array([0.2, 0.5, 0.8])[groups], rng)
    if has_weights:
        duels = duels_of(duels.positions, weights=rng.uniform(0.1, 3, 40))
    scores = held_out_scores(duels, groups, 2.0, BORROWED_WEIGHTS)
    for borrowed, score in zip(BORROWED_WEIGHTS, scores, strict=True):
        assert score == pytest.approx(score_by_brute_force(duels, groups, 2.0, borrowed))


def test_groups_that_differ_borrow_little_and_groups_that_do_not_borrow_all():
    weights_if_different = []
    weights_if_alike = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        groups = np.repeat([0, 1], [100, 100])
        weights_if_different.append(
            borrowed_weight(duels_with(np.where(groups == 0, 0.1, 0.9), rng), groups, 2.0)
        )
        labels = rng.permutation(np.repeat(np.arange(10), 20))
        weights_if_alike.append(borrowed_weight(duels_with(np.full(200, 0.7), rng), labels, 2.0))
    assert max(weights_if_different) <= 0.03
    assert np.mean(np.array(weights_if_alike) >= 0.3) >= 0.75


def test_a_single_group_borrows_all():
    duels = duels_with(np.full(30, 0.6), np.random.default_rng(3))
    assert borrowed_weight(duels, np.zeros(30, dtype=int), 2.0) == 1


def mean_losses(rates: np.ndarray, size: int, rng: np.random.Generator) -> np.ndarray:
    """The expected log loss on new problems of each group: alone, all together, and borrowed."""
    groups = np.repeat(np.arange(len(rates)), size)
    first_wins = rng.random(len(groups)) < rates[groups]
    positions = np.stack([~first_wins, first_wins], axis=1)[:, :, np.newaxis].astype(np.int16)
    borrowed = borrowed_weight(duels_of(positions), groups, 2.0)
    losses = []
    for weight in (0.0, 1.0, borrowed):
        support = np.where(groups == np.arange(len(rates))[:, np.newaxis], 1.0, weight)
        predicted = (1 + support @ first_wins) / (2 + support.sum(axis=1))
        loss = -rates * np.log(predicted) - (1 - rates) * np.log(1 - predicted)
        losses.append(loss.mean())
    return np.array(losses)


@pytest.mark.parametrize(
    ("first", "second", "groups", "size"), [(6e6, 4e6, 10, 10), (4, 4, 10, 10), (12, 8, 20, 5)]
)
def test_predictions_are_nearly_those_of_the_better_of_no_and_full_support(
    first: float, second: float, groups: int, size: int
):
    rng = np.random.default_rng(7)
    losses = np.mean(
        [mean_losses(rng.beta(first, second, groups), size, rng) for _ in range(100)], axis=0
    )
    alone, together, borrowed = losses
    assert borrowed <= min(alone, together) + 0.005
    assert borrowed < max(alone, together) - 0.015
