"""Features that a function computes, and those of the landscape of a small sample."""

import time
from pathlib import Path

import numpy as np
import pytest

from polarbear.problems.base import Instance, Problem, Setting
from polarbear.problems.classic import Classic
from polarbear.problems.instance_features import (
    FeatureFunction,
    given_features,
)
from polarbear.problems.landscape import SAMPLE_PER_VARIABLE, landscape_features
from polarbear.settings.grid import Budget

FUNCTION = """
import time

def waits(problem):
    time.sleep(0.02)
    return {"variables": problem.dimension}
"""
CENTRE = np.array([1.0, -2.0, 0.5])
CONDITIONING = np.array([1.0, 10.0, 100.0])


def ellipsoid(x: object) -> float:
    return float(np.sum(CONDITIONING * np.square(np.asarray(x) - CENTRE)))


def boxed(evaluate: object, dimension: int = 3) -> Problem:
    return Problem(evaluate, np.full(dimension, -5.0), np.full(dimension, 5.0))  # type: ignore[arg-type]


@pytest.mark.parametrize(("axis", "least", "most"), [("seconds", 0.02, 60), ("evaluations", 0, 0)])
def test_seconds_are_measured_on_axes_of_time_alone(
    axis: str, least: float, most: float, tmp_path: Path
):
    (tmp_path / "mine.py").write_text(FUNCTION)
    setting = Setting(1, Budget.model_validate({"axis": axis, "grid": [1, 2]}), str(tmp_path))
    function = FeatureFunction(
        Classic(suite="classic"), setting, "mine.py:waits", time.perf_counter
    )
    given = function(Instance(0, "a", {"function": "sphere", "dimension": 4, "seed": 1}))
    assert given.values == {"variables": 4}
    assert least <= given.cost <= most


def test_a_separable_quadratic_function_is_recognised_with_its_conditioning():
    features = landscape_features(boxed(ellipsoid), "a")
    assert features["landscape.quadratic_fit"] == 1
    assert features["landscape.linear_fit"] < 0.9
    assert features["landscape.conditioning"] == pytest.approx(2)
    assert features["landscape.distance_correlation"] > 0.3
    assert features["landscape.nearest_better"] < 1


def test_values_may_be_multiplied_and_shifted():
    features = landscape_features(boxed(ellipsoid), "a")
    changed = landscape_features(boxed(lambda x: 1e3 * ellipsoid(x) - 7), "a")
    negated = landscape_features(boxed(lambda x: -ellipsoid(x)), "a", maximise=True)
    for name, value in features.items():
        assert changed[name] == pytest.approx(value, rel=1e-4)
        assert negated[name] == pytest.approx(value)


def test_the_sample_is_small_and_depends_on_the_instance():
    n_evaluations = 0

    def counted(x: object) -> float:
        nonlocal n_evaluations
        n_evaluations += 1
        return ellipsoid(x)

    features = landscape_features(boxed(counted), "a")
    assert n_evaluations == SAMPLE_PER_VARIABLE * 3
    assert landscape_features(boxed(ellipsoid), "a") == features
    assert landscape_features(boxed(ellipsoid), "b") != features


def test_what_a_sample_does_not_show_is_missing():
    assert landscape_features(boxed(lambda x: 3.0), "a") == {}
    assert landscape_features(boxed(lambda x: np.inf), "a") == {}
    constrained = boxed(lambda x: (ellipsoid(x), [float(x[0])]))
    share = landscape_features(constrained, "a")["landscape.feasible_share"]
    assert 0.2 < share < 0.8


def test_values_of_features_are_numbers_and_texts():
    given = given_features(
        {"instance": "i", "a": 1, "b": True, "c": " x ", "d": None, "e": np.nan, "f": "", "cost": 2}
    )
    assert given.values == {"a": 1.0, "b": "yes", "c": "x"}
    assert given.cost == 2
    assert sum(row["cost"] for row in given.rows("i")) == pytest.approx(2)  # type: ignore[misc]
    for values in ({"a": [1]}, {"a": 1, "cost": -1}, {"a\x1b": 1}, {"a": "x\x1b"}):
        with pytest.raises(ValueError, match="feature|cost"):
            given_features(values)
