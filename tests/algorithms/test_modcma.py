"""modcma runs to the budget, reproducibly, and with the modules that were asked for."""

import sys
from typing import Any, get_args

import numpy as np
import pytest

from polarbear.algorithms.modcma import BOX, MATRICES, StepSize, seed_generator
from polarbear.errors import MissingExtraError
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

c_maes = pytest.importorskip(
    "modcma.c_maes",
    reason="modcma is not installed: pip install '.[bbob]' "
    "(on arm64 Linux it compiles from source)",
)
options = c_maes.options

DIMENSIONS = (1, 2, 5)
CENTRES = ("fixed", "modcma")
EACH_VARIANT = pytest.mark.parametrize(
    ("step_size", "matrix"),
    [
        *((name, "COV") for name in get_args(StepSize)),
        *(("CSA", name) for pair in MATRICES.items() for name in pair),
    ],
)


@pytest.mark.parametrize("centre", CENTRES)
@pytest.mark.parametrize("dimension", DIMENSIONS)
@pytest.mark.parametrize("objective", [sphere, rastrigin])
def test_it_runs_to_the_budget_and_improves_without_a_sound(centre, dimension, objective, capfd):
    it = run(algorithm("modcma", centre=centre), Box.cube(dimension), objective)
    assert it.points.shape == (3000, dimension)
    assert it.values.min() < it.values[0]
    if objective is sphere:
        assert it.values.min() < 1e-9
    assert capfd.readouterr() == ("", "")


@pytest.mark.slow
@pytest.mark.parametrize("centre", CENTRES)
@pytest.mark.parametrize("dimension", [1, 3])
@pytest.mark.parametrize("step_size", ["CSA", "LPXNES"])  # LPXNES draws normals all the time
def test_the_same_seed_gives_the_same_points_whatever_ran_before_it_in_the_process(
    centre: str, dimension: int, step_size: str
):
    it = algorithm("modcma", centre=centre, step_size=step_size)
    first = run(it, Box.cube(dimension), rastrigin)
    for draws in (1, 2):
        for _ in range(draws):
            c_maes.utils.random_normal()
        np.random.seed(draws)  # noqa: NPY002
        assert np.array_equal(run(it, Box.cube(dimension), rastrigin).points, first.points)


@pytest.mark.slow
@EACH_VARIANT
def test_no_variant_depends_on_what_the_memory_held_before(step_size: str, matrix: str):
    it = algorithm("modcma", step_size=step_size, matrix=matrix)
    rng = np.random.default_rng(1)
    runs = []
    for _ in range(3):
        runs.append(run(it, Box.cube(3), rastrigin, 1000).points)
        _ = [rng.normal(size=size) for size in rng.integers(1, 400, 200)]
    assert all(np.array_equal(runs[0], points, equal_nan=True) for points in runs)


@pytest.mark.parametrize("centre", CENTRES)
@pytest.mark.parametrize("restart_strategy", ["IPOP", "BIPOP", "RESTART", "NONE"])
def test_a_longer_budget_extends_the_run(centre: str, restart_strategy: str):
    modules = {"restart_strategy": restart_strategy}
    it = algorithm("modcma", centre=centre, modules=modules)
    short = run(it, Box.cube(3), rastrigin, 3000)
    long = run(it, Box.cube(3), rastrigin, 6000)
    assert np.array_equal(long.points[:3000], short.points, equal_nan=True)


def test_every_start_is_centred_in_the_box():
    it = algorithm("modcma", sigma0=1e-6, modules={"bound_correction": "SATURATE"})
    points = run(it, Box.cube(2), constant, 3000).points
    assert Box.cube(2).contains(points)
    centres = np.unique(points.round(2), axis=0)
    assert len(centres) >= 8
    assert np.all(np.ptp(centres, axis=0) > BOX)


