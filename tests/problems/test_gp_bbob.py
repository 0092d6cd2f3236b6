"""GP-BBOB against the paper's appendix: its formula, its priors, its random fields."""

from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy.stats import cauchy, chisquare, kstest, lognorm, norm

from polarbear.problems import Problem
from polarbear.problems.base import Spec
from polarbear.problems.gp_bbob import BaseFunctions, mixture, random_fields
from tests.problems import helpers
from tests.problems.helpers import ERROR_RATE, SETTING, needs_ioh, suite

SIGMAS = norm.isf(ERROR_RATE / 2)


def specs(count: int, **options: Any) -> list[Spec]:
    return helpers.specs("gp-bbob", count, **options)


def only(number: int) -> dict[str, int]:
    return {"from": number, "to": number}


def fixed(log_mean: float) -> dict[str, float]:
    return {"log_mean": log_mean, "log_sd": 0.0}


def build(spec: Spec) -> Problem:
    return suite("gp-bbob").build(spec, SETTING)


def plain_field(fields: int, dimension: int, spec: Spec, x: np.ndarray) -> list[float]:
    """σ √(2/m) Σ_j θ_ij cos(ω_j x + b_j), term by term."""
    rng = np.random.default_rng(spec["seed"])
    m = spec["features"]
    omega = rng.standard_normal((m, dimension))
    b = rng.uniform(0, 2 * np.pi, m)
    theta = rng.standard_normal((fields, m))
    features = [np.cos(sum(omega[j] * x) / spec["lengthscale"] + b[j]) for j in range(m)]
    return [
        spec["amplitude"] * np.sqrt(2 / m) * sum(theta[i][j] * features[j] for j in range(m))
        for i in range(fields)
    ]


def plain_count(spec: Spec, h: float) -> int:
    """F_K^-1(Φ(h)) for K the truncated log-normal, rounded down."""
    prior = spec["active"]
    k = np.arange(prior["from"], prior["to"] + 1)
    log_normal = lognorm(prior["log_sd"], scale=np.exp(prior["log_mean"]))
    mass = log_normal.cdf(k + 1) - log_normal.cdf(k)
    cdf = np.cumsum(mass)
    return int(k[np.argmax(cdf / cdf[-1] >= norm.cdf(h))])


def plain_value(spec: Spec, x: np.ndarray) -> float:
    """f(x) as the appendix writes it."""
    import ioh

    d = spec["dimension"]
    z = np.array(plain_field(24, d, spec["logits"], x))
    k = plain_count(spec["sparsity"], plain_field(1, d, spec["sparsity"], x)[0])
    active = np.argsort(-z)[:k]
    temperature = spec["logits"]["temperature"]
    weights = np.exp(z[active] / temperature) / sum(np.exp(z[active] / temperature))
    values = [
        ioh.get_problem(int(i) + 1, spec["instances"][i], d, ioh.ProblemClass.SBOX)(x)
        for i in active
    ]
    return sum(weights * values) + spec["offset"]


def active_functions(spec: Spec, x: np.ndarray) -> list[int]:
    """The functions that are evaluated at a point, found without evaluating them."""
    called: list[int] = []
    spies = {i: (lambda point, i=i: called.append(i) or 0.0) for i in range(24)}
    mixture(spies, spec)(x)
    return called


@needs_ioh
def test_values_are_those_of_the_appendix_written_out_plainly() -> None:
    rng = np.random.default_rng(0)
    for dimension, scale in product((2, 5, 17), (0, 1000)):
        for spec in specs(10, dimension=only(dimension), offset={"scale": scale}):
            evaluate = build(spec).evaluate
            for x in rng.uniform(-5, 5, (5, dimension)):
                assert evaluate(x) == pytest.approx(plain_value(spec, x), rel=1e-10)


def test_every_prior_is_that_of_the_table() -> None:
    drawn = specs(2000)
    logits = [spec["logits"] for spec in drawn]
    sparsity = [spec["sparsity"] for spec in drawn]
    continuous = [
        ([spec["offset"] for spec in drawn], cauchy(0, 1000)),
        ([part["temperature"] for part in logits], lognorm(0.5, scale=np.exp(-0.5))),
        ([part["lengthscale"] for part in logits], lognorm(1.0, scale=np.exp(2.0))),
        ([part["amplitude"] for part in logits], lognorm(0.7)),
        ([part["lengthscale"] for part in sparsity], lognorm(1.0)),
        ([part["amplitude"] for part in sparsity], lognorm(0.7)),
    ]
    for values, prior in continuous:
        assert kstest(values, prior.cdf).pvalue > ERROR_RATE
    uniform = [
        ([part["features"] for part in logits], 32, 128),
        ([part["features"] for part in sparsity], 16, 64),
        ([i for spec in drawn for i in spec["instances"]], 1, 999),
    ]
    for values, first, last in uniform:
        counts = np.bincount(values, minlength=last + 1)
        assert len(counts) == last + 1
        assert counts[:first].sum() == 0
        assert chisquare(counts[first:]).pvalue > ERROR_RATE
    active = {"log_mean": 1.1, "log_sd": 0.5, "from": 2, "to": 24}
    assert all(part["active"] == active for part in sparsity)


