"""A late entry: exact for the newcomer, and nothing changes between the others."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from polarbear.errors import InferenceError
from polarbear.inference import ModelOptions, infer
from polarbear.inference.base import Diagnostics, Posterior
from polarbear.inference.models import MODELS, rating_model, rating_models
from polarbear.inference.native.set_sums import helmert
from polarbear.inference.newcomer.chains import HARDER
from polarbear.inference.newcomer.extend import extend
from polarbear.inference.relations import joint, pointwise
from polarbear.rankings import count_choice_sets, rank

from .test_models import prior_covariance

TEMPORAL = sorted(name for name, model in MODELS.items() if model.temporal)


def evidence(values, position, runs=None):
    """Choice sets without the newcomer, and with it on the first ``runs`` instances."""
    present = np.ones(values.shape, dtype=bool)
    if runs is not None:
        present[runs:, position] = False
    others = [i for i in range(values.shape[1]) if i != position]
    return count_choice_sets(rank(values[:, others])), count_choice_sets(rank(values, present))


def plackett_luce(instances, n, n_times, seed):
    """Values of algorithms that are better the lower their number, with a twist in time."""
    mu = np.linspace(1, -1, n)[:, None] * np.cos(np.linspace(0, 1.5, n_times))
    return -(mu + np.random.default_rng(seed).gumbel(size=(instances, n, n_times)))


def posterior_of(theta, model, times, hyper=None, **options):
    fine = Diagnostics(1.0, 1000.0, 1000.0, 0, None, None, 1)
    return Posterior(
        theta, 4, times, ModelOptions(model=model, **options), "native", "split-hmc", 0, 0.0, fine,
        joint=MODELS[model].temporal, hyper=hyper or {},
    )  # fmt: skip


def log_likelihood(sets, t, mu):
    """Of all rankings at time t, for log-ratings mu[..., n]: plainly, set by set."""
    total = (sets.wins[t] * mu).sum(axis=-1)
    for k in range(sets.offsets[t], sets.offsets[t + 1]):
        members = [i for i in range(sets.n_algorithms) if sets.masks[k] >> i & 1]
        total = total - sets.counts[k] * np.logaddexp.reduce(mu[..., members], axis=-1)
    return total


# Independent models.


def cut_by_integration(old, full, alpha):
    """P(newcomer beats A), P(it beats B), E theta_newcomer: algorithms A, B, newcomer; one time.

    On a grid of logit theta_A (without the newcomer, a beta distribution) and, for each, of
    logit theta_new, whose density is normalised there: that is the cut.
    """
    a = np.linspace(-20, 20, 241)
    log_a, log_b = -np.logaddexp(0, -a), -np.logaddexp(0, a)
    weight = np.exp((alpha + old.wins[0, 0]) * log_a + (alpha + old.wins[0, 1]) * log_b)
    reach = 60 if alpha < 1 else 25
    x = np.linspace(-reach, reach, 2001)
    mu = np.stack(np.broadcast_arrays(log_a[:, None], log_b[:, None], x), axis=2)
    log_density = alpha * x - 3 * alpha * np.logaddexp(0, x) + log_likelihood(full, 0, mu)
    density = np.exp(log_density - log_density.max(axis=1, keepdims=True))
    density /= density.sum(axis=1, keepdims=True)
    cumulative = np.cumsum(density, axis=1) - density / 2
    above = [
        [
            1 - np.interp(log_rating, x, row)
            for log_rating, row in zip(ratings, cumulative, strict=True)
        ]
        for ratings in (log_a, log_b)
    ]
    mean = density @ (1 / (1 + np.exp(-x)))
    return np.array([*above, mean]) @ weight / weight.sum()


@pytest.mark.slow
@pytest.mark.parametrize("alpha", [1.0, 0.3])
@pytest.mark.parametrize("kind", ["between", "ties", "loser", "winner"])
def test_the_cut_posterior_of_one_time_agrees_with_integration(alpha, kind):
    """An effective sample of 90,000 puts 0.005 at three standard errors of any probability."""
    values = plackett_luce(12, 3, 1, seed=1)[:, [0, 2, 1]]
    if kind == "ties":
        values = np.round(values)
    if kind in ("loser", "winner"):
        values[:, 2] = 100.0 if kind == "loser" else -100.0
    old, full = evidence(values, position=2, runs=8)
    options = ModelOptions(model="dirichlet", alpha=alpha, draws=120_000)
    extended = extend(infer(old, np.zeros(1), options, seed=2), full, 2, seed=3)
    assert extended.usable, extended.diagnostics.problems
    found = pointwise(extended).dominance[0, 2]
    expected = cut_by_integration(old, full, alpha)
    assert found[0] == pytest.approx(expected[0], abs=0.005)
    assert found[1] == pytest.approx(expected[1], abs=0.005)
    assert extended.mean()[0, 2] == pytest.approx(expected[2], abs=0.005)


@pytest.mark.parametrize("weight", [1.0, 0.4])
def test_beside_a_single_algorithm_a_newcomer_follows_a_beta_distribution(weight):
    """Draws are independent, so a Kolmogorov-Smirnov test applies: fails by chance one in 1,000."""
    values = np.random.default_rng(4).normal(size=(10, 2, 1))
    values[:7, 1] = -10
    values[7:, 1] = 10
    full = count_choice_sets(rank(values), weights=np.full(10, weight))
    alone = posterior_of(np.ones((20_000, 1, 1)), "dirichlet", np.zeros(1), alpha=0.7)
    theta = extend(alone, full, 1, seed=5).theta[:, 0, 1]
    expected = stats.beta(0.7 + 7 * weight, 0.7 + 3 * weight)
    assert stats.kstest(theta, expected.cdf).pvalue > 0.001


@pytest.mark.parametrize("alpha", [0.05, 1.0, 20.0])
def test_without_rankings_a_newcomer_has_the_dirichlet_priors_rating(alpha):
    """One in 1,000, as above; the rating given the others is Beta(alpha, m alpha)."""
    theta = np.random.default_rng(6).dirichlet(np.full(3, alpha), size=(20_000, 1))
    values = plackett_luce(5, 4, 1, seed=7)
    _, full = evidence(values, position=1, runs=0)
    extended = extend(posterior_of(theta, "dirichlet", np.zeros(1), alpha=alpha), full, 1, seed=8)
    p = stats.kstest(extended.theta[:, 0, 1], stats.beta(alpha, 3 * alpha).cdf).pvalue
    assert p > 0.001
    assert "algorithm 2 stands in no ranking with any of the others" in extended.notes[-1]


def test_hierarchical_keeps_each_draws_concentration_for_the_newcomer():
    """One in 1,000, as above: theta_new ~ Beta(kappa / m, kappa) at each draw's own kappa."""
    rng = np.random.default_rng(9)
    kappa = rng.choice([0.5, 2.0, 9.0], size=20_000)
    theta = np.stack([rng.dirichlet(np.full(3, k / 3), size=1) for k in kappa])
    _, full = evidence(plackett_luce(5, 4, 1, seed=10), position=3, runs=0)
    old = posterior_of(theta, "hierarchical", np.zeros(1), {"kappa": kappa})
    extended = extend(old, full, 3, seed=11)
    level = stats.beta(kappa / 3, kappa).cdf(extended.theta[:, 0, 3])
    assert stats.kstest(level, "uniform").pvalue > 0.001
    np.testing.assert_allclose(extended.hyper["kappa"] / 4, kappa / 3)


