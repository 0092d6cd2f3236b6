"""The synthetic suite: its rankings are Plackett-Luce with the truth it states."""

from itertools import permutations
from typing import Any

import numpy as np
import pytest
from scipy.stats import chisquare, kstest

from polarbear.errors import ConfigError, ProblemError
from polarbear.problems import Setting
from polarbear.problems.synthetic import Synthetic
from polarbear.settings.grid import Budget
from polarbear.settings.options import Source, validate

NAMES = ("A", "B", "C")


def setting(points: int = 4, names: tuple[str, ...] = NAMES, seed: int = 1) -> Setting:
    grid = {"spacing": "linear", "from": 1, "to": 100, "points": points}
    return Setting(seed, Budget.model_validate({"grid": grid}), algorithms=names)


def suite(**options: Any) -> Synthetic:
    return Synthetic.model_validate({"suite": "synthetic", **options})


def values(truth: Synthetic, setting: Setting, instances: int) -> np.ndarray:
    """Values[instance, algorithm, time]."""
    values_by_instance = []
    for index in range(instances):
        problem = truth.build(truth.instance(index, setting).spec, setting)
        values_by_instance.append([problem.trajectory(name)[1] for name in setting.algorithms])
    return np.array(values_by_instance)


@pytest.mark.slow
@pytest.mark.parametrize("correlation", [0.0, 0.3, "constant"])
def test_rankings_at_each_time_are_plackett_luce_with_the_true_ratings(correlation: Any):
    """Chi-square against the six orderings' exact probabilities at three times: level 1e-4 each."""
    ratings = {"A": [0.5, 0.2, 0.1], "B": [0.3, 0.3, 0.1], "C": [0.2, 0.5, 0.8]}
    truth = suite(ratings=ratings, correlation=correlation)
    three_times = setting(3)
    drawn = values(truth, three_times, 1500)
    assert np.allclose(truth.truth(three_times), np.array([ratings[name] for name in NAMES]).T)
    for time in range(3):
        order = np.argsort(drawn[:, :, time], axis=1)  # lower is better
        theta = truth.truth(three_times)[time]
        observed = []
        expected = []
        for first, second, third in permutations(range(3)):
            observed.append(int(np.sum(np.all(order == [first, second, third], axis=1))))
            share = theta[first] * theta[second] / (theta[second] + theta[third])
            expected.append(1500 * share)
        assert chisquare(observed, expected).pvalue > 1e-4


def test_noise_is_gumbel_at_each_time_and_correlated_as_asked():
    """Kolmogorov-Smirnov at level 1e-4; correlations of normal scores within 0.05 (> 5 sd)."""
    from scipy.special import ndtri

    times = np.array([0.0, 0.1, 0.4, 1.0])
    rng = np.random.default_rng(3)
    correlated = suite(correlation=0.3)
    noise = np.array([correlated.noise(rng, times) for _ in range(20_000)])
    for column in noise.T:
        assert kstest(column, "gumbel_r").pvalue > 1e-4
    normal = ndtri(np.exp(-np.exp(-noise)))
    expected = np.exp(-np.abs(np.subtract.outer(times, times)) / 0.3)
    assert np.max(np.abs(np.corrcoef(normal.T) - expected)) < 0.05


def test_the_truth_drawn_from_the_prior_has_its_covariance():
    """Variances of 20,000 draws agree within 5 %, correlations within 0.03 (both > 4 sd)."""
    truth = suite(prior={"sigma": 1.5, "lengthscale": 0.4})
    names = tuple(f"a{i}" for i in range(20_000))
    three_times = setting(3, names)
    drawn = np.array([truth.log_ratings(name, three_times) for name in names])
    times = np.linspace(0, 1, 3)
    scaled = np.sqrt(3) * np.abs(np.subtract.outer(times, times)) / 0.4
    assert np.allclose(drawn.var(axis=0), 1.5**2, rtol=0.05)
    assert np.max(np.abs(np.corrcoef(drawn.T) - (1 + scaled) * np.exp(-scaled))) < 0.03


def test_hyperparameters_are_drawn_from_the_papers_priors():
    """sigma ~ LogNormal(0, 0.5), seen through one log-rating's scale mixture: KS at level 1e-4."""
    rng = np.random.default_rng(5)
    reference = rng.lognormal(0, 0.5, 2000) * rng.standard_normal(2000)
    drawn = [suite(truth_seed=s).log_ratings("A", setting(2))[0] for s in range(2000)]
    assert kstest(drawn, reference).pvalue > 1e-4


def test_a_newcomer_changes_nobody_elses_truth_or_noise():
    two = setting(names=("A", "B"))
    three = setting(names=NAMES)
    truth = suite()
    assert np.array_equal(values(truth, two, 3), values(truth, three, 3)[:, :2])


def test_ratings_that_do_not_fit_are_refused():
    four_times = setting(4)
    with pytest.raises(ProblemError, match="has no 'B'; it has: A"):
        suite(ratings={"A": 1.0}).instance(0, four_times)
    with pytest.raises(ProblemError, match="3 values for 'A', but the grid has 4 times"):
        suite(ratings={"A": [1, 1, 1], "B": 1, "C": 1}).instance(0, four_times)
    with pytest.raises(ConfigError, match="above zero"):
        data = {"suite": "synthetic", "ratings": {"A": 0.0}}
        validate(Synthetic, data, Source("x"))
    with pytest.raises(ConfigError, match="not negative"):
        validate(Synthetic, {"suite": "synthetic", "correlation": -1.0}, Source("x"))
