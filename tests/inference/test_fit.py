"""The check of fit: it rejects Plackett-Luce where it does not hold, and not where it does."""

import numpy as np
import pytest
from scipy.stats import binom

from polarbear.inference import ModelOptions
from polarbear.inference.fit import Fit
from polarbear.inference.plackett_luce.goodness_of_fit import LEVEL, check_fit
from polarbear.rankings import ABSENT, rank
from tests.support import inferred_from

QUICK = ModelOptions(model="dirichlet", draws=1000)


def fitted(positions: np.ndarray) -> Fit:
    return check_fit(positions, inferred_from(positions, QUICK).theta)


@pytest.mark.slow
def test_plackett_luce_fits_rankings_that_it_generated():
    """The check rejects at most as many of twenty data sets as its level allows.

    A check that rejects at exactly that level fails this test for one seed in 1,000.
    """
    rng = np.random.default_rng(2)
    rejected = 0
    for _ in range(20):
        utilities = rng.normal(size=(4, 3))
        noise = rng.gumbel(size=(40, 4, 1))
        rejected += not fitted(rank(-(utilities + noise))).fits
    assert rejected <= binom.ppf(0.999, 20, LEVEL)


def test_a_mixture_of_two_kinds_of_instances_does_not_fit():
    """The order is A B C D E on 60 % of the instances and B C D E A on the others."""
    orders = [[0, 1, 2, 3, 4]] * 72 + [[1, 2, 3, 4, 0]] * 48
    positions = np.array([np.argsort(order) for order in orders])[:, :, None]
    fit = fitted(positions)
    assert not fit.fits
    assert fit.p_value < LEVEL
    worst = fit.worst[0]
    assert abs(worst.observed - worst.predicted) > 0.1
    duel = next(deviation for deviation in fit.worst if (deviation.a, deviation.b) == (0, 1))
    assert duel.observed == 0.6
    assert duel.predicted < 0.5


def test_near_clones_beside_a_different_algorithm_do_not_fit():
    """B to E are all before A on half of the instances, and all behind it on the others."""
    rng = np.random.default_rng(8)
    orders = []
    for _ in range(150):
        clones = list(1 + rng.permutation(4))
        orders.append([0, *clones] if rng.random() < 0.5 else [*clones, 0])
    positions = np.array([np.argsort(order) for order in orders])[:, :, None]
    assert not fitted(positions).fits


def test_few_instances_and_absent_algorithms_fit():
    orders = [[0, 1, 2], [1, 2, 0], [2, 0, 1]]
    positions = np.array([np.argsort(order) for order in orders])[:, :, None]
    assert fitted(positions).fits
    positions = rank(np.random.default_rng(1).normal(size=(60, 3, 1)) + np.arange(3)[:, None])
    positions[20:, 2] = ABSENT
    assert fitted(positions).fits
