"""The optimisers of pycma and scipy run to the budget, in the box and reproducibly."""

from __future__ import annotations

from collections.abc import Callable
from typing import get_args

import numpy as np
import pytest

from polarbear.algorithms.base import Algorithm
from polarbear.algorithms.scipy import MethodName
from tests.algorithms.helpers import Box, algorithm, constant, infinite, rastrigin, run, sphere

DIMENSIONS = pytest.mark.parametrize("dimension", [1, 5])
WITHOUT_RANDOMNESS = ("direct", "shgo")  # in their first start


@pytest.fixture(params=["cma", *get_args(MethodName)])
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def it(name: str) -> Algorithm:
    return algorithm("cma") if name == "cma" else algorithm("scipy", method=name)


@pytest.fixture
def near(name: str) -> float:
    """The value that is reached on the sphere, whose best is 0."""
    return 1e-9 if name == "cma" else 1e-4


@pytest.mark.slow
@DIMENSIONS
@pytest.mark.parametrize("objective", [sphere, rastrigin])
def test_it_runs_to_the_budget_in_the_box_and_improves(
    it: Algorithm, near: float, dimension: int, objective: Callable
):
    box = Box.cube(dimension)
    done = run(it, box, objective)
    assert done.points.shape == (3000, dimension)
    assert box.contains(done.points)
    assert done.values.min() < done.values[0]
    if objective is sphere:
        assert done.values.min() < near


@DIMENSIONS
def test_the_same_seed_gives_the_same_points_and_a_longer_budget_extends_them(
    it: Algorithm, dimension: int
):
    first = run(it, Box.cube(dimension), rastrigin, 400)
    np.random.seed(7)  # noqa: NPY002 - what packages would draw from by default
    before = np.random.get_state()[1].tolist()  # noqa: NPY002
    longer = run(it, Box.cube(dimension), rastrigin, 800)
    assert np.array_equal(longer.points[:400], first.points)
    assert np.random.get_state()[1].tolist() == before  # noqa: NPY002


def test_another_seed_gives_other_points(it: Algorithm, name: str):
    budget = 1000  # more than the first start of a method that draws nothing in it
    first, second = (run(it, Box.cube(2), rastrigin, budget, seed).points for seed in (1, 2))
    assert not np.array_equal(first, second)
    assert np.array_equal(first[:20], second[:20]) == (name in WITHOUT_RANDOMNESS)


@pytest.mark.parametrize(
    "box",
    [
        Box.cube(2, -1e6, 1.0),
        Box.cube(2, 0, 1e-9),
        Box(np.array([-1e6, 0.0, 5.0]), np.array([1e6, 1e-3, 5.5])),
    ],
    ids=["large", "small", "of different sides"],
)
def test_boxes_of_any_size_are_searched_like_any_other(it: Algorithm, near: float, box: Box):
    done = run(it, box)
    assert box.contains(done.points)
    assert done.values.min() < near * (10 if len(box.lower) > 2 and near > 1e-9 else 1)


@pytest.mark.slow
@DIMENSIONS
@pytest.mark.parametrize("objective", [constant, infinite])
def test_an_objective_without_any_slope_is_searched_all_over_the_box(
    it: Algorithm, dimension: int, objective: Callable
):
    points = run(it, Box.cube(dimension), objective, 1500).points
    assert np.all(np.ptp(points, axis=0) > 8)
    assert len(np.unique(points.round(1), axis=0)) > 30


def test_infinite_values_in_half_of_the_box_do_no_harm(it: Algorithm, near: float):
    done = run(it, Box.cube(2), lambda x: np.inf if x[0] > 0.5 else sphere(x))
    assert done.values.min() < near


@pytest.mark.parametrize("error", [KeyError, KeyboardInterrupt])
def test_an_error_in_the_objective_and_an_interrupt_come_through(
    it: Algorithm, error: type[BaseException]
):
    def broken(x: np.ndarray) -> float:
        raise error("a mistake of the user")

    with pytest.raises(error, match="a mistake of the user"):
        run(it, Box.cube(2), broken)


def test_thirty_dimensions_are_no_obstacle(it: Algorithm):
    done = run(it, Box.cube(30), sphere, 500)
    assert done.values.min() < done.values[0]