# Temporal models.

TIMES = np.array([0.0, 0.4, 1.0])
HYPER = {"sigma": (1.3, 0.6), "ell": (0.5, 1.5)}


def fixed_draws(model, size):
    """Two settings of the others and of the hyperparameters, taking turns."""
    mu = np.array(
        [
            [[0.5, -0.5, 0.2], [0.1, 0.3, -0.4], [-1.0, 0.8, 0.0]],
            [[-0.2, 1.1, 0.0], [0.9, -0.6, 0.3], [0.4, 0.4, -0.7]],
        ]
    )
    theta = np.exp(mu) / np.exp(mu).sum(axis=2, keepdims=True)
    hyper = {name: np.tile(HYPER[name], size) for name in MODELS[model].hyperparameters}
    return mu, posterior_of(np.tile(theta, (size, 1, 1)), model, TIMES, hyper)


def features(x, mu):
    """Smooth functions of x = mu_new - mean(mu_old): moments, theta, a joint near-event."""
    x = x - mu.mean(axis=1)
    centred = mu - mu.mean(axis=1, keepdims=True)
    theta = np.exp(x) / (np.exp(x) + np.exp(centred).sum(axis=1))
    above = 1 / (1 + np.exp(-3 * (x - centred[:, 1])))
    pairs = x[:, [0, 0, 1, 0, 1, 2]] * x[:, [1, 2, 2, 0, 1, 2]]
    return np.column_stack([x, pairs, x**3, theta, above.prod(axis=1)])


