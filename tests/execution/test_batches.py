"""Populations evaluated in one call leave the record that their points leave one by one."""

from __future__ import annotations

from dataclasses import replace
from math import inf
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from polarbear.algorithms import ADAPTERS
from polarbear.errors import BudgetExhausted, ProblemError
from polarbear.execution.outcome import Outcome, Task
from polarbear.execution.recorder import Recorder
from polarbear.execution.run import Problems, execute
from polarbear.problems import SUITES, Setting
from polarbear.settings.grid import Budget

VALUES = st.lists(st.floats() | st.sampled_from([1.0, 2.0]), max_size=40)


def evaluated(values: list[float], size: int, budget: int, at_once: bool, **options: Any) -> Any:
    """All that can be seen of a recorder through which these values went in populations."""
    written: list[tuple[float, float]] = []

    def objective(x: int) -> float:
        return values[x]

    def many(points: range) -> list[float]:
        return [values[x] for x in points]

    recorder = Recorder(
        objective, "evaluations", budget, journal=lambda t, y: written.append((t, y)), many=many,
        **options,
    )  # fmt: skip
    assert recorder.at_once is not None
    handed, ended = [], False
    try:
        for start in range(0, len(values), size):
            points = range(start, min(start + size, len(values)))
            found = recorder.at_once(points) if at_once else [recorder.evaluate(x) for x in points]
            handed.append(found)
    except BudgetExhausted:
        ended = True
    return (
        *(recorder.times, recorder.values, recorder.evaluations, recorder.reached),
        *(recorder.invalid, written, handed, ended),
    )


@given(VALUES, st.integers(1, 9), st.integers(0, 45), st.booleans(), st.booleans())
def test_a_population_is_recorded_point_by_point(
    values: list[float], size: int, budget: int, maximise: bool, last: bool
):
    options = {"maximise": maximise, "last": last}
    together = evaluated(values, size, budget, True, **options)
    assert together == evaluated(values, size, budget, False, **options)


@given(VALUES, st.integers(1, 9), st.integers(0, 45))
def test_true_values_are_recorded_point_by_point(values: list[float], size: int, budget: int):
    true_value = {"true_value": lambda x: float(x % 7)}
    together = evaluated(values, size, budget, True, **true_value)
    assert together == evaluated(values, size, budget, False, **true_value)


def test_nothing_is_evaluated_beyond_the_budget():
    asked: list[int] = []

    def many(points: list[float]) -> list[float]:
        asked.append(len(points))
        return [1.0] * len(points)

    recorder = Recorder(lambda x: 1.0, "evaluations", 5, many=many)
    assert recorder.at_once([0.0] * 3) == [1.0] * 3
    with pytest.raises(BudgetExhausted):
        recorder.at_once([0.0] * 3)
    assert asked == [3, 2]
    with pytest.raises(BudgetExhausted):
        recorder.at_once([0.0])
    assert asked == [3, 2]
    assert recorder.evaluations == 5


def test_another_number_of_values_than_of_points_is_refused():
    recorder = Recorder(lambda x: 1.0, "evaluations", 5, many=lambda points: np.ones((2, 2)))
    with pytest.raises(ProblemError, match=r"returned an array of the shape \(2, 2\) for 3 points"):
        recorder.at_once([0.0] * 3)


def test_against_the_clock_points_are_evaluated_one_by_one():
    assert Recorder(lambda x: 1.0, "seconds", 5, many=lambda points: []).at_once is None


class OneByOne(Problems):
    """Problems that cannot evaluate a population at once."""

    def get(self, instance: Any) -> Any:
        return replace(super().get(instance), evaluate_many=None)


ALGORITHMS: dict[str, dict[str, Any]] = {
    "random": {"use": "random-search"},
    "pycma": {"use": "cma"},
    "deferred": {
        "use": "scipy",
        "method": "differential-evolution",
        "options": {"updating": "deferred", "popsize": 3, "polish": False},
    },
    "Nelder-Mead": {"use": "scipy", "method": "nelder-mead"},
}


def record_of(outcome: Outcome) -> tuple[Any, ...]:
    return (
        *(outcome.status, outcome.message, outcome.times.tobytes(), outcome.values.tobytes()),
        *(outcome.evaluations, outcome.reached, outcome.invalid),
    )


@pytest.mark.parametrize("name", ALGORITHMS)
@pytest.mark.parametrize("suite", ["bbob", "ma-bbob"])
def test_a_run_is_the_same_to_the_byte_wherever_its_budget_ends_amid_a_population(
    suite: str, name: str
):
    options = {"name": name, **ALGORITHMS[name]}
    algorithm = ADAPTERS[options["use"]].model_validate(options)
    made = SUITES[suite].model_validate({"suite": suite, "dimensions": [4]})
    for budget in (1, 7, 64, 331):
        setting = Setting(1, Budget.model_validate({"grid": [1, budget + 1]}))
        instance = made.instance(0, setting)
        task = Task(algorithm, instance, 5, float(budget))
        together = execute(task, Problems(made, setting))
        apart = execute(task, OneByOne(made, setting))
        assert record_of(together) == record_of(apart)
        assert together.evaluations == budget
        assert together.values.min() < inf
