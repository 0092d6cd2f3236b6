"""The check of fit: silent where Plackett-Luce holds, outspoken where it does not."""

import numpy as np
from scipy.stats import binom

from polarbear.inference import ModelOptions
from polarbear.inference.fit import Fit
from polarbear.inference.plackett_luce.goodness_of_fit import LEVEL, check_fit
from polarbear.rankings import ABSENT, rank
from tests.support import inferred_from

QUICK = ModelOptions(model="dirichlet", draws=1000)


def fitted(positions: np.ndarray) -> Fit:
    return check_fit(positions, inferred_from(positions, QUICK).theta)


def test_plackett_luce_fits_what_it_made():
    """Twenty data sets: the check rejects at most as often as chance at its level, which fails
    once in 1,000 if it rejects at exactly that level."""
    rng = np.random.default_rng(2)
    rejected = 0
    for _ in range(20):
        utilities = rng.normal(size=(4, 3))
        constant = rng.gumbel(size=(40, 4, 1))
        rejected += not fitted(rank(-(utilities + constant))).fits
    assert rejected <= binom.ppf(0.999, 20, LEVEL)


def test_a_mixture_of_two_kinds_of_instances_does_not_fit():
    """On 60 % of the instances A B C D E, on the rest B C D E A: A wins most duels."""
    orders = [[0, 1, 2, 3, 4]] * 72 + [[1, 2, 3, 4, 0]] * 48
    positions = np.array([np.argsort(order) for order in orders])[:, :, None]
    found = fitted(positions)
    assert not found.fits
    assert found.p_value < LEVEL
    worst = found.worst[0]
    assert abs(worst.observed - worst.predicted) > 0.1
    duel = next(w for w in found.worst if (w.a, w.b) == (0, 1))
    assert duel.observed == 0.6
    assert duel.predicted < 0.5


def test_near_clones_beside_one_that_is_different_do_not_fit():
    """B to E come in together, before A on half of the instances and behind it on the others."""
    rng = np.random.default_rng(8)
    rows = []
    for _ in range(150):
        clones = list(1 + rng.permutation(4))
        rows.append([0, *clones] if rng.random() < 0.5 else [*clones, 0])
    positions = np.array([np.argsort(order) for order in rows])[:, :, None]
    assert not fitted(positions).fits


def test_few_instances_and_absent_algorithms_are_no_misfit():
    positions = np.array([np.argsort(o) for o in ([0, 1, 2], [1, 2, 0], [2, 0, 1])])[:, :, None]
    assert fitted(positions).fits
    positions = rank(np.random.default_rng(1).normal(size=(60, 3, 1)) + np.arange(3)[:, None])
    positions[20:, 2] = ABSENT
    assert fitted(positions).fits
