"""Our BBOB and SBOX-COST against ioh, and against stored values of ioh."""

import json
import platform
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from polarbear.problems import SUITES
from polarbear.problems.bbob.instances import (
    Function,
    bbob_function,
    function_problem,
    sbox_function,
)
from tests.data.make_bbob import points
from tests.problems.helpers import needs_ioh

DATA = Path(__file__).parents[1] / "data"
MACHINE = "x86_64" if platform.machine().lower() in {"x86_64", "amd64"} else "aarch64"
KNOWN = json.loads((DATA / f"bbob-{MACHINE}.json").read_text())
MAKE = {"bbob": bbob_function, "sbox": sbox_function}
EVERY = tuple(range(1, 25))


def differs(ours: float, theirs: float, best: float) -> float:
    """The difference of two values relative to their scale: theirs, or its height above the best
    value, whichever is larger.
    """
    if ours == theirs:
        return 0.0
    return abs(ours - theirs) / max(abs(theirs), abs(theirs - best))


@pytest.mark.parametrize("name", MAKE)
def test_every_function_has_the_values_that_ioh_once_gave(name: str) -> None:
    for row in KNOWN:
        if row["suite"] != name:
            continue
        function = MAKE[name](row["function"], row["instance"], row["dimension"])
        evaluate = function_problem(function).evaluate
        assert function.f_opt == row["best"]
        assert function.x_opt[:3] == pytest.approx(row["place"], rel=1e-14)
        for x, value in zip(points(row["dimension"]), row["values"], strict=True):
            assert differs(evaluate(x), value, row["best"]) < 1e-12, row


@needs_ioh
@pytest.mark.parametrize("name", MAKE)
@pytest.mark.parametrize(
    ("dimension", "instances", "functions"),
    [
        (2, (1, 2, 9, 100_000), EVERY),
        (5, (4, 60), EVERY),
        (40, (17,), EVERY),
        (65, (8,), (8, 13, 19)),
        (240, (20,), (7, 13, 19, 22)),
    ],
)
def test_values_agree_with_ioh_to_1e_12(name, dimension, instances, functions):
    """In the box, near the optimum and at it, and outside of the box."""
    import ioh

    rng = np.random.default_rng(0)
    for function in functions:
        for instance in instances:
            theirs = ioh.get_problem(function, instance, dimension, ioh.ProblemClass[name.upper()])
            drawn = MAKE[name](function, instance, dimension)
            ours = function_problem(drawn).evaluate
            assert drawn.f_opt == theirs.optimum.y
            assert drawn.x_opt == pytest.approx(list(theirs.optimum.x), rel=0, abs=1e-12)
            optimum = np.array(theirs.optimum.x)
            near = [optimum + 10.0**-e * rng.standard_normal(dimension) for e in range(0, 10, 2)]
            inside = rng.uniform(-5, 5, (5, dimension))
            outside = rng.uniform(-9, 9, (2, dimension))
            for x in [*inside, *np.clip(near, -5, 5), optimum, *outside]:
                difference = differs(ours(x), theirs(x.tolist()), drawn.f_opt)
                assert difference < 1e-12, (function, instance, x)


@pytest.mark.parametrize("function", [f for f in EVERY if f not in (5, 19)])
def test_the_optimum_has_the_best_value_and_nothing_near_it_is_better(function: int) -> None:
    """Except for f5, which is as good outside the box, and f19, whose optimum ioh rounds."""
    drawn: Function = bbob_function(function, 3, 5)
    evaluate = function_problem(drawn).evaluate
    assert evaluate(drawn.x_opt) == pytest.approx(drawn.f_opt, abs=1e-10)
    steps = np.random.default_rng(0).standard_normal((50, 5))
    assert all(evaluate(drawn.x_opt + 0.01 * step) >= drawn.f_opt for step in steps)


def test_a_suite_states_the_best_value_without_building_anything() -> None:
    for name in MAKE:
        suite = SUITES[name].model_validate({"suite": name})
        for row in KNOWN[::5]:
            spec = {key: row[key] for key in ("function", "dimension", "instance")}
            assert suite.best_value(spec) == row["best"]


@pytest.mark.parametrize(
    "wrong", [[1.0, 2.0], np.zeros(6), np.zeros((1, 5)), np.zeros((5, 5)), 3.0]
)
def test_a_point_of_another_dimension_is_refused(wrong: Any) -> None:
    with pytest.raises(ValueError, match="a point of this problem has 5 numbers, found"):
        function_problem(bbob_function(1, 3, 5)).evaluate(wrong)
