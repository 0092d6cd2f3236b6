"""MA-BBOB against ioh's own ManyAffine, and against the generator's recipe."""

from typing import Any

import numpy as np
import pytest
from scipy.stats import chisquare, kstest

from polarbear.problems.base import Spec
from polarbear.problems.ma_bbob import optimum, sparse_weights
from tests.problems import helpers
from tests.problems.helpers import ERROR_RATE, SETTING, needs_ioh, suite

AFFINE = {
    "instance": 1403565112,
    "functions": [15, 19],
    "weights": [0.537545440783771, 0.462454559216229],
    "optimum": [-0.549540417524772, -2.7112622702081044, 2.8888414087187693],
    "value": 8.248695073341175,
}


def specs(count: int, **options: Any) -> list[Spec]:
    return helpers.specs("ma-bbob", count, **options)


def many_affine(spec: Spec) -> Any:
    import ioh

    if "affine_instance" in spec:
        return ioh.problem.ManyAffine(spec["affine_instance"], spec["dimension"])
    weights = [0.0] * 24
    instances = [1] * 24
    parts = zip(spec["functions"], spec["weights"], spec["instances"], strict=True)
    for function, weight, instance in parts:
        weights[function - 1] = weight
        instances[function - 1] = instance
    return ioh.problem.ManyAffine(
        xopt=optimum(spec).tolist(),
        weights=weights,
        instances=instances,
        n_variables=spec["dimension"],
    )


@needs_ioh
@pytest.mark.parametrize("generator", ["publication", "ioh"])
@pytest.mark.parametrize("dimension", [2, 5, 30])
def test_values_agree_with_many_affine_to_1e_12_far_from_and_near_the_optimum(dimension, generator):
    """With the generator 'ioh', only the number of an instance is drawn."""
    rng = np.random.default_rng(0)
    drawn = specs(20, dimensions=[dimension], generator=generator)
    if generator == "ioh":
        assert len({spec["affine_instance"] for spec in drawn}) == 20
    for spec in drawn:
        ours = suite("ma-bbob").build(spec, SETTING).evaluate
        theirs = many_affine(spec)
        best = np.array(theirs.optimum.x)
        near = [best + 10.0**-e * rng.standard_normal(dimension) for e in range(13)]
        outside = list(rng.uniform(-50, 50, (3, dimension)))
        for x in [*rng.uniform(-5, 5, (10, dimension)), *near, best, *outside]:
            assert ours(x) == pytest.approx(theirs(x.tolist()), rel=1e-12, abs=0)


def test_nothing_within_the_box_is_better_than_the_optimum() -> None:
    rng = np.random.default_rng(0)
    for spec in specs(10, dimensions=[4]):
        evaluate = suite("ma-bbob").build(spec, SETTING).evaluate
        lowest = evaluate(optimum(spec))
        assert lowest < 1e-10
        assert all(evaluate(x) > lowest for x in rng.uniform(-5, 5, (50, 4)))


def test_weights_are_those_of_the_official_recipe() -> None:
    for seed in range(200):
        w = np.random.default_rng(seed).uniform(size=24)
        threshold = min(0.85, sorted(w)[-3])
        expected = [value - threshold if value >= threshold else 0.0 for value in w]
        weights = sparse_weights(np.random.default_rng(seed))
        assert weights == pytest.approx(np.array(expected) / sum(expected), rel=1e-14)


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
    value = suite("ma-bbob").build(spec, SETTING).evaluate([1.0, 2.0, 3.0])
    assert value == pytest.approx(2.48181847143958, rel=1e-10)
    spec = specs(3, dimensions=[3], generator="ioh")[2]  # drawn, and computed, by ioh 0.3.22
    assert (spec["affine_instance"], spec["functions"]) == (AFFINE["instance"], AFFINE["functions"])
    assert spec["weights"] == pytest.approx(AFFINE["weights"], rel=1e-15)
    assert optimum(spec) == pytest.approx(AFFINE["optimum"], rel=1e-15)
    value = suite("ma-bbob").build(spec, SETTING).evaluate([1.0, 2.0, 3.0])
    assert value == pytest.approx(AFFINE["value"], rel=1e-12)
