"""The recorder of runs with several objectives."""

from math import inf, nan
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from polarbear.errors import BadOutputError, BudgetExhausted, ProblemError
from polarbear.execution.front_recorder import FrontRecorder
from polarbear.execution.journal import Journal, read_journal
from polarbear.problems.base import Problem


def recorder_of(outcomes: list[Any], **options: Any) -> FrontRecorder:
    return FrontRecorder(Problem(outcomes.__getitem__), "evaluations", 10, 2, **options)


def test_points_that_enter_the_archive_are_recorded_with_their_times():
    outcomes = [(3.0, 3.0), (4.0, 4.0), [2.0, 5.0], np.array([3.0, 3.0]), (1.0, 1.0), (nan, 0.0)]
    recorder = recorder_of(outcomes)
    received = [recorder.evaluate(x) for x in range(6)]
    assert recorder.times == [1, 3, 5]
    assert recorder.trajectory_values().tolist() == [[3, 3], [2, 5], [1, 1]]
    assert received == [[3, 3], [4, 4], [2, 5], [3, 3], [1, 1], [inf, inf]]
    assert recorder.invalid == 1


def test_larger_values_are_better_if_the_problem_says_so():
    recorder = recorder_of([(3.0, 3.0), (2.0, 2.0), (4.0, 1.0)], maximise=True)
    assert [recorder.evaluate(x) for x in range(3)] == [[-3, -3], [-2, -2], [-4, -1]]
    assert recorder.trajectory_values().tolist() == [[-3, -3], [-4, -1]]


def test_feasible_points_replace_infeasible_ones():
    outcomes = [((1.0, 1.0), [2.0]), ([0.0, 0.0], [3.0]), ([9.0, 9.0], [-1.0]), ((8.0, 9.5), [0.0])]
    recorder = recorder_of(outcomes)
    for x in range(4):
        recorder.evaluate(x)
    assert recorder.times == [1, 3, 4]
    assert recorder.violations == [2, 0, 0]
    assert recorder.constraints == [0.0]


def test_reports_have_a_value_for_each_objective():
    recorder = FrontRecorder(None, "iterations", 10, 2)
    recorder.report(1, [5.0, 5.0], violation=1.0)
    recorder.report(2, (6.0, 6.0))
    with pytest.raises(BadOutputError, match="expected 2 numbers"):
        recorder.report(3, 5.0)
    with pytest.raises(BudgetExhausted):
        recorder.report(11, [1.0, 1.0])
    assert (recorder.times, recorder.violations) == ([1, 2], [1, 0])


@pytest.mark.parametrize("returned", [1.0, (1.0, 2.0, 3.0), "ab", ([1.0], [0.0])])
def test_another_number_of_values_is_refused(returned: Any):
    recorder = recorder_of([returned])
    with pytest.raises(ProblemError, match="expected 2 numbers"):
        recorder.evaluate(0)


def test_true_values_of_points_that_enter_are_recorded():
    true_values = [(5.0, 5.0), (6.0, 6.0), (1.0, 1.0)]
    observed = [(3.0, 3.0), (2.0, 2.0), (2.5, 2.5)]
    problem = Problem(observed.__getitem__, true_value=true_values.__getitem__)
    recorder = FrontRecorder(problem, "evaluations", 10, 2)
    for x in range(3):
        recorder.evaluate(x)
    assert recorder.trajectory_values().tolist() == [[5, 5]]


def test_many_points_are_recorded_as_if_they_were_evaluated_one_by_one():
    points = np.random.default_rng(1).random((12, 3))

    def objectives(x: np.ndarray) -> tuple[float, float]:
        return float(x.sum()), float((1 - x).prod())

    def many(rows: np.ndarray) -> np.ndarray:
        return np.array([objectives(x) for x in rows])

    together = FrontRecorder(Problem(objectives, evaluate_many=many), "evaluations", 10, 2)
    apart = FrontRecorder(Problem(objectives), "evaluations", 10, 2)
    assert together.at_once is not None
    with pytest.raises(BudgetExhausted):
        together.at_once(points)
    with pytest.raises(BudgetExhausted):
        for x in points:
            apart.evaluate(x)
    assert together.times == apart.times
    assert (together.trajectory_values() == apart.trajectory_values()).all()


def test_a_journal_has_all_points(tmp_path: Path):
    journal = Journal(tmp_path / "journal")
    recorder = recorder_of([((1.0, 2.0), [1.0]), ([3.0, 1.0], [0.0])], journal=journal.add)
    for x in range(2):
        recorder.evaluate(x)
    journal.close()
    improvements = read_journal(tmp_path / "journal", 2)
    assert improvements.times.tolist() == [1, 2]
    assert improvements.values.tolist() == [[1, 2], [3, 1]]
    assert improvements.all_violations().tolist() == [1, 0]
