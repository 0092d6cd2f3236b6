"""Suites of numbered functions: what is drawn, what is built, what is refused."""

import sys
from itertools import product

import numpy as np
import pytest
from scipy.stats import chisquare

from polarbear.errors import ConfigError, MissingExtraError
from polarbear.problems import SUITES, Problem
from tests.problems.helpers import ERROR_RATE, SETTING, needs_ioh, suite

each_suite = pytest.mark.parametrize(
    ("name", "last_function"),
    [("bbob", 24), ("sbox", 24), pytest.param("pbo", 25, marks=needs_ioh)],
)


def point_in(problem: Problem, rng: np.random.Generator) -> np.ndarray:
    if problem.maximise:
        return rng.integers(problem.lower, problem.upper, endpoint=True)
    return rng.uniform(problem.lower, problem.upper)


@needs_ioh
def test_every_function_of_pbo_has_the_values_ioh_gives() -> None:
    import ioh

    rng = np.random.default_rng(0)
    for function in range(1, 26):
        spec = {"function": function, "dimension": 9, "instance": 60}
        problem = suite("pbo").build(spec, SETTING)
        original = ioh.get_problem(function, 60, 9, ioh.ProblemClass.PBO)
        for _ in range(5):
            x = point_in(problem, rng)
            assert problem.evaluate(x) == problem.evaluate(x.tolist()) == original(x)


@each_suite
def test_function_dimension_and_id_are_drawn_uniformly_and_independently(name, last_function):
    functions = [1, 7, last_function]
    dimensions = [4, 16]
    ids = [5, 6, 7]
    drawn_from = suite(
        name, functions=functions, dimensions=dimensions, instance_ids={"from": 5, "to": 7}
    )
    cells = dict.fromkeys(product(functions, dimensions, ids), 0)
    for index in range(3000):
        spec = drawn_from.instance(index, SETTING).spec
        cells[spec["function"], spec["dimension"], spec["instance"]] += 1
    assert chisquare(list(cells.values())).pvalue > ERROR_RATE


def test_outside_the_box_bbob_is_finite_and_sbox_infinite() -> None:
    spec = {"function": 8, "dimension": 3, "instance": 1}
    outside = np.array([0.0, 5.001, 0.0])
    assert np.isfinite(suite("bbob").build(spec, SETTING).evaluate(outside))
    assert suite("sbox").build(spec, SETTING).evaluate(outside) == np.inf


@needs_ioh
@pytest.mark.parametrize("wrong", [2, -1, 0.5, float("nan")])
def test_pbo_is_maximised_on_zeros_and_ones_and_refuses_what_ioh_would_reward(wrong: float):
    one_max = suite("pbo").build({"function": 1, "dimension": 4, "instance": 1}, SETTING)
    assert one_max.maximise
    assert suite("pbo").maximise
    assert (one_max.lower.tolist(), one_max.upper.tolist()) == ([0.0] * 4, [1.0] * 4)
    assert one_max.evaluate(np.ones(4)) == 4.0
    with pytest.raises(ValueError, match="zeros and ones, found"):
        one_max.evaluate([1, 1, wrong, 1])


@needs_ioh
def test_the_pbo_functions_refused_off_square_dimensions_are_those_that_need_them() -> None:
    import ioh

    def fits(function: int) -> bool:
        """Whether ioh builds it with 10 variables and all bits of its torus count."""
        try:
            problem = ioh.get_problem(function, 1, 10, ioh.ProblemClass.PBO)
        except ValueError:
            return False
        aligned = [0] * 10
        one_off = [0] * 9 + [1]
        return function != 20 or problem(aligned) != problem(one_off)

    assert tuple(f for f in range(1, 26) if not fits(f)) == SUITES["pbo"].on_square_grids


GP_BBOB = [
    ({"dimension": {"from": 1}}, "dimension.from: input should be greater than or equal to 2"),
    ({"dimension": {"from": 9, "to": 3}}, "dimension: nothing lies between 9 and 3"),
    ({"dimension": {"mean": 5, "sd": 1, "from": 50}}, "less than 1e-09 of its mass"),
    ({"dimension": {"sd": 0}}, "dimension.sd: input should be greater than 0"),
    ({"sparsity": {"active": {"to": 25}}}, "active.to: input should be less than or equal to"),
    ({"sparsity": {"active": {"log_mean": 15}}}, "less than 1e-09 of its mass"),
    ({"logits": {"temperture": {"log_mean": 0.0}}}, "did you mean 'temperature'"),
    ({"logits": {"features": {"from": 0, "to": 5}}}, "features.from: input should be greater"),
    ({"offset": {"scale": -1}}, "offset.scale: input should be greater"),
    ({"maximise": True}, "maximise: input should be False"),
]


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("bbob", {"functions": [25]}, "functions.0.: .* less than or equal to 24, found 25"),
        ("pbo", {"functions": [26]}, "functions.0.: .* less than or equal to 25, found 26"),
        ("pbo", {"functions": [0]}, "functions.0.: .* greater than or equal to 1, found 0"),
        ("sbox", {"functions": []}, "functions: .* should have at least 1 item"),
        ("bbob", {"dimensions": [1]}, "dimensions.0.: .* greater than or equal to 2, found 1"),
        ("bbob", {"dimensions": []}, "dimensions: .* should have at least 1 item"),
        ("pbo", {"dimensions": [10]}, "dimension 10 is not possible: take 9 or 16"),
        ("pbo", {"dimensions": [3]}, "dimension 3 is not possible: take 4, or"),
        ("bbob", {"instance_ids": []}, "instance_ids: .* should have at least 1 item"),
        ("bbob", {"instance_ids": [0]}, "instance_ids.0.: .* greater than or equal to 1, found 0"),
        ("bbob", {"instance_ids": {"from": 9, "to": 2}}, "nothing lies between 9 and 2"),
        ("bbob", {"instance_ids": {"from": 1, "to": 2, "step": 1}}, "unknown key 'step'"),
        ("bbob", {"instance_ids": 5}, "instance_ids: expected a mapping of settings, found 5"),
        ("bbob", {"maximise": True}, "maximise: input should be False"),
        ("pbo", {"maximise": False}, "maximise: input should be True"),
        ("ma-bbob", {"dimensions": [1]}, "dimensions.0.: .* greater than or equal to 2, found 1"),
        ("ma-bbob", {"dimensions": []}, "dimensions: tuple should have at least 1 item"),
        ("ma-bbob", {"maximise": True}, "maximise: input should be False"),
        *(("gp-bbob", *row) for row in GP_BBOB),
    ],
)
def test_what_cannot_be_meant_is_refused_with_the_reason(name, options, message):
    with pytest.raises(ConfigError, match=message):
        suite(name, **options)


def test_without_ioh_the_user_of_pbo_learns_which_extra_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "ioh", None)
    message = r"suite 'pbo' needs the package 'ioh'.*pip install '\.\[bbob\]'"
    with pytest.raises(MissingExtraError, match=message):
        suite("pbo").instance(0, SETTING)
    with pytest.raises(MissingExtraError, match=message):
        suite("pbo").build({"function": 1, "dimension": 4, "instance": 1}, SETTING)
