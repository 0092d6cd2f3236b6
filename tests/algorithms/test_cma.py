"""pycma runs to the budget, in the box, reproducibly and without a sound."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

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

IT = algorithm("cma")
DIMENSIONS = (1, 2, 5)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"tolfunn": 1}, "unknown option of pycma 'tolfunn'; did you mean 'tolfun'"),
        ({"seed": 1}, "'seed' cannot be set in a configuration"),
        ({"verb_log": 1}, "'verb_log' cannot be set in a configuration"),
    ],
)
def test_options_that_are_unknown_or_ours_are_refused(options: dict[str, Any], message: str):
    with pytest.raises(ValueError, match=message):
        algorithm("cma", options=options)


def test_options_reach_pycma():
    rough = run(algorithm("cma", options={"tolfun": 0.1}), Box.cube(2))
    fine = run(IT, Box.cube(2))
    assert np.array_equal(rough.points[:30], fine.points[:30])
    assert not np.array_equal(rough.points, fine.points)


def test_a_value_that_pycma_cannot_use_is_found_before_any_run():
    with pytest.raises(AlgorithmError, match="pycma fails with its options"):
        algorithm("cma", options={"tolx": "no number"}).prepare(SETTING)


def test_a_start_of_no_iterations_still_evaluates():
    assert len(run(algorithm("cma", options={"maxiter": 0}), Box.cube(2), budget=100).points) == 100


@pytest.mark.parametrize("dimension", DIMENSIONS)
@pytest.mark.parametrize("objective", [sphere, rastrigin])
def test_it_runs_to_the_budget_in_the_box_and_improves(dimension: int, objective: Callable):
    box = Box.cube(dimension)
    found = run(IT, box, objective)
    assert found.points.shape == (3000, dimension)
    assert box.contains(found.points)
    assert found.values.min() < found.values[0]
    if objective is sphere:
        assert found.values.min() < 1e-9


@pytest.mark.parametrize("dimension", DIMENSIONS)
def test_the_same_seed_gives_the_same_points_whatever_the_state_of_the_process(dimension: int):
    first = run(IT, Box.cube(dimension), rastrigin)
    np.random.seed(7)  # noqa: NPY002 - what pycma would draw from by default
    second = run(IT, Box.cube(dimension), rastrigin)
    assert np.array_equal(first.points, second.points)


def test_the_generator_that_the_process_shares_is_left_alone():
    np.random.seed(7)  # noqa: NPY002
    before = np.random.get_state()[1].tolist()  # noqa: NPY002
    run(IT, Box.cube(2), budget=500)
    assert np.random.get_state()[1].tolist() == before  # noqa: NPY002


def test_another_seed_gives_other_points():
    first, second = (run(IT, Box.cube(2), budget=100, seed=seed).points for seed in (1, 2))
    assert not np.any(first == second)


@pytest.mark.parametrize("dimension", DIMENSIONS)
def test_a_longer_budget_extends_the_run(dimension: int):
    short = run(IT, Box.cube(dimension), rastrigin, 1500)
    long = run(IT, Box.cube(dimension), rastrigin, 3000)
    assert np.array_equal(long.points[:1500], short.points)


@pytest.mark.parametrize(("lower", "upper"), [(-1e6, 1e6), (-1e6, 1.0), (0, 1e-9), (0, 1)])
def test_extreme_boxes_are_searched_like_any_other(lower: float, upper: float):
    box = Box.cube(2, lower, upper)
    found = run(IT, box)
    assert box.contains(found.points)
    assert found.values.min() < 1e-9


def test_a_box_may_have_sides_of_different_lengths():
    box = Box(np.array([-1e6, 0.0, 5.0]), np.array([1e6, 1e-3, 5.5]))
    assert run(IT, box).values.min() < 1e-9


@pytest.mark.parametrize("dimension", DIMENSIONS)
@pytest.mark.parametrize("objective", [constant, infinite])
def test_an_objective_without_any_slope_is_searched_to_the_budget(
    dimension: int, objective: Callable
):
    found = run(IT, Box.cube(dimension), objective)
    assert len(np.unique(found.points, axis=0)) > 2900


def test_infinite_values_in_half_of_the_box_do_no_harm():
    found = run(IT, Box.cube(2), lambda x: np.inf if x[0] > 0.5 else sphere(x))
    assert found.values.min() < 1e-9


def test_populations_grow_from_start_to_start():
    plain, growing = (
        run(
            IT.model_copy(update={"popsize": 6, "restart_growth": growth}),
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
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    recwarn: pytest.WarningsRecorder,
):
    monkeypatch.chdir(tmp_path)
    for objective in (sphere, infinite):
        run(IT, Box.cube(1), objective)
    assert list(tmp_path.iterdir()) == []
    assert capfd.readouterr() == ("", "")
    assert [str(warning.message) for warning in recwarn] == []
