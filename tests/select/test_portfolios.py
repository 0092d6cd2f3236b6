"""Portfolios: multisets with theta summed, all of them or those that a search meets."""

from __future__ import annotations

from itertools import combinations_with_replacement
from math import comb

import numpy as np
import pytest

from polarbear.errors import SelectionError
from polarbear.preferences import Context, Valuation, read_preference
from polarbear.select import RISKS, best_portfolios, judge
from polarbear.select.portfolios import neighbours

TIMES = np.geomspace(10.0, 1000.0, 7)
LINEAR = ["uniform", "log-uniform", "at 50", "between 20 and 300", "normal 300 200", "final"]
OTHERS = ["worst-case", "0.5 * worst-case + 0.5 * final"]


def valuation(text: str) -> Valuation:
    return read_preference(text)[0].on(Context(TIMES))


def posterior(seed: int, n: int, draws: int = 300) -> np.ndarray:
    """Algorithms that are good at different times, so that mixed portfolios pay."""
    rng = np.random.default_rng(seed)
    logits = rng.normal(0, 1.0, (len(TIMES), n)) + rng.normal(0, 0.5, (draws, 1, n))
    theta = np.exp(logits + rng.normal(0, 0.2, (draws, len(TIMES), n)))
    return np.asarray(theta / theta.sum(axis=2, keepdims=True))


@pytest.mark.parametrize("text", [*LINEAR, *OTHERS])
def test_all_portfolios_are_valued_as_their_sum_says(text: str):
    theta, u = posterior(1, 4), valuation(text)
    found = best_portfolios(theta, u, 3, "mean")
    every = list(combinations_with_replacement(range(4), 3))
    assert found.exhaustive
    assert found.possible == comb(4 + 3 - 1, 3) == len(every)
    assert sorted(found.slots) == every
    sums = [sum(theta[:, :, i] for i in slots)[:, :, None] for slots in found.slots]
    values = np.concatenate([u.values(summed) for summed in sums], axis=1)
    expected = judge(values)
    for name in ("p2bb", "mean", "quantile", "regret"):
        # sums are taken in single precision, as the draws are kept
        assert getattr(found.criteria, name) == pytest.approx(getattr(expected, name), abs=1e-6)


@pytest.mark.parametrize("risk", RISKS)
@pytest.mark.parametrize("text", OTHERS)
def test_the_first_is_the_best_by_the_criterion(text: str, risk):
    found = best_portfolios(posterior(2, 4), valuation(text), 3, risk)
    merit = found.criteria.merit(risk)
    assert np.all(np.diff(merit) <= 0)


@pytest.mark.parametrize("text", LINEAR)
@pytest.mark.parametrize("size", [1, 2, 4])
def test_for_a_linear_preference_it_is_k_copies_of_the_best(text: str, size: int):
    """The paper's theorem, under expected value and under the probability of being best."""
    u = valuation(text)
    for seed in range(8):
        theta = posterior(seed, 5)
        alone = judge(u.values(theta))
        for risk in ("p2bb", "mean", "regret"):
            found = best_portfolios(theta, u, size, risk)
            assert found.slots[0] == (alone.best(risk),) * size
        copies = [found.slots.index((i,) * size) for i in range(5)]
        assert found.criteria.p2bb[copies] == pytest.approx(alone.p2bb)
        assert found.criteria.p2bb.sum() == pytest.approx(1.0)


def test_for_the_worst_case_a_mixed_portfolio_can_be_better():
    early, late = np.array([0.8, 0.2]), np.array([0.2, 0.8])
    theta = np.stack([early, late], axis=1)[None]
    found = best_portfolios(theta, read_preference("worst-case")[0].on(Context(early)), 2, "mean")
    assert found.slots[0] == (0, 1)
    assert found.criteria.mean[0] == pytest.approx(1.0)


def test_equals_share_the_probability_of_being_best():
    theta = np.full((10, len(TIMES), 2), 0.5)
    found = best_portfolios(theta, valuation("uniform"), 3, "p2bb")
    assert found.criteria.p2bb == pytest.approx(0.25)


@pytest.mark.parametrize("risk", RISKS)
@pytest.mark.parametrize("text", ["uniform", *OTHERS])
def test_the_search_finds_what_looking_at_all_finds(text: str, risk):
    u = valuation(text)
    for seed in range(12):
        theta = posterior(seed, 6, draws=100)
        every = best_portfolios(theta, u, 5, risk)
        searched = best_portfolios(theta, u, 5, risk, limit=0)
        assert not searched.exhaustive
        assert searched.possible == every.possible
        assert len(searched.slots) < len(every.slots)
        assert searched.slots[0] == every.slots[0]


def test_many_slots_are_searched_from_one_start():
    theta, u = posterior(4, 3, draws=20), valuation("worst-case")
    found = best_portfolios(theta, u, 110, "mean")
    assert not found.exhaustive
    assert len(found.slots[0]) == 110
    every = best_portfolios(theta, u, 110, "mean", limit=10**6)
    assert found.criteria.mean[0] == pytest.approx(every.criteria.mean[0], rel=1e-4)


def test_neighbours_differ_in_one_slot():
    found = neighbours((0, 0, 1), 3)
    assert found == [(0, 0, 0), (0, 0, 2), (0, 1, 1), (0, 1, 2)]


@pytest.mark.parametrize("size", [0, -1, 257])
def test_a_size_that_cannot_be_is_refused(size: int):
    with pytest.raises(SelectionError, match="slot"):
        best_portfolios(posterior(0, 2), valuation("uniform"), size, "mean")
