"""Kicks by third derivatives at the mode: what they are, and that draws are exact all the same."""

from __future__ import annotations

import numpy as np
import pytest

from polarbear.inference.chains import Effort, worst_tenth
from polarbear.inference.loops.bent import FURTHEST, Bent, doubt_at
from polarbear.inference.loops.independent import Ratings
from polarbear.inference.models.dirichlet import one_coefficient_a_time
from polarbear.inference.native.independent.bending import MOST, bend_of
from polarbear.inference.native.independent.mode import Density, find_mode
from polarbear.inference.native.independent.sampling import TimeChains
from polarbear.inference.native.newton import CONVERGED
from polarbear.inference.native.set_sums import set_sums, with_prior
from polarbear.numerics.compiling import kernel
from polarbear.rankings import count_choice_sets, rank

TIMES = slice(0, 2)


def laid_out(n=4, instances=12, alpha=1.0, seed=3):
    """Sets with the prior, and their mode; the last algorithm loses always at the second time."""
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(instances, n, 2)) + np.linspace(0, 1, n)[:, None]
    values[:, -1, 1] = 100.0
    sets = set_sums(count_choice_sets(rank(values)))
    mode = find_mode(sets, one_coefficient_a_time(2, alpha))
    return with_prior(sets, alpha), mode


def test_the_bend_is_the_second_derivative_of_the_slope():
    sets, mode = laid_out()
    bend = bend_of(sets, mode)
    density, helmert = Density(sets, TIMES), sets.helmert
    d = mode.spread.shape[2]
    one, two = np.tril_indices(d)
    step = 1e-3

    def slope(u):
        eta = (mode.centre + (mode.spread @ u[:, :, None])[:, :, 0]) @ helmert
        found = density(eta)[1] @ helmert.T
        return (found[:, None, :] @ mode.spread)[:, 0]

    for k, (r, v) in enumerate(zip(one, two, strict=True)):
        a, b = step * np.eye(d)[r], step * np.eye(d)[v]
        around = [slope(np.tile(x, (2, 1))) for x in (a + b, a - b, b - a, -a - b)]
        second = (around[0] - around[1] - around[2] + around[3]) / (4 * step**2)
        # products of two different coordinates stand for both their orders
        expected = second * (0.5 if r == v else 1.0)
        np.testing.assert_allclose(bend[:, :, k], expected, atol=1e-4)


def test_of_many_algorithms_there_is_no_bend():
    values = np.random.default_rng(0).normal(size=(5, MOST + 1, 1))
    sets = set_sums(count_choice_sets(rank(values)))
    mode = find_mode(sets, one_coefficient_a_time(1, 1.0))
    assert bend_of(with_prior(sets, 1.0), mode) is None


@pytest.mark.parametrize("instances", [12, 100])
def test_draws_are_those_of_exact_kicks(instances):
    """With twelve instances, too few turns are accepted for the sampler, and it is true there, too.

    Four standard errors on 44 comparisons: a false alarm in fewer than one of 250.
    """
    sets, mode = laid_out(instances=instances)
    shares = []
    for bend in (bend_of(sets, mode), None):
        theta = np.empty((40_000, 2, 4))
        chains = TimeChains(sets, TIMES, mode, np.random.default_rng(5), theta, bend)
        chains.steps = 2
        chains.advance(slice(0, len(theta)))
        assert isinstance(chains.target, Bent if bend is not None else Ratings)
        logs = np.log(theta)
        flags = [logs[:, :, a] > logs[:, :, b] for a in range(4) for b in range(a)]
        for level in (-7.0, -5.0, -3.0, -1.0):
            flags += [logs[:, :, a] < level for a in range(4)]
        rows = np.stack(flags, axis=-1).reshape(len(theta), -1)
        batches = rows.reshape(200, -1, rows.shape[1]).mean(axis=1)
        shares.append((rows.mean(axis=0), batches.std(axis=0, ddof=1) / np.sqrt(200)))
    (bent, bent_error), (exact, exact_error) = shares
    error = np.hypot(bent_error, exact_error)
    assert len(bent) == 44
    assert (np.abs(bent - exact) <= 4 * error + 1e-4).all()


@kernel
def _doubt_at(square, far, widest, steep):
    return doubt_at(square, far, widest, steep)


@pytest.mark.parametrize("instances", [4, 30, 300])
def test_the_expansion_is_wrong_by_no_more_than_the_bound(instances):
    """Where a bound is useful it is no more than 100 times what it bounds, so that it is one."""
    sets, mode = laid_out(instances=instances)
    bend, density = bend_of(sets, mode), Density(sets, TIMES)
    one, two = np.tril_indices(mode.spread.shape[2])
    apart = mode.spread[:, :, None] - mode.spread[:, None]
    widest = np.sqrt((apart**2).sum(axis=3)).max(axis=(1, 2))
    rng = np.random.default_rng(7)
    tightest = 0.0
    for length in rng.uniform(0.3, 4.0, 200):
        u = rng.normal(size=(2, mode.spread.shape[2]))
        u *= length / np.sqrt((u**2).sum(axis=1, keepdims=True))
        eta = (mode.centre + (mode.spread @ u[:, :, None])[:, :, 0]) @ sets.helmert
        residual = density(eta)[0] - mode.heights + 0.5 * length**2
        third = ((bend @ (u[:, one] * u[:, two])[:, :, None])[:, :, 0] * u).sum(axis=1) / 3
        for t in range(2):
            far, steep = np.abs(u[t]).max(), np.sqrt(CONVERGED)
            doubt = _doubt_at(length**2, far, widest[t], steep)
            assert np.isfinite(doubt) == (far <= FURTHEST and widest[t] * length <= 2.0)
            wrong = abs(residual[t] - third[t])
            assert wrong <= doubt
            tightest = max(tightest, wrong / doubt)
    assert tightest > 0.01


@pytest.mark.parametrize("instances", [4, 30, 300])
def test_turns_decided_by_the_expansion_are_those_that_all_sets_decide(instances):
    """To the bit: with no bound at all on what the expansion lacks, every turn is worked out."""
    sets, mode = laid_out(instances=instances)
    drawn = []
    for steep in (np.sqrt(CONVERGED), np.inf):
        theta = np.empty((20_000, 2, 4))
        chains = TimeChains(sets, TIMES, mode, np.random.default_rng(8), theta, bend_of(sets, mode))
        chains.target = chains.target._replace(steep=steep)
        chains.steps = 2
        chains.advance(slice(0, len(theta)))
        drawn.append(theta)
    np.testing.assert_array_equal(*drawn)


def test_where_too_few_turns_are_accepted_kicks_are_exact():
    sets, mode = laid_out(instances=4, alpha=0.05)
    theta = np.empty((100, 2, 4))
    rng = np.random.default_rng(1)
    chains = TimeChains(sets, TIMES, mode, rng, theta, bend_of(sets, mode))
    assert isinstance(chains.target, Bent)
    fared = chains.run(Effort(warm_up=200, acceptance=0.995, thin=1), len(theta))
    assert isinstance(chains.target, Ratings)
    assert worst_tenth(fared.acceptance) > 0.95
