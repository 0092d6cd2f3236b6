"""More algorithms than fit into the bits of one number: the dirichlet model, and who refuses."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from polarbear.errors import InferenceError
from polarbear.inference import ModelOptions, diagnostics, infer
from polarbear.inference.chains import Effort
from polarbear.inference.diagnostics import convergence_of
from polarbear.inference.loops.curved import Curved
from polarbear.inference.loops.grown import SAFE, Grown
from polarbear.inference.loops.independent import Ratings
from polarbear.inference.loops.rankings import SAFE as SAFE_RANKINGS
from polarbear.inference.models.dirichlet import one_coefficient_a_time
from polarbear.inference.native.independent import mode, sampling
from polarbear.inference.native.independent.alike import alike_of
from polarbear.inference.native.independent.bending import bend_of
from polarbear.inference.native.independent.sampling import TimeChains
from polarbear.inference.native.set_sums import set_sums, with_prior
from polarbear.inference.newcomer.extend import extend
from polarbear.inference.relations import pointwise
from polarbear.rankings import count_choice_sets, rank
from polarbear.rankings.wide import count_wide

TIME = np.zeros(1)


def test_the_approximation_is_the_same_by_masks_and_by_what_sets_grew_from(monkeypatch):
    positions = rank(np.random.default_rng(0).integers(0, 6, (15, 8, 3)).astype(float))
    masked, wide = count_choice_sets(positions), count_wide(positions, np.ones(15), 0)
    latent = one_coefficient_a_time(3, 1.0)
    expected = mode.find_mode(set_sums(masked), latent)
    monkeypatch.setattr(mode, "FEW", 1)
    for sets in (masked, wide):
        found = mode.find_mode(set_sums(sets), latent)
        np.testing.assert_allclose(found.x, expected.x, atol=1e-9)
        np.testing.assert_allclose(found.heights, expected.heights, rtol=1e-9)
        np.testing.assert_allclose(found.spread, expected.spread, atol=1e-9)


def test_sixty_algorithms_are_rated_in_the_order_that_they_have():
    """The odds that the first of 60, ten times as good as the last, is rated below are nil."""
    utility = np.linspace(2.3, 0, 60)[:, None]
    values = -(utility + np.random.default_rng(0).gumbel(size=(40, 60, 1)))
    sets = count_choice_sets(rank(values))
    posterior = infer(sets, TIME, ModelOptions(model="dirichlet", draws=2000), seed=1)
    assert posterior.usable
    mean = posterior.mean()[0]
    assert mean[:10].min() > mean[-10:].max()
    assert np.corrcoef(np.log(mean), utility[:, 0])[0, 1] > 0.9


@pytest.mark.parametrize("options", [{"model": "hierarchical"}, {"model": "gp"},
                                     {"model": "dirichlet", "engine": "stan"}])  # fmt: skip
def test_what_needs_shared_sets_is_refused_with_the_reason(options):
    sets = count_choice_sets(rank(np.random.default_rng(0).normal(size=(4, 51, 1))))
    with pytest.raises(InferenceError, match="at most 50 algorithms, found 51; use the model"):
        infer(sets, TIME, ModelOptions(**options))


def test_a_newcomer_among_more_than_fifty_is_refused():
    values = np.random.default_rng(0).normal(size=(4, 51, 1))
    options = ModelOptions(model="dirichlet", draws=400)
    others = infer(count_choice_sets(rank(values[:, :50])), TIME, options)
    with pytest.raises(InferenceError, match="a newcomer .* at most 50 algorithms, found 51"):
        extend(others, count_choice_sets(rank(values)), 50)


def partial_and_tied(seed=1):
    """Positions of 14 on 12 instances at 3 times: some sets count as a part of a ranking."""
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 9, (12, 14, 3)).astype(float)
    return rank(values, rng.random(values.shape) < 0.85)


def laid_out(positions, alpha=1.0):
    """Sets told by what each grew from, with the prior, and their mode."""
    sets = set_sums(count_wide(positions, np.ones(len(positions)), 0))
    found = mode.find_mode(sets, one_coefficient_a_time(positions.shape[2], alpha))
    return with_prior(sets, alpha), found


def drawn(sets, found, draws, seed=5, steps=3, bend=None):
    theta = np.empty((draws, len(found.centre), found.centre.shape[1]))
    times = slice(0, theta.shape[1])
    chains = TimeChains(sets, times, found, np.random.default_rng(seed), theta, bend)
    chains.steps = steps
    chains.advance(slice(0, draws))
    return theta, chains


def one_more_set(sets):
    """One more choice at the last time, from a set that grew from the last but one."""
    steps = np.concatenate([sets.steps, [[2, sets.steps[-1, 1]]]])
    wins, offsets = sets.wins.copy(), sets.offsets.copy()
    wins[-1, 0] += 1
    offsets[-1] += 1
    counts = np.append(sets.counts, 1.0)
    return replace(sets, wins=wins, steps=steps, offsets=offsets, counts=counts)


PLAIN = rank(np.random.default_rng(4).normal(size=(11, 14, 3)))


@pytest.mark.parametrize("height", [0.5, 80.0])
@pytest.mark.parametrize(
    ("sets", "whole"),
    [
        (count_wide(PLAIN, np.ones(11), 0), 11),
        (count_wide(PLAIN, np.array([1.0] * 10 + [2.5]), 0), 10),
        (count_wide(np.concatenate([PLAIN[:6], partial_and_tied()]), np.ones(18), 0), 6),
        (one_more_set(count_wide(PLAIN, np.ones(11), 0)), 0),
    ],
    ids=["all", "one counts otherwise", "ties", "a set grew from a ranking's"],
)
def test_densities_are_those_of_the_plain_likelihood_however_many_rankings_are_whole(
    sets, whole, height
):
    """Far from the mode ratings are so low that not even sixteen sums may be multiplied."""
    found = mode.find_mode(set_sums(sets), one_coefficient_a_time(3, 0.3))
    counted = with_prior(set_sums(sets), 0.3)
    begin, end, _ = alike_of(counted).spans[-1].tolist()
    assert end - begin == whole * 13
    _, chains = drawn(counted, found, 1, bend=bend_of(counted, found))
    assert isinstance(chains.target, Curved)
    chains.walkers.u[:] = height * np.random.default_rng(5).normal(size=(3, 13))
    chains.walkers.residual[:] = -np.inf
    chains.look()
    mu = found.centre + np.einsum("tnd,td->tn", found.spread, chains.walkers.u)
    relative = np.exp(mu - mu.max(axis=1, keepdims=True))
    assert (relative.min() < SAFE_RANKINGS) == (height > 1)
    prior = 0.3 * mu.sum(axis=1) - 14 * 0.3 * np.logaddexp.reduce(mu, axis=1)
    expected = sets.log_likelihood(mu) + prior
    np.testing.assert_allclose(chains.log_densities, expected, rtol=1e-11)


@pytest.mark.parametrize("alpha", [1.0, 0.02])
def test_draws_are_the_same_whether_logarithms_are_of_sums_or_of_products(alpha):
    """Under the weaker prior some ratings are so low that products of sums would vanish."""
    positions = partial_and_tied()
    if alpha < 1:
        positions[:, 13] = 13  # always the last: nothing but the prior keeps its rating from zero
    wide, found = laid_out(positions, alpha)
    masked = with_prior(set_sums(count_choice_sets(positions)), alpha)
    one, of_masked = drawn(masked, found, 400)
    other, of_wide = drawn(wide, found, 400)
    assert isinstance(of_masked.target, Ratings)
    assert isinstance(of_wide.target, Grown)
    assert (other.min() < SAFE) == (alpha < 1)
    np.testing.assert_allclose(one, other, atol=1e-9)


def test_kicks_by_curvature_miss_but_the_means_of_sets():
    """To second order, and in single precision: what is left out is worked out set by set."""
    rng = np.random.default_rng(2)
    positions = rank(rng.normal(size=(30, 15, 1)))
    sets, found = laid_out(positions)
    bend = bend_of(sets, found)
    spread, n = found.spread[0], 15
    ratings = np.exp(found.centre[0])
    v = 0.1 * rng.normal(size=n - 1)
    _, chains = drawn(sets, found, 1, bend=bend)
    chains.walkers.u[:] = v
    chains.look()
    moved = spread @ v
    left_out = np.zeros(n)
    third = np.zeros(n)
    order = np.argsort(-positions[:, :, 0], axis=1)
    members = [row[: k + 1] for row in order for k in range(1, n)]
    for inside, count in [(m, 1.0) for m in members] + [(np.arange(n), float(n))]:
        share = ratings[inside] / ratings[inside].sum()
        mean = share @ moved[inside]
        variance = share @ (moved[inside] - mean) ** 2
        third[inside] += count * share * ((moved[inside] - mean) ** 2 - variance)
        left_out[inside] += 2 * count * share * mean**2
    expected = -0.5 * spread.T @ (third - left_out)
    np.testing.assert_allclose(chains.walkers.kick[0], expected, atol=1e-5 * np.abs(expected).max())
    assert np.linalg.norm(spread.T @ left_out) < 0.5 * np.linalg.norm(spread.T @ third)


@pytest.mark.parametrize("ties", [False, True])
def test_draws_by_cheap_kicks_are_those_by_exact_ones(ties):
    """Four standard errors on 140 (ties: 420) comparisons, a hundredth of which chance has beyond
    2.6: a false alarm in fewer than one of 30; the seed is fixed."""
    rng = np.random.default_rng(3)
    positions = partial_and_tied() if ties else rank(rng.normal(size=(25, 14, 1)))
    sets, found = laid_out(positions)
    centre = found.centre - np.logaddexp.reduce(found.centre, axis=1, keepdims=True)
    deviation = np.sqrt((found.spread**2).sum(axis=2))
    levels = [centre + z * deviation for z in (-2, -1, 0, 1, 2)]
    shares = []
    for bend in (bend_of(sets, found), None):
        theta, chains = drawn(sets, found, 20_000, steps=3, bend=bend)
        assert isinstance(chains.target, Grown if bend is None else Curved)
        logs = np.log(theta)
        rows = [logs < level for level in levels] + [
            logs > np.roll(logs, shift, axis=2) for shift in range(1, 6)
        ]
        flags = np.stack(rows, axis=-1).reshape(len(theta), -1)
        batches = flags.reshape(100, -1, flags.shape[1]).mean(axis=1)
        shares.append((flags.mean(axis=0), batches.std(axis=0, ddof=1) / 10))
    (cheap, cheap_error), (exact, exact_error) = shares
    assert len(cheap) == (420 if ties else 140)
    assert (np.abs(cheap - exact) <= 4 * np.hypot(cheap_error, exact_error) + 1e-4).all()


def test_where_too_few_turns_are_accepted_kicks_are_exact():
    sets, found = laid_out(partial_and_tied(), alpha=0.05)
    _, chains = drawn(sets, found, 1, bend=bend_of(sets, found))
    assert isinstance(chains.target, Curved)
    chains.run(Effort(warm_up=100, acceptance=0.999, thin=1), 1)
    assert isinstance(chains.target, Grown)


def test_many_draws_are_held_in_single_precision(monkeypatch):
    positions = rank(np.random.default_rng(0).normal(size=(10, 14, 2)))
    sets, options = count_choice_sets(positions), ModelOptions(model="dirichlet", draws=1000)
    double = infer(sets, [0.0, 1.0], options)
    monkeypatch.setattr(sampling, "MANY", double.theta.size)
    single = infer(sets, [0.0, 1.0], options)
    assert (double.theta.dtype, single.theta.dtype) == (np.float64, np.float32)
    np.testing.assert_array_equal(double.theta.astype(np.float32), single.theta)
    np.testing.assert_allclose(pointwise(double).dominance, pointwise(single).dominance, atol=1e-12)


@pytest.mark.parametrize("n", [4, 14])
def test_a_second_attempt_is_at_the_times_that_failed_the_first(monkeypatch, n):
    positions = rank(np.random.default_rng(0).normal(size=(30, n, 20)))
    sets, times = count_choice_sets(positions), np.linspace(0, 1, 20)
    options = ModelOptions(model="dirichlet", draws=1000)

    def inferred():
        return infer(sets, times, options, seed=3, positions=positions)

    first = inferred()
    assert first.diagnostics.attempts == 1
    tails = convergence_of(first.theta.reshape(1000, -1), options.chains)[:, 2].reshape(20, n)
    worst = np.sort(tails.min(axis=1))
    monkeypatch.setattr(diagnostics, "MIN_ESS", worst[:2].mean())  # one time of all is below
    second = inferred()
    changed = (first.theta != second.theta).any(axis=(0, 2))
    assert changed.tolist() == (tails.min(axis=1) == worst[0]).tolist()
    assert second.diagnostics.attempts == 2
    assert second.diagnostics.ess_tail > first.diagnostics.ess_tail