def test_dimensions_are_normal_rounded_down_and_truncated_rather_than_clipped() -> None:
    dimensions = np.array([spec["dimension"] for spec in specs(4000)])
    assert dimensions.max() <= 320
    edges = np.array([2, 180, 200, 220, 230, 240, 250, 260, 280, 300, 321])
    counts = np.histogram(dimensions, edges)[0]
    mass = np.diff(norm(240, 30).cdf(edges))
    assert counts.sum() == 4000
    assert chisquare(counts, 4000 * mass / mass.sum()).pvalue > ERROR_RATE


def test_the_number_of_active_functions_follows_the_truncated_log_normal() -> None:
    drawn = specs(
        1500,
        dimension=only(2),
        logits={"temperature": fixed(5.0)},
        # Φ makes h uniform only where its amplitude is 1 and its features are many.
        sparsity={"amplitude": fixed(0.0), "features": only(512)},
    )
    x = np.array([1.0, -2.0])
    counts = np.bincount([len(active_functions(spec, x)) for spec in drawn], minlength=25)
    log_normal = lognorm(0.5, scale=np.exp(1.1))
    edges = np.array([2, 3, 4, 5, 6, 7, 9, 25])
    mass = np.diff(log_normal.cdf(edges))
    counts_in_bins = np.add.reduceat(counts, edges[:-1])
    assert (counts[:2].sum(), counts_in_bins.sum(), len(counts)) == (0, 1500, 25)
    assert chisquare(counts_in_bins, 1500 * mass / mass.sum()).pvalue > ERROR_RATE


@pytest.mark.parametrize("distance", [0.0, 1.0, 2.5, 6.0])
def test_random_fields_have_the_rbf_covariance_and_none_between_them(distance: float) -> None:
    lengthscale = 2.0
    amplitude = 1.5
    x = np.array([1.0, -2.0, 0.5])
    y = np.array([1.0, -2.0, 0.5 + distance])
    fields = []
    for seed in range(4000):
        spec = {"seed": seed, "features": 24, "lengthscale": lengthscale, "amplitude": amplitude}
        field = random_fields(2, 3, spec)
        fields.append([field(x), field(y)])
    at_x, at_y = np.moveaxis(np.array(fields), 1, 0)
    within = (at_x * at_y).mean(axis=1)
    between = at_x[:, 0] * at_y[:, 1]
    kernel = amplitude**2 * np.exp(-(distance**2) / (2 * lengthscale**2))
    for products, expected in ((within, kernel), (between, 0.0)):
        error = products.std() / np.sqrt(len(products))
        assert abs(products.mean() - expected) < SIGMAS * error


def test_only_active_functions_are_built_and_their_seconds_are_known() -> None:
    (spec,) = specs(1, dimension=only(40), sparsity={"active": only(3)})
    functions = BaseFunctions(spec["instances"], 40)
    evaluate = mixture(functions, spec)
    x = np.zeros(40)
    assert (len(functions), functions.seconds) == (0, 0.0)
    evaluate(x)
    assert sorted(functions) == sorted(active_functions(spec, x))
    built = functions.seconds
    assert built > 0.0
    evaluate(x)
    assert functions.seconds == built
    problem = build(spec)
    problem.evaluate(x)
    assert problem.building_seconds() > 0.0


def test_outside_the_box_values_are_infinite_even_where_weights_underflow() -> None:
    for log_temperature in (0.0, -19.0):
        options = {"logits": {"temperature": fixed(log_temperature)}}
        for spec in specs(5, dimension=only(3), **options):
            evaluate = build(spec).evaluate
            assert evaluate([0.0, 0.0, 5.01]) == np.inf
            assert np.isfinite(evaluate([5.0, -5.0, 5.0]))


def test_a_stored_spec_keeps_its_priors_whatever_the_options_are_now() -> None:
    (spec,) = specs(1, dimension=only(2), sparsity={"active": only(7)})
    values = [
        suite("gp-bbob", **options).build(spec, SETTING).evaluate([1.0, 2.0])
        for options in ({}, {"dimension": only(9)})
    ]
    assert values[0] == values[1]
    assert len(active_functions(spec, np.array([1.0, 2.0]))) == 7


def test_a_stored_seed_draws_the_fields_it_always_drew() -> None:
    spec = {"seed": 123456789, "features": 40, "lengthscale": 3.0, "amplitude": 1.5}
    values = random_fields(3, 2, spec)(np.array([1.0, -2.0]))
    assert values == pytest.approx(
        [0.2990014636908751, 0.07150539288369182, 1.3536339311776233], rel=1e-9
    )
