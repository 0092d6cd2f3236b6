"""Every method of scipy runs to the budget, in the box and reproducibly."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, get_args

import numpy as np
import pytest
import scipy.optimize

from polarbear.algorithms.base import Algorithm
from polarbear.algorithms.scipy import METHODS, TUNABLE, Hop, MethodName
from polarbear.errors import AlgorithmError
from tests.algorithms.helpers import (
    SETTING,
    Box,
    algorithm,
    constant,
    infinite,
    rastrigin,
    run,
    sphere,
)

DIMENSIONS = (1, 2, 5)
WITHOUT_RANDOMNESS = ("direct", "shgo")  # in their first start


@pytest.fixture(params=get_args(MethodName))
def method(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def it(method: str) -> Algorithm:
    return algorithm("scipy", method=method)


@pytest.mark.slow
@pytest.mark.parametrize("dimension", DIMENSIONS)
@pytest.mark.parametrize("objective", [sphere, rastrigin])
def test_it_runs_to_the_budget_in_the_box_and_improves(
    it: Algorithm, dimension: int, objective: Callable
):
    box = Box.cube(dimension)
    done = run(it, box, objective)
    assert done.points.shape == (3000, dimension)
    assert box.contains(done.points)
    assert done.values.min() < done.values[0]
    if objective is sphere:
        assert done.values.min() < 1e-4


@pytest.mark.slow
@pytest.mark.parametrize("dimension", DIMENSIONS)
def test_the_same_seed_gives_the_same_points_whatever_the_state_of_the_process(
    it: Algorithm, dimension: int
):
    first = run(it, Box.cube(dimension), rastrigin, 1500)
    np.random.seed(7)  # noqa: NPY002 - what scipy would draw from by default
    second = run(it, Box.cube(dimension), rastrigin, 1500)
    assert np.array_equal(first.points, second.points)


def test_another_seed_gives_other_points(it: Algorithm, method: str):
    budget = 1000  # more than the first start of a method that draws nothing in it
    first, second = (run(it, Box.cube(2), rastrigin, budget, seed).points for seed in (1, 2))
    assert not np.array_equal(first, second)
    assert np.array_equal(first[:20], second[:20]) == (method in WITHOUT_RANDOMNESS)


@pytest.mark.slow
@pytest.mark.parametrize("dimension", DIMENSIONS)
def test_a_longer_budget_extends_the_run(it: Algorithm, dimension: int):
    short = run(it, Box.cube(dimension), rastrigin, 1000)
    long = run(it, Box.cube(dimension), rastrigin, 2000)
    assert np.array_equal(long.points[:1000], short.points)


@pytest.mark.parametrize(("lower", "upper"), [(-1e6, 1e6), (-1e6, 1.0), (0, 1e-9), (0, 1)])
def test_extreme_boxes_are_searched_like_any_other(it: Algorithm, lower: float, upper: float):
    box = Box.cube(2, lower, upper)
    done = run(it, box, budget=1000)
    assert box.contains(done.points)
    assert done.values.min() < 1e-4


def test_a_box_may_have_sides_of_different_lengths(it: Algorithm):
    box = Box(np.array([-1e6, 0.0, 5.0]), np.array([1e6, 1e-3, 5.5]))
    done = run(it, box)
    assert box.contains(done.points)
    assert done.values.min() < 1e-3


@pytest.mark.slow
@pytest.mark.parametrize("dimension", DIMENSIONS)
@pytest.mark.parametrize("objective", [constant, infinite])
def test_an_objective_without_any_slope_is_searched_all_over_the_box(
    it: Algorithm, dimension: int, objective: Callable
):
    points = run(it, Box.cube(dimension), objective).points
    assert len(points) == 3000
    assert np.all(np.ptp(points, axis=0) > 8)
    assert len(np.unique(points.round(1), axis=0)) > 30


def test_infinite_values_in_half_of_the_box_do_no_harm(it: Algorithm):
    done = run(it, Box.cube(2), lambda x: np.inf if x[0] > 0.5 else sphere(x))
    assert done.values.min() < 1e-4


def test_starts_go_on_finding_new_points(it: Algorithm):
    points = run(it, Box.cube(1), sphere).points
    assert len(np.unique(points[1500:])) > 300
    assert not set(points[2900:].ravel().tolist()) <= set(points[:1500].ravel().tolist())


def test_an_error_in_the_objective_comes_out_as_it_is(it: Algorithm):
    def broken(x: np.ndarray) -> float:
        raise KeyError("a mistake of the user")

    with pytest.raises(KeyError, match="a mistake of the user"):
        run(it, Box.cube(2), broken)


def test_an_interrupt_comes_through(it: Algorithm):
    def interrupted(x: np.ndarray) -> float:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(it, Box.cube(2), interrupted)


def test_thirty_dimensions_are_no_obstacle(it: Algorithm):
    done = run(it, Box.cube(30), sphere, 2000)
    assert done.values.min() < done.values[0]


def test_every_method_has_a_name_a_start_and_a_list_of_options(method: str):
    assert method in METHODS
    assert method in TUNABLE
    assert set(METHODS) == set(TUNABLE) == set(get_args(MethodName))


def test_the_options_are_those_of_scipy(method: str):
    name = method.replace("-", "_").replace("basin_hopping", "basinhopping")
    if hasattr(scipy.optimize, name):
        assert set(TUNABLE[method]) <= set(
            inspect.signature(getattr(scipy.optimize, name)).parameters
        )
    else:
        described = scipy.optimize.show_options("minimize", method, disp=False)
        assert all(option in described for option in TUNABLE[method])


@pytest.mark.parametrize(
    ("method", "options"),
    [
        ("nelder-mead", {"xatol": 1e-9, "fatol": 1e-9}),
        ("powell", {"xtol": 1e-9}),
        ("differential-evolution", {"popsize": 5, "mutation": [0.3, 0.9]}),
        ("dual-annealing", {"no_local_search": True}),
        ("basin-hopping", {"stepsize": 0.05, "minimizer_kwargs": {"method": "Nelder-Mead"}}),
        ("direct", {"locally_biased": False}),
        ("shgo", {"minimizer_kwargs": {"method": "L-BFGS-B"}}),
    ],
)
def test_options_reach_scipy(method: str, options: dict[str, Any]):
    plain = run(algorithm("scipy", method=method), Box.cube(2), rastrigin, 1000)
    tuned = run(algorithm("scipy", method=method, options=options), Box.cube(2), rastrigin, 1000)
    assert not np.array_equal(plain.points, tuned.points)


@pytest.mark.parametrize(
    ("method", "option", "message"),
    [
        ("direct", "epss", "unknown option of direct 'epss'; did you mean 'eps'"),
        ("nelder-mead", "maxiter", "unknown option of nelder-mead 'maxiter'"),
        ("differential-evolution", "workers", "unknown option of differential-evolution 'workers'"),
    ],
)
def test_options_that_are_unknown_or_ours_are_refused(method: str, option: str, message: str):
    with pytest.raises(ValueError, match=message):
        algorithm("scipy", method=method, options={option: 1})


@pytest.mark.parametrize(
    ("method", "options"),
    [
        ("differential-evolution", {"strategy": "worst"}),
        ("nelder-mead", {"xatol": "small"}),
        ("direct", {"len_tol": 2}),
    ],
)
def test_a_value_that_scipy_cannot_use_is_found_before_any_run(
    method: str, options: dict[str, Any]
):
    with pytest.raises(AlgorithmError, match=f"scipy's {method} fails with its options"):
        algorithm("scipy", method=method, options=options).prepare(SETTING)


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