def test_as_it_is_means_as_modcma_runs_without_us():
    def bare(seed: int, budget: int) -> list[np.ndarray]:
        modules = c_maes.Modules()
        modules.active = modules.repelling_restart = True
        modules.bound_correction = options.CorrectionMethod.COTN
        modules.restart_strategy = options.RestartStrategy.IPOP
        modules.center_placement = options.CenterPlacement.UNIFORM
        modules.ssa = options.StepSizeAdaptation.TPA
        modules.matrix_adaptation = options.MatrixAdaptationType.SEPARABLE
        seed_generator(c_maes.utils, seed)
        settings = c_maes.Settings(
            4, modules=modules, sigma0=2.0, budget=budget, lb=np.full(4, -5.0), ub=np.full(4, 5.0)
        )
        points: list[np.ndarray] = []

        def objective(x: np.ndarray) -> float:
            points.append(np.array(x))
            return rastrigin((x + 5) / 10)

        c_maes.ModularCMAES(c_maes.Parameters(settings)).run(objective)
        return points

    it = algorithm("modcma", centre="modcma", step_size="TPA", matrix="SEP")
    ours = run(it, Box.cube(4), rastrigin, 4000, seed=9).points
    assert np.array_equal(np.array(bare(9, 8000))[:4000], ours)


@pytest.mark.parametrize("bounds", ["SATURATE", "MIRROR", "TOROIDAL", "UNIFORM_RESAMPLE"])
@pytest.mark.parametrize(("lower", "upper"), [(-5, 5), (0.0, 0.3), (-1e6, 1.0), (1.0, 1.0 + 1e-9)])
def test_other_corrections_than_cotn_keep_to_the_box(bounds: str, lower: float, upper: float):
    box = Box.cube(3, lower, upper)
    it = algorithm("modcma", modules={"bound_correction": bounds})
    assert box.contains(run(it, box, rastrigin).points)


@pytest.mark.parametrize(("lower", "upper"), [(-1e6, 1e6), (-1e6, 1.0), (0, 1e-9), (0, 1)])
def test_extreme_boxes_are_searched_like_any_other(lower: float, upper: float):
    shares = []
    for box in (Box.cube(3), Box.cube(3, lower, upper)):
        it = run(algorithm("modcma"), box, budget=400)
        shares.append((it.points - box.lower) / (box.upper - box.lower))
    assert np.allclose(*shares, atol=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("dimension", [1, 5])
@pytest.mark.parametrize("objective", [sphere, infinite])
@EACH_VARIANT
def test_the_variants_of_the_paper_run_to_the_budget(step_size, matrix, dimension, objective):
    it = algorithm("modcma", step_size=step_size, matrix=matrix)
    assert len(run(it, Box.cube(dimension), objective, 1000).points) == 1000


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"step_size": "CSAA"}, "step_size"),
        ({"matrix": "COVAR"}, "unknown matrix adaptation 'COVAR'; did you mean 'COV"),
        ({"modules": {"elitst": True}}, "unknown module 'elitst'; did you mean 'elitist'"),
        ({"modules": {"elitist": "YES"}}, "unknown option of module 'elitist' 'YES'; known"),
        (
            {"modules": {"mirrored": "PAIRWIS"}},
            "unknown option of module 'mirrored' 'PAIRWIS'; did you mean 'PAIRWISE'",
        ),
        ({"modules": {"ssa": "MSR"}}, "'ssa' is set by the option 'step_size'"),
        ({"modules": {"center_placement": "ZERO"}}, "has an effect only with 'centre: modcma'"),
        ({"modules": {"threshold_convergence": True}}, "depends on the budget"),
        ({"modules": {"restart_strategy": "STOP"}}, "ends the run as soon as"),
        ({"modules": {"sequential_selection": True}}, "runs are not reproducible"),
        ({"step_size": "SA"}, "step_size"),
    ],
)
def test_what_cannot_be_meant_is_refused(settings: dict[str, Any], message: str):
    with pytest.raises(ValueError, match=message):
        algorithm("modcma", **settings)


def test_beyond_308_dimensions_a_restart_does_not_hang():
    it = algorithm("modcma", matrix="NONE")
    assert len(run(it, Box.cube(310), constant, 20_000).points) == 20_000


def test_without_modcma_the_configuration_is_read_and_the_run_refused(monkeypatch):
    it = algorithm("modcma", modules={"elitist": True})
    monkeypatch.setitem(sys.modules, "modcma.c_maes", None)  # cannot be imported
    for attempt in (lambda: it.prepare(SETTING), lambda: run(it, Box.cube(2))):
        with pytest.raises(MissingExtraError, match="adapter 'modcma' needs the package 'modcma'"):
            attempt()
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert algorithm("modcma", modules={"elitist": True}) == it
