"""pycma runs to the budget, in the box, reproducibly and without a sound."""

from __future__ import annotations

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
    run,
    sphere,
)

IT = algorithm("cma")


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
