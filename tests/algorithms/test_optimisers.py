"""The optimisers of pycma and scipy run to the budget, in the box and reproducibly."""

from typing import get_args

import numpy as np
import pytest

from polarbear.algorithms.base import Algorithm
from polarbear.algorithms.scipy import METHODS, Hop, MethodName
from polarbear.errors import AlgorithmError
from tests.algorithms.helpers import Box, algorithm, constant, infinite, rastrigin, run, sphere

DIMENSIONS = pytest.mark.parametrize("dimension", [1, 5])
PYCMA = algorithm("cma")
WITHOUT_RANDOMNESS = ("direct", "shgo")  # in their first start


@pytest.fixture(params=["cma", *get_args(MethodName)])
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def it(name: str) -> Algorithm:
    return PYCMA if name == "cma" else algorithm("scipy", method=name)


@pytest.fixture
def near(name: str) -> float:
    """The value that is reached on the sphere, whose best is 0."""
    return 1e-9 if name == "cma" else 1e-4


@pytest.mark.slow
@DIMENSIONS
@pytest.mark.parametrize("objective", [sphere, rastrigin])
def test_it_runs_to_the_budget_in_the_box_and_improves(it, near, dimension, objective):
    box = Box.cube(dimension)
    done = run(it, box, objective)
    assert done.points.shape == (3000, dimension)
    assert box.contains(done.points)
    assert done.values.min() < done.values[0]
    if objective is sphere:
        assert done.values.min() < near


@DIMENSIONS
def test_the_same_seed_gives_the_same_points_and_a_longer_budget_extends_them(it, dimension):
    first = run(it, Box.cube(dimension), rastrigin, 400)
    np.random.seed(7)  # noqa: NPY002 - what packages would draw from by default
    before = np.random.get_state()[1].tolist()  # noqa: NPY002
    longer = run(it, Box.cube(dimension), rastrigin, 800)
    assert np.array_equal(longer.points[:400], first.points)
    assert np.random.get_state()[1].tolist() == before  # noqa: NPY002


def test_another_seed_gives_other_points(it: Algorithm, name: str):
    budget = 1000  # more than the first start of a method that draws nothing in it
    first = run(it, Box.cube(2), rastrigin, budget, seed=1).points
    second = run(it, Box.cube(2), rastrigin, budget, seed=2).points
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
def test_an_objective_without_any_slope_is_searched_all_over_the_box(it, dimension, objective):
    points = run(it, Box.cube(dimension), objective, 1500).points
    assert np.all(np.ptp(points, axis=0) > 8)
    assert len(np.unique(points.round(1), axis=0)) > 30


def test_infinite_values_in_half_of_the_box_do_no_harm(it: Algorithm, near: float):
    done = run(it, Box.cube(2), lambda x: np.inf if x[0] > 0.5 else sphere(x))
    assert done.values.min() < near


@pytest.mark.parametrize("error", [KeyError, KeyboardInterrupt])
def test_an_error_in_the_objective_and_an_interrupt_come_through(it, error):
    def broken(x: np.ndarray) -> float:
        raise error("a mistake of the user")

    with pytest.raises(error, match="a mistake of the user"):
        run(it, Box.cube(2), broken)


def test_thirty_dimensions_are_no_obstacle(it: Algorithm):
    done = run(it, Box.cube(30), sphere, 500)
    assert done.values.min() < done.values[0]


def test_a_start_of_no_iterations_still_evaluates():
    assert len(run(algorithm("cma", options={"maxiter": 0}), Box.cube(2), budget=100).points) == 100


def test_populations_grow_from_start_to_start():
    plain = PYCMA.model_copy(update={"popsize": 6, "restart_growth": 1})
    growing = PYCMA.model_copy(update={"popsize": 6, "restart_growth": 3})
    plain_points = run(plain, Box.cube(2), constant, 100).points
    growing_points = run(growing, Box.cube(2), constant, 100).points
    # A start on a constant is one generation, around a different centre.
    assert np.array_equal(plain_points[:6], growing_points[:6])
    assert not np.array_equal(plain_points[6:24], growing_points[6:24])


def test_nothing_is_printed_warned_of_or_written(tmp_path, monkeypatch, capfd, recwarn):
    monkeypatch.chdir(tmp_path)
    for objective in (sphere, infinite):
        run(PYCMA, Box.cube(1), objective)
    assert list(tmp_path.iterdir()) == []
    assert capfd.readouterr() == ("", "")
    assert [str(warning.message) for warning in recwarn] == []


def test_a_start_that_evaluates_nothing_is_an_error(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(METHODS, "powell", lambda start: None)
    with pytest.raises(AlgorithmError, match="without an evaluation"):
        run(algorithm("scipy", method="powell"), Box.cube(2))


@pytest.mark.parametrize("stepsize", [0.1, 0.5, 7.0])
def test_a_hop_stays_in_the_unit_box_and_goes_everywhere(stepsize: float):
    hop = Hop(stepsize, np.random.default_rng(1))
    x = np.full(3, 0.5)
    path = []
    for _ in range(2000):
        x = hop(x)
        path.append(x)
    assert Box.cube(3, 0, 1).contains(np.array(path))
    counts = np.histogram(np.array(path).ravel(), 4, (0, 1))[0]
    assert np.all(counts > 1000)