@pytest.mark.slow
@pytest.mark.parametrize("model", TEMPORAL)
@pytest.mark.parametrize("instances", [3, 40])
def test_a_newcomer_over_time_agrees_with_integration_given_the_others(model, instances):
    """Sixteen expectations, two settings: within 4.5 standard errors, by chance off 1 in 4,600."""
    size = 20_000
    values = plackett_luce(instances, 4, 3, seed=12)
    values[:, 2, 2] = -100.0  # the newcomer always wins in the end: far from Gaussian
    _, full = evidence(values, position=2)
    mu, posterior = fixed_draws(model, size)
    extended = extend(posterior, full, 2, seed=13)
    assert extended.diagnostics.attempts == 1
    assert extended.usable, extended.diagnostics.problems
    drawn = np.log(extended.theta)
    drawn = drawn - drawn[:, :, :1] + np.tile(mu, (size, 1, 1))[:, :, :1]

    z = np.linspace(-7, 7, 57)
    grid = np.stack(np.meshgrid(z, z, z, indexing="ij"), axis=-1).reshape(-1, 3)
    for setting in range(2):
        log_hyper = [np.log(HYPER[name][setting]) for name in MODELS[model].hyperparameters]
        latent = rating_model(model)(TIMES, 3, posterior.options).latent(np.array(log_hyper))
        covariance = (1 + 1 / 3) * prior_covariance(latent)
        x = grid @ np.linalg.cholesky(covariance).T + mu[setting].mean(axis=1)
        density = -0.5 * (grid**2).sum(axis=1)
        for t in range(3):
            all_mu = np.tile(np.insert(mu[setting, t], 2, 0.0), (len(x), 1))
            all_mu[:, 2] = x[:, t]
            density = density + log_likelihood(full, t, all_mu)
        weight = np.exp(density - density.max())
        expected = weight @ features(x, mu[setting]) / weight.sum()
        found = features(drawn[setting::2, :, 2], mu[setting])
        error = found.std(axis=0) / np.sqrt(size)
        assert (np.abs(found.mean(axis=0) - expected) < 4.5 * error).all()


@pytest.mark.parametrize("model", TEMPORAL)
def test_without_rankings_a_newcomer_has_the_process_priors_covariance(model):
    """Variances and correlations of 20,000 draws within 4.5 standard errors."""
    _, posterior = fixed_draws(model, 20_000)
    _, full = evidence(plackett_luce(4, 4, 3, seed=14), position=0, runs=0)
    extended = extend(posterior, full, 0, seed=15)
    drawn = np.log(extended.theta[::2])
    x = drawn[:, :, 0] - drawn[:, :, 1:].mean(axis=2)
    log_hyper = [np.log(HYPER[name][0]) for name in MODELS[model].hyperparameters]
    latent = rating_model(model)(TIMES, 3, posterior.options).latent(np.array(log_hyper))
    contrast = np.array([1, -1 / 3, -1 / 3, -1 / 3])
    expected = prior_covariance(latent) * np.sum((helmert(4).T @ contrast) ** 2)
    variance = np.diag(expected)
    error = np.sqrt((np.outer(variance, variance) + expected**2) / len(x))
    assert (np.abs(np.cov(x.T) - expected) < 4.5 * error).all()
    assert (np.abs(x.mean(axis=0)) < 4.5 * np.sqrt(variance / len(x))).all()


@pytest.mark.slow
def test_on_a_long_grid_short_chains_agree_with_ones_five_times_as_long(monkeypatch):
    """Means and squares at 40 times within 4.5 standard errors: by chance off 1 in 1,800."""
    old, full = evidence(plackett_luce(8, 4, 40, seed=40), position=2)
    options = ModelOptions(model="gp", dependence="independent", draws=6000)
    before = infer(old, np.linspace(0, 1, 40), options, seed=41)
    short = np.log(extend(before, full, 2, seed=42).theta)
    monkeypatch.setattr("polarbear.inference.newcomer.extend.EFFORT", HARDER)
    long = np.log(extend(before, full, 2, seed=43).theta)
    one, two = (mu[:, :, 2] - mu[:, :, 0] for mu in (short, long))
    centre = two.mean(axis=0)
    for change in (one - two, (one - centre) ** 2 - (two - centre) ** 2):
        error = change.std(axis=0) / np.sqrt(len(change))
        assert (np.abs(change.mean(axis=0)) < 4.5 * error).all()


def test_r_hat_shows_inner_chains_that_have_not_forgotten_where_they_began(monkeypatch):
    _, posterior = fixed_draws("gp", 2000)
    _, full = evidence(plackett_luce(10, 4, 3, seed=16), position=2)
    monkeypatch.setattr("polarbear.inference.chains.ROTATION", 0.02)
    stuck = extend(posterior, full, 2, seed=17)
    assert stuck.diagnostics.attempts == 2
    assert not stuck.usable
    assert stuck.diagnostics.r_hat > 1.01


