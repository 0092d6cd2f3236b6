"""MA-BBOB against ioh's own ManyAffine, and against the generator's recipe."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom, chisquare, kstest

from polarbear.errors import ConfigError
from polarbear.problems import Setting
from polarbear.problems.base import Spec
from polarbear.problems.ma_bbob import MaBbob, optimum, sparse_weights
from polarbear.settings.grid import Budget
from polarbear.settings.options import Source, validate

SETTING = Setting(seed=1, budget=Budget.model_validate({"grid": [10]}))
ERROR_RATE = 1e-4  # with which a test on random draws would fail by chance, had it another seed

AFFINE = {
    "instance": 1403565112,
    "functions": [15, 19],
    "weights": [0.537545440783771, 0.462454559216229],
    "optimum": [-0.549540417524772, -2.7112622702081044, 2.8888414087187693],
    "value": 8.248695073341175,
}

needs_ioh = pytest.mark.skipif(
    find_spec("ioh") is None,
    reason="ioh is not installed: pip install '.[bbob]' (on arm64 Linux it compiles from source)",
)


def suite(**options: Any) -> MaBbob:
    return validate(MaBbob, {"suite": "ma-bbob", **options}, Source("config"))


def many_affine(spec: Spec) -> Any:
    import ioh

    weights, instances = [0.0] * 24, [1] * 24
    parts = zip(spec["functions"], spec["weights"], spec["instances"], strict=True)
    for function, weight, instance in parts:
        weights[function - 1], instances[function - 1] = weight, instance
    return ioh.problem.ManyAffine(
        xopt=optimum(spec).tolist(),
        weights=weights,
        instances=instances,
        n_variables=spec["dimension"],
    )


def specs(count: int, **options: Any) -> list[Spec]:
    return [suite(**options).instance(index, SETTING).spec for index in range(count)]


@needs_ioh
@pytest.mark.parametrize("dimension", [2, 5, 30])
def test_values_agree_with_many_affine_to_1e_12_far_from_and_near_the_optimum(
    dimension: int,
) -> None:
    rng = np.random.default_rng(0)
    for spec in specs(25, dimensions=[dimension]):
        ours, theirs = suite().build(spec, SETTING).evaluate, many_affine(spec)
        best = optimum(spec)
        near = [best + 10.0**-e * rng.standard_normal(dimension) for e in range(13)]
        far = list(rng.uniform(-5, 5, (10, dimension)))
        outside = list(rng.uniform(-50, 50, (3, dimension)))
        for x in [*far, *near, best, *outside]:
            assert ours(x) == pytest.approx(theirs(x.tolist()), rel=1e-12, abs=0)


@needs_ioh
@pytest.mark.parametrize("dimension", [2, 5, 30])
def test_instances_of_the_generator_ioh_are_many_affines_own(dimension: int) -> None:
    """All that is drawn is an instance's number; values agree to 1e-12, as above."""
    import ioh

    rng = np.random.default_rng(0)
    drawn = specs(20, dimensions=[dimension], generator="ioh")
    assert len({spec["affine_instance"] for spec in drawn}) == 20
    for spec in drawn:
        theirs = ioh.problem.ManyAffine(spec["affine_instance"], dimension)
        ours = suite().build(spec, SETTING).evaluate
        best = np.array(theirs.optimum.x)
        near = [best + 10.0**-e * rng.standard_normal(dimension) for e in range(13)]
        for x in [*rng.uniform(-5, 5, (10, dimension)), *near, best]:
            assert ours(x) == pytest.approx(theirs(x.tolist()), rel=1e-12, abs=0)


def test_nothing_within_the_box_is_better_than_the_optimum() -> None:
    rng = np.random.default_rng(0)
    for spec in specs(10, dimensions=[4]):
        evaluate = suite().build(spec, SETTING).evaluate
        lowest = evaluate(optimum(spec))
        assert lowest < 1e-10
        assert all(evaluate(x) > lowest for x in rng.uniform(-5, 5, (50, 4)))


def test_weights_are_those_of_the_official_recipe() -> None:
    for seed in range(200):
        w = np.random.default_rng(seed).uniform(size=24)
        threshold = min(0.85, sorted(w)[-3])
        expected = [value - threshold if value >= threshold else 0.0 for value in w]
        found = sparse_weights(np.random.default_rng(seed))
        assert found == pytest.approx(np.array(expected) / sum(expected), rel=1e-14)


def test_active_functions_number_two_or_as_many_of_24_uniforms_as_exceed_085() -> None:
    rng = np.random.default_rng(0)
    counts = np.bincount([np.count_nonzero(sparse_weights(rng)) for _ in range(5000)], minlength=25)
    exceeding = binom(24, 0.15)
    expected = [exceeding.cdf(2), *(exceeding.pmf(k) for k in range(3, 8)), exceeding.sf(7)]
    found = [*counts[2:8], counts[8:].sum()]
    assert sum(found) == 5000
    assert chisquare(found, 5000 * np.array(expected)).pvalue > ERROR_RATE


def test_functions_ids_and_optima_are_uniform() -> None:
    drawn = specs(2000, dimensions=[2])
    functions = np.bincount([f for spec in drawn for f in spec["functions"]], minlength=25)
    ids = np.bincount([i for spec in drawn for i in spec["instances"]], minlength=100)
    coordinates = np.concatenate([optimum(spec) for spec in drawn])
    assert (functions[0], ids[0], len(functions), len(ids)) == (0, 0, 25, 100)
    assert chisquare(functions[1:]).pvalue > ERROR_RATE
    assert chisquare(ids[1:]).pvalue > ERROR_RATE
    assert kstest(coordinates, "uniform", args=(-5, 10)).pvalue > ERROR_RATE


def test_a_stored_spec_has_the_value_it_always_had() -> None:
    spec = {
        "dimension": 3,
        "functions": [2, 15, 21],
        "weights": [0.5, 0.25, 0.25],
        "instances": [7, 42, 99],
        "optimum_seed": 123456789,
    }
    assert optimum(spec) == pytest.approx(
        [-4.72287260717483, 4.067000554840227, 3.8139355469973424], rel=1e-14
    )
    value = suite().build(spec, SETTING).evaluate([1.0, 2.0, 3.0])
    assert value == pytest.approx(2.48181847143958, rel=1e-10)


def test_a_stored_spec_of_the_generator_ioh_has_the_value_it_always_had() -> None:
    """Drawn, and computed, by ioh 0.3.22."""
    spec = specs(3, dimensions=[3], generator="ioh")[2]
    assert spec["affine_instance"] == AFFINE["instance"]
    assert spec["functions"] == AFFINE["functions"]
    assert spec["weights"] == pytest.approx(AFFINE["weights"], rel=1e-15)
    assert optimum(spec) == pytest.approx(AFFINE["optimum"], rel=1e-15)
    value = suite().build(spec, SETTING).evaluate([1.0, 2.0, 3.0])
    assert value == pytest.approx(AFFINE["value"], rel=1e-12)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"dimensions": [1]}, "dimensions.0.: input should be greater than or equal to 2, found 1"),
        ({"dimensions": []}, "dimensions: tuple should have at least 1 item"),
        ({"maximise": True}, "maximise: input should be False"),
    ],
)
def test_what_cannot_be_meant_is_refused_with_the_reason(
    options: dict[str, Any], message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        suite(**options)
