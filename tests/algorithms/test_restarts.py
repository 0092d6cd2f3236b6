"""Every CMA-ES that is restarted runs to the budget, in the box, reproducibly, without a sound."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from polarbear.algorithms import ADAPTERS, Algorithm
from polarbear.algorithms.restarts import RestartedCma
from tests.algorithms.helpers import Box, algorithm, constant, infinite, rastrigin, run, sphere

DIMENSIONS = (1, 2, 5)
USES = [use for use in ADAPTERS if issubclass(ADAPTERS[use], RestartedCma)]


@pytest.fixture(params=USES)
def it(request: pytest.FixtureRequest) -> Algorithm:
    return algorithm(request.param)


def test_there_are_several():
    assert {"cma", "cma-es"} <= set(USES)


@pytest.mark.parametrize("dimension", DIMENSIONS)
@pytest.mark.parametrize("objective", [sphere, rastrigin])
def test_it_runs_to_the_budget_in_the_box_and_improves(
    it: Algorithm, dimension: int, objective: Callable
):
    box = Box.cube(dimension)
    found = run(it, box, objective)
    assert found.points.shape == (3000, dimension)
    assert box.contains(found.points)
    assert found.values.min() < found.values[0]
    if objective is sphere:
        assert found.values.min() < 1e-9


@pytest.mark.parametrize("dimension", DIMENSIONS)
def test_the_same_seed_gives_the_same_points_whatever_the_state_of_the_process(
    it: Algorithm, dimension: int
):
    first = run(it, Box.cube(dimension), rastrigin)
    np.random.seed(7)  # noqa: NPY002 - what pycma would draw from by default
    second = run(it, Box.cube(dimension), rastrigin)
    assert np.array_equal(first.points, second.points)


def test_the_generator_that_the_process_shares_is_left_alone(it: Algorithm):
    np.random.seed(7)  # noqa: NPY002
    before = np.random.get_state()[1].tolist()  # noqa: NPY002
    run(it, Box.cube(2), budget=500)
    assert np.random.get_state()[1].tolist() == before  # noqa: NPY002


def test_another_seed_gives_other_points(it: Algorithm):
    first, second = (run(it, Box.cube(2), budget=100, seed=seed).points for seed in (1, 2))
    assert not np.any(first == second)


@pytest.mark.parametrize("dimension", DIMENSIONS)
def test_a_longer_budget_extends_the_run(it: Algorithm, dimension: int):
    short = run(it, Box.cube(dimension), rastrigin, 1500)
    long = run(it, Box.cube(dimension), rastrigin, 3000)
    assert np.array_equal(long.points[:1500], short.points)


@pytest.mark.parametrize(("lower", "upper"), [(-1e6, 1e6), (-1e6, 1.0), (0, 1e-9), (0, 1)])
def test_extreme_boxes_are_searched_like_any_other(it: Algorithm, lower: float, upper: float):
    box = Box.cube(2, lower, upper)
    found = run(it, box)
    assert box.contains(found.points)
    assert found.values.min() < 1e-9


def test_a_box_may_have_sides_of_different_lengths(it: Algorithm):
    box = Box(np.array([-1e6, 0.0, 5.0]), np.array([1e6, 1e-3, 5.5]))
    assert run(it, box).values.min() < 1e-9


@pytest.mark.parametrize("dimension", DIMENSIONS)
@pytest.mark.parametrize("objective", [constant, infinite])
def test_an_objective_without_any_slope_is_searched_to_the_budget(
    it: Algorithm, dimension: int, objective: Callable
):
    found = run(it, Box.cube(dimension), objective)
    assert len(np.unique(found.points, axis=0)) > 2900


def test_infinite_values_in_half_of_the_box_do_no_harm(it: Algorithm):
    found = run(it, Box.cube(2), lambda x: np.inf if x[0] > 0.5 else sphere(x))
    assert found.values.min() < 1e-9


def test_populations_grow_from_start_to_start(it: Algorithm):
    plain, growing = (
        run(
            it.model_copy(update={"popsize": 6, "restart_growth": growth}),
            Box.cube(2),
            constant,
            100,
        )
        for growth in (1, 3)
    )
    # A start on a constant is one generation, around a centre of its own.
    assert np.array_equal(plain.points[:6], growing.points[:6])
    assert not np.array_equal(plain.points[6:24], growing.points[6:24])


def test_nothing_is_printed_warned_of_or_written(
    it: Algorithm,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    recwarn: pytest.WarningsRecorder,
):
    monkeypatch.chdir(tmp_path)
    for objective in (sphere, infinite):
        run(it, Box.cube(1), objective)
    assert list(tmp_path.iterdir()) == []
    assert capfd.readouterr() == ("", "")
    assert [str(warning.message) for warning in recwarn] == []
