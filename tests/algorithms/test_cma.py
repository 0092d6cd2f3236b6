"""pycma runs to the budget, in the box, reproducibly and without a sound."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from polarbear.algorithms import pycma
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


@pytest.mark.parametrize("dimension", [2, 5, 101])
def test_the_box_is_kept_to_as_pycma_does_to_the_bit(monkeypatch, dimension: int):
    ours = run(IT, Box.cube(dimension), rastrigin)
    monkeypatch.setattr(pycma, "unit_box", lambda cma: cma.boundary_handler.BoundTransform)
    theirs = run(IT, Box.cube(dimension), rastrigin)
    assert np.array_equal(ours.points, theirs.points)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"minstd": 1e-3},
        {"maxstd": 0.1},
        {"CMA_elitist": True},
        {"mean_shift_line_samples": True},
        {"CMA_diagonal": True},
    ],
    ids=str,
)
@pytest.mark.parametrize("objective", [sphere, rastrigin, constant, infinite])
def test_steps_that_are_left_out_change_no_point_to_the_bit(monkeypatch, options, objective):
    it = algorithm("cma", options=options)
    ours = run(it, Box.cube(5), objective)
    monkeypatch.setattr(pycma, "strategy", lambda cma: cma.CMAEvolutionStrategy)
    theirs = run(it, Box.cube(5), objective)
    assert np.array_equal(ours.points, theirs.points)


def test_wherever_a_point_is_it_comes_into_the_box_as_by_pycma():
    cma = pycma.load()
    ours, theirs = pycma.unit_box(cma)([0, 1]), cma.boundary_handler.BoundTransform([0, 1])
    rng = np.random.default_rng(1)
    for spread in (0.1, 0.5, 3.0, 1e3, 1e15, 1e18):
        for x in rng.normal(0.5, spread, (500, 4)):
            assert np.array_equal(ours.repair(x.copy()), theirs.repair(x.copy()))
    near, period = pycma.NEAR, pycma.PERIOD
    for edge in (0.0, near, -near, pycma.FIRST, pycma.LAST, 0.5, 0.6):
        for x in (edge, 1 - edge, edge + period, edge - period, edge + 7 * period):
            for beside in (np.nextafter(x, -9), x, np.nextafter(x, 9)):
                points = np.array([beside, 0.5])
                assert np.array_equal(ours.repair(points.copy()), theirs.repair(points.copy()))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"tolfunn": 1}, "unknown option of pycma 'tolfunn'; did you mean 'tolfun'"),
        ({"seed": 1}, "'seed' is not for configurations to set"),
        ({"verb_log": 1}, "'verb_log' is not for configurations to set"),
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


def test_pycma_is_loaded_without_plots_which_can_be_loaded_afterwards():
    code = """
import sys
from polarbear.algorithms.cma import Cma
Cma(name="it", use="cma").load()
assert "cma" in sys.modules
assert not {"matplotlib", "scipy.stats"} & set(sys.modules)
import matplotlib, scipy.stats
"""
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True)