# What holds for all.


@pytest.mark.parametrize("model", sorted(rating_models()))
@pytest.mark.parametrize("position", [0, 2, 3])
def test_every_model_takes_a_newcomer_and_leaves_the_others_as_they_were(model, position):
    values = plackett_luce(12, 4, 6, seed=18)
    old, full = evidence(values, position, runs=8)
    times = np.linspace(0, 1, 6)
    before = infer(
        old, times, ModelOptions(model=model, dependence="independent", draws=2000), seed=19
    )
    after = extend(before, full, position, seed=20, names="abcd")
    assert after.usable, after.diagnostics.problems
    assert after.theta.shape == (2000, 6, 4)
    np.testing.assert_allclose(after.theta.sum(axis=2), 1, atol=1e-12)
    others = [i for i in range(4) if i != position]
    rest = after.theta[:, :, others]
    np.testing.assert_allclose(rest / rest.sum(axis=2, keepdims=True), before.theta, rtol=1e-12)
    pairs = np.ix_(range(6), others, others)
    for name in ("dominance", "dominance_error", "equivalence", "equivalence_error"):
        table, kept = getattr(pointwise(before), name), getattr(pointwise(after), name)[pairs]
        np.testing.assert_array_equal(table, kept)
    if after.joint:
        kept = joint(after).dominance[np.ix_(others, others)]
        np.testing.assert_array_equal(joint(before).dominance, kept)
    assert after.notes == (
        f"{'abcd'[position]} was inferred given the posterior of the others, so that beliefs among "
        "these stayed as they were",
    )


@pytest.mark.parametrize("model", ["dirichlet", "gp"])
def test_the_joint_posterior_would_move_beliefs_between_the_others(model):
    """Which is why this exists: a newcomer that always lands between two others sets them apart."""
    first = np.where(np.arange(10) < 7, -1.0, 1.0)[:, None]
    values = np.stack([first, -first, np.zeros_like(first)], axis=1) + np.zeros((1, 1, 2))
    old, full = evidence(values, position=2)
    options = ModelOptions(model=model, dependence="independent", draws=8000)
    times = np.array([0.0, 1.0])
    before = infer(old, times, options, seed=22)
    one, cut = pointwise(before), pointwise(extend(before, full, 2, seed=23))
    together = pointwise(infer(full, times, options, seed=24))
    assert (cut.dominance[:, 0, 1] == one.dominance[:, 0, 1]).all()
    moved = np.abs(together.dominance - cut.dominance)[:, 0, 1]
    error = np.hypot(together.dominance_error, cut.dominance_error)[:, 0, 1]
    assert (moved > 5 * error).all()


PINNED = {
    "dirichlet": {},
    "gp": {
        "sigma": {"location": 0.0, "scale": 0.01},
        "lengthscale": {"shape": 10_000.0, "scale": 5000.0},
    },
}


@pytest.mark.parametrize("model", sorted(PINNED))
def test_where_the_others_are_known_the_cut_is_the_joint_posterior(model):
    """4,000 rankings fix the others, priors the hyperparameters: within 4.5 standard errors."""
    values = plackett_luce(4000, 4, 2, seed=25)
    old, full = evidence(values, position=1, runs=12)
    options = ModelOptions(model=model, dependence="independent", draws=16_000, **PINNED[model])
    times = np.array([0.0, 1.0])
    cut = extend(infer(old, times, options, seed=26), full, 1, seed=27)
    together = infer(full, times, options, seed=28)
    one, two = pointwise(cut), pointwise(together)
    error = np.hypot(one.dominance_error, two.dominance_error)[:, 1]
    assert (np.abs(one.dominance - two.dominance)[:, 1] <= 4.5 * error).all()
    np.testing.assert_allclose(cut.mean(), together.mean(), atol=0.005)


@pytest.mark.parametrize("model", ["dirichlet", "hierarchical", "gp"])
def test_draws_depend_on_the_seed_alone_not_on_the_threads(model):
    values = plackett_luce(8, 4, 9, seed=29)
    old, full = evidence(values, position=1)
    before = infer(
        old,
        np.linspace(0, 1, 9),
        ModelOptions(model=model, dependence="independent", draws=800),
        seed=30,
    )
    one, three, other = (
        extend(before, full, 1, seed=seed, threads=threads).theta
        for seed, threads in ((5, 1), (5, 3), (6, 1))
    )
    np.testing.assert_array_equal(one, three)
    assert not np.array_equal(one, other)


