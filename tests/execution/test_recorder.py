"""The recorder: exact counts, improvements only, nothing charged that is ours."""

import os
from dataclasses import replace
from math import inf, nan
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from polarbear.algorithms import ADAPTERS
from polarbear.errors import BadOutputError, BudgetExhausted, ProblemError
from polarbear.execution import recorder as recorder_module
from polarbear.execution.journal import POINT, POINT_BYTES, Journal, read_journal
from polarbear.execution.outcome import Outcome, Task
from polarbear.execution.recorder import Recorder
from polarbear.execution.run import Problems, execute
from polarbear.problems import SUITES, Problem, Setting
from polarbear.settings.grid import Budget


class Clock:
    """A clock that advances on demand."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 100.0
        monkeypatch.setattr(recorder_module, "perf_counter", lambda: self.now)

    def passes(self, seconds: float) -> None:
        self.now += seconds


finite = st.floats(allow_nan=False, allow_infinity=False)
anything = st.floats()


def replay(
    values: list[float], budget: float = 1e9, **options: bool
) -> tuple[Recorder, list[float]]:
    """A recorder through which these objective values were evaluated, and what was handed back."""
    stream = iter(values)
    recorder = Recorder(Problem(lambda x: next(stream)), "evaluations", budget, **options)
    return recorder, [recorder.evaluate(None) for _ in values]


@given(st.lists(anything, max_size=50), st.booleans())
def test_the_running_minimum_of_finite_values_is_kept_or_every_change_where_the_last_counts(
    values: list[float], last: bool
):
    recorder, _ = replay(values, last=last)
    expected: list[tuple[int, float]] = []
    for t, y in enumerate(values, 1):
        held = expected[-1][1] if expected else inf
        if np.isfinite(y) and (y != held if last else y < held):
            expected.append((t, y))
    assert list(zip(recorder.times, recorder.values, strict=True)) == expected
    assert recorder.evaluations == len(values)


@given(st.lists(finite, max_size=50))
def test_maximising_is_minimising_the_negative(values: list[float]):
    up, handed = replay(values, maximise=True)
    down, _ = replay([-y for y in values])
    assert (up.times, up.values) == (down.times, down.values)
    assert handed == [-y for y in values]


def test_values_that_are_not_finite_are_counted_and_handed_on_as_the_worst():
    recorder, handed = replay([3.0, nan, -inf, inf, np.float32(2.0), np.array(1.5)])
    assert handed == [3.0, inf, inf, inf, 2.0, 1.5]
    assert recorder.values == [3.0, 2.0, 1.5]
    assert recorder.invalid == 2  # +inf is a legitimate way to say "infeasible"


def test_the_evaluation_after_the_last_raises_and_is_not_made():
    calls = []
    recorder = Recorder(Problem(lambda x: float(len(calls.append(x) or calls))), "evaluations", 3)
    for _ in range(3):
        recorder.evaluate(0)
    for _ in range(2):
        with pytest.raises(BudgetExhausted):
            recorder.evaluate(0)
    assert len(calls) == 3
    assert recorder.evaluations == 3
    assert recorder.reached == 3


def test_seconds_end_a_run_at_its_budget(monkeypatch: pytest.MonkeyPatch):
    clock = Clock(monkeypatch)
    recorder = Recorder(Problem(lambda x: clock.passes(0.03) or -clock.now), "seconds", 0.1)
    clock.passes(5.0)
    recorder.start()
    with pytest.raises(BudgetExhausted):
        while True:
            recorder.evaluate(0)
    assert recorder.times == pytest.approx([0.03, 0.06, 0.09])
    assert recorder.reached == 0.1


def test_seconds_spent_on_the_problem_or_in_the_recorder_are_not_charged(monkeypatch):
    clock = Clock(monkeypatch)
    built = 0.0

    def objective(x: object) -> float:
        nonlocal built
        clock.passes(0.05)
        built += 0.05
        clock.passes(0.01)
        return -clock.now

    def journal(t: float, y: float, violation: float) -> None:
        clock.passes(0.02)
        raise OSError(28, "No space left on device")  # this error does not end the run

    problem = Problem(objective, building_seconds=lambda: built, evaluate_many=lambda points: [])
    recorder = Recorder(problem, "seconds", 0.1, journal=journal)
    assert recorder.at_once is None  # against the clock, points are evaluated one by one
    recorder.start()
    for _ in range(4):
        recorder.evaluate(0)
    assert recorder.times == pytest.approx([0.01, 0.02, 0.03, 0.04])


def test_what_is_reported_is_recorded_up_to_the_budget():
    recorder = Recorder(None, "iterations", 10)
    recorder.report(1, 5.0)
    recorder.report(2, 6.0)
    recorder.report(2, nan)
    recorder.report(7, 4.0)
    with pytest.raises(BudgetExhausted):
        recorder.report(11, 1.0)
    assert (recorder.times, recorder.values) == ([1, 7], [5.0, 4.0])
    assert recorder.invalid == 1
    assert recorder.reached == 10
    recorder = Recorder(None, "epochs", 10, last=True)
    for t, y in enumerate([3.0, 2.0, 2.0, nan, 2.5], 1):
        recorder.report(t, y)
    assert (recorder.times, recorder.values) == ([1, 2, 5], [3.0, 2.0, 2.5])
    with pytest.raises(TypeError, match="report improvements instead"):
        recorder.evaluate([0.0])


@pytest.mark.parametrize("t", [1.0, nan, inf])
def test_a_reported_time_that_goes_back_is_refused(t: float):
    recorder = Recorder(None, "iterations", 10)
    recorder.report(2, 5.0)
    with pytest.raises(BadOutputError, match="after t = 2"):
        recorder.report(t, 4.0)


@pytest.mark.parametrize(
    "end", [POINT.pack(5, 1, 0)[:11], b"words of a run", b"x" * POINT_BYTES], ids=repr
)
def test_a_journal_gives_back_what_a_dead_process_had_found(tmp_path: Path, end: bytes):
    journal = Journal(tmp_path / "journal")
    journal.add(9, 9, 0)
    os.truncate(tmp_path / "journal", 0)
    journal.add(1, 3.5, 2)
    journal.add(4, 2.5, 0)
    with (tmp_path / "journal").open("ab") as file:
        file.write(end)
    journal.add(6, 1.5, 0)
    improvements = read_journal(tmp_path / "journal")
    assert improvements.points() == [(1, 2, 3.5), (4, 0, 2.5)]
    journal.close()


@pytest.mark.parametrize(
    ("value", "description"),
    [
        ("high", "'high'"),
        (np.zeros(3), "an array of the shape (3,)"),
        (None, "nothing"),
        ([1, 2], "a list"),
    ],
)
@pytest.mark.parametrize("axis", ["evaluations", "seconds", "steps"])
def test_an_objective_that_returns_no_number_is_to_blame_by_its_own_file(value, description, axis):
    recorder = Recorder(Problem(lambda x: value), axis, 10)
    with pytest.raises(ProblemError) as refused:
        recorder.evaluate(0)
    assert f"returned {description}; expected a number" in str(refused.value)
    assert "test_recorder.py, line " in str(refused.value)


# point: observed value, true value
NOISY = {"a": (3.0, 3.5), "b": (1.0, 4.0), "c": (2.0, 0.0), "d": (0.5, 2.0)}


@pytest.mark.parametrize(
    ("last", "kept"),
    [
        # c has the best true value of all, but was never seen to be the best
        (False, [(1, 3.5), (4, 2.0)]),
        (True, [(1, 3.5), (2, 4.0), (4, 2.0)]),
    ],
)
@pytest.mark.parametrize("maximise", [False, True])
def test_of_noisy_values_the_incumbent_s_true_value_is_recorded(last, kept, maximise):
    sign = -1 if maximise else 1
    problem = Problem(lambda x: sign * NOISY[x][0], true_value=lambda x: sign * NOISY[x][1])
    recorder = Recorder(problem, "evaluations", 10, maximise, last=last)
    handed = [recorder.evaluate(x) for x in "abcd"]
    assert handed == [3.0, 1.0, 2.0, 0.5]  # the algorithm sees the noise
    assert list(zip(recorder.times, recorder.values, strict=True)) == kept
    assert recorder.evaluations == 4


VALUES = st.lists(st.floats() | st.sampled_from([1.0, 2.0]), max_size=40)


def evaluated(
    values: list[float], size: int, budget: int, at_once: bool, noisy: bool, **options: bool
) -> Any:
    """All that can be seen of a recorder through which these values went in populations."""
    written: list[tuple[float, float, float]] = []
    problem = Problem(
        values.__getitem__,
        evaluate_many=lambda points: [values[x] for x in points],
        true_value=(lambda x: float(x % 7)) if noisy else None,
    )
    recorder = Recorder(
        problem, "evaluations", budget, journal=lambda *point: written.append(point), **options
    )
    assert recorder.at_once is not None
    handed = []
    has_ended = False
    try:
        for start in range(0, len(values), size):
            points = range(start, min(start + size, len(values)))
            if at_once:
                handed.append(recorder.at_once(points))
            else:
                handed.append([recorder.evaluate(x) for x in points])
    except BudgetExhausted:
        has_ended = True
    return (
        *(recorder.times, recorder.values, recorder.evaluations, recorder.reached),
        *(recorder.invalid, written, handed, has_ended),
    )


@given(VALUES, st.integers(1, 9), st.integers(0, 45), *[st.booleans()] * 3)
def test_a_population_is_recorded_point_by_point(values, size, budget, maximise, last, noisy):
    options = {"noisy": noisy, "maximise": maximise, "last": last}
    together = evaluated(values, size, budget, True, **options)
    assert together == evaluated(values, size, budget, False, **options)


def test_nothing_is_evaluated_beyond_the_budget():
    sizes: list[int] = []

    def many(points: list[float]) -> list[float]:
        sizes.append(len(points))
        return [1.0] * len(points)

    recorder = Recorder(Problem(lambda x: 1.0, evaluate_many=many), "evaluations", 5)
    assert recorder.at_once([0.0] * 3) == [1.0] * 3
    with pytest.raises(BudgetExhausted):
        recorder.at_once([0.0] * 3)
    assert sizes == [3, 2]
    with pytest.raises(BudgetExhausted):
        recorder.at_once([0.0])
    assert sizes == [3, 2]
    assert recorder.evaluations == 5


def test_another_number_of_values_than_of_points_is_refused():
    problem = Problem(lambda x: 1.0, evaluate_many=lambda points: np.ones((2, 2)))
    recorder = Recorder(problem, "evaluations", 5)
    with pytest.raises(ProblemError, match=r"returned an array of the shape \(2, 2\) for 3 points"):
        recorder.at_once([0.0] * 3)


class Together(Problems):
    """Problems that evaluate a population at once."""

    def get(self, instance: Any) -> Any:
        problem = super().get(instance)
        values = np.vectorize(problem.evaluate, signature="(d)->()")
        return replace(problem, evaluate_many=values)


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
def test_a_run_is_the_same_to_the_byte_wherever_its_budget_ends_amid_a_population(name: str):
    options = {"name": name, **ALGORITHMS[name]}
    algorithm = ADAPTERS[options["use"]].model_validate(options)
    suite = SUITES["classic"].model_validate({"suite": "classic"})
    for budget in (1, 7, 64, 331):
        setting = Setting(1, Budget.model_validate({"grid": [1, budget + 1]}))
        instance = suite.instance(0, setting)
        task = Task(algorithm, instance, 5, float(budget))
        together = execute(task, Together(suite, setting))
        apart = execute(task, Problems(suite, setting))
        assert record_of(together) == record_of(apart)
        assert together.evaluations == budget
        assert together.values.min() < inf


def constrained(outcomes: dict[int, tuple[float, list[float]]]) -> Problem:
    return Problem(outcomes.__getitem__)


def test_improvements_have_less_violation_or_a_better_value():
    outcomes = {
        0: (5.0, [2.0, -1.0]),
        1: (1.0, [3.0, 0.0]),  # a better value, but more violation
        2: (4.0, [1.0, 1.0]),  # the same violation and a better value
        3: (9.0, [-1.0, 0.0]),
        4: (0.0, [1e-9, 0.0]),
        5: (8.0, [nan, 0.0]),
        6: (7.0, [0.0, 0.0]),
    }
    recorder = Recorder(constrained(outcomes), "evaluations", 10)
    received = [recorder.evaluate(x) for x in outcomes]
    assert recorder.times == [1, 3, 4, 7]
    assert recorder.values == [5, 4, 9, 7]
    assert recorder.violations == [2, 2, 0, 0]
    assert received == [5, 1, 4, 9, 0, inf, 7]
    assert recorder.invalid == 1
    assert recorder.constraints == [0, 0]


def test_a_small_violation_is_feasible_with_a_tolerance():
    outcomes = {0: (5.0, [1e-9, 1e-9]), 1: (1.0, [3e-9, 0.0])}
    recorder = Recorder(constrained(outcomes), "evaluations", 10, feasibility_tolerance=2e-9)
    for x in outcomes:
        recorder.evaluate(x)
    recorder.report(5, 4.0, violation=2e-9)
    assert (recorder.values, recorder.violations) == ([5, 4], [0, 0])


def test_larger_values_are_better_with_constraints_too():
    outcomes = {0: (5.0, [1.0]), 1: (6.0, [1.0]), 2: (-3.0, [0.0]), 3: (-4.0, [0.0])}
    recorder = Recorder(constrained(outcomes), "evaluations", 10, maximise=True)
    for x in outcomes:
        recorder.evaluate(x)
    assert (recorder.values, recorder.violations) == ([-5, -6, 3], [1, 1, 0])


def test_every_change_is_recorded_where_the_last_outcome_counts():
    outcomes = {0: (5.0, [0.0]), 1: (5.0, [1.0]), 2: (5.0, [1.0]), 3: (5.0, [0.0])}
    recorder = Recorder(constrained(outcomes), "evaluations", 10, last=True)
    for x in outcomes:
        recorder.evaluate(x)
    assert (recorder.times, recorder.violations) == ([1, 2, 4], [0, 1, 0])


def test_true_values_are_recorded_with_the_observed_violation():
    problem = Problem({0: (5.0, [1.0]), 1: (4.0, [0.0])}.__getitem__, true_value=lambda x: 7.0 - x)
    recorder = Recorder(problem, "evaluations", 10)
    recorder.evaluate(0)
    recorder.evaluate(1)
    assert (recorder.values, recorder.violations) == ([7, 6], [1, 0])


@pytest.mark.parametrize("returned", [(1.0, 2.0, 3.0), (1.0, 2.0), ([1.0, 2.0], [0.0])])
def test_a_tuple_that_has_no_list_of_constraints_is_refused(returned: Any):
    recorder = Recorder(Problem(lambda x: returned), "evaluations", 10)
    with pytest.raises(ProblemError, match="with constraints a number and a list"):
        recorder.evaluate(0)


def test_a_negative_violation_is_refused_and_one_without_a_number_counted():
    recorder = Recorder(None, "iterations", 10)
    recorder.report(1, 5.0, violation=nan)
    assert (recorder.values, recorder.invalid) == ([], 1)
    with pytest.raises(BadOutputError, match="violation -1 at t = 2"):
        recorder.report(2, 5.0, violation=-1)