def test_the_newcomer_shares_no_random_numbers_with_the_others():
    """Same seed, no rankings: correlation of logits within 4.5 standard errors of none."""
    old, full = evidence(plackett_luce(6, 3, 8, seed=31), position=2, runs=0)
    before = infer(old, np.linspace(0, 1, 8), ModelOptions(model="dirichlet", draws=4000), seed=1)
    theta = extend(before, full, 2, seed=1).theta
    new = np.log(theta[:, :, 2] / (1 - theta[:, :, 2]))
    logit = np.log(theta[:, :, 0] / theta[:, :, 1])
    correlations = np.corrcoef(np.hstack([new, logit]).T)
    np.fill_diagonal(correlations, 0)
    assert np.abs(correlations).max() < 4.5 / np.sqrt(3000)


@pytest.mark.slow
def test_draws_with_continuous_hyperparameters_are_extended_too():
    """As NUTS leaves them: every draw has a setting of its own."""
    values = plackett_luce(8, 4, 4, seed=32)
    old, full = evidence(values, position=3)
    before = infer(
        old,
        np.linspace(0, 1, 4),
        ModelOptions(model="gp", dependence="independent", draws=800),
        seed=33,
    )
    spread = np.exp(0.01 * np.random.default_rng(34).standard_normal(before.n_draws))
    hyper = {name: draws * spread for name, draws in before.hyper.items()}
    one, many = (extend(p, full, 3, seed=35) for p in (before, replace(before, hyper=hyper)))
    # two means of some 600 effective draws with a deviation of some 0.06, at 4.5 standard errors
    np.testing.assert_allclose(one.mean(), many.mean(), atol=0.016)


def test_ratings_that_have_vanished_do_no_harm():
    theta = np.zeros((800, 3, 3))
    theta[:, :, 0] = 1.0
    _, full = evidence(plackett_luce(8, 4, 3, seed=36), position=3)
    hyper = {"sigma": np.ones(800), "ell": np.full(800, 0.5)}
    for model in ("dirichlet", "gp"):
        extended = extend(posterior_of(theta, model, TIMES, hyper), full, 3)
        assert np.isfinite(extended.theta).all()
        np.testing.assert_allclose(extended.theta.sum(axis=2), 1)


def test_what_limits_the_newcomers_rating_is_noted():
    values = plackett_luce(8, 4, 6, seed=37)
    present = np.ones(values.shape, dtype=bool)
    present[:, 1, 4:] = False  # the newcomer was not run to the end
    present[:4, 0] = present[4:, 1] = False  # and never beside the first
    full = count_choice_sets(rank(values, present))
    old = count_choice_sets(rank(values[:, [0, 2, 3]]))
    before = infer(old, np.linspace(0, 1, 6), ModelOptions(model="dirichlet", draws=800))
    notes = extend(before, full, 1, names=["ann", "bob", "cy", "dee"]).notes
    assert "bob is in no ranking at 2 of 6 timepoints (first: timepoint 5)" in notes[1]
    assert "bob never stood in one ranking with ann" in notes[2]


def test_a_posterior_that_is_not_usable_stays_so():
    old, full = evidence(plackett_luce(8, 3, 2, seed=38), position=0)
    before = infer(old, np.array([0.0, 1.0]), ModelOptions(model="dirichlet", draws=2000))
    doubtful = replace(before, diagnostics=replace(before.diagnostics, r_hat=1.2))
    assert extend(before, full, 0).usable
    assert extend(doubtful, full, 0).diagnostics.problems == doubtful.diagnostics.problems


@pytest.mark.parametrize(
    ("n", "n_times", "position", "message"),
    [
        (3, 2, 0, "of 3 algorithms is extended by rankings of 4, but these are of 3"),
        (5, 2, 0, "but these are of 5"),
        (4, 3, 0, "has 2 timepoints, but the rankings have 3"),
        (4, 2, 4, "number 5 of 4 algorithms: give its index, from 0 to 3"),
        (4, 2, -1, "from 0 to 3"),
    ],
)
def test_rankings_that_do_not_fit_the_posterior_are_refused(n, n_times, position, message):
    theta = np.full((400, 2, 3), 1 / 3)
    posterior = posterior_of(theta, "dirichlet", np.array([0.0, 1.0]))
    full = count_choice_sets(rank(plackett_luce(4, n, n_times, seed=39)))
    with pytest.raises(InferenceError, match=message):
        extend(posterior, full, position)
