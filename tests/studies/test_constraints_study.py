"""Constrained optimisers beside penalties: definitions of outcomes, and a whole small run."""

import sys
from pathlib import Path

import constraints
import numpy as np
import pytest

VALUES = np.array([-50.0, 4.0, 3.0, 9.0, 2.5])
VIOLATIONS = np.array([10.0, 0.01, 0.0, 0.0, 1e-3])


@pytest.mark.parametrize(
    ("definition", "best"),
    [
        ("feasible first", [0, 1, 2, 2, 2]),
        ("penalty 1", [0, 0, 0, 0, 0]),
        ("penalty 1e3", [0, 1, 2, 2, 2]),
        ("penalty 1e6", [0, 1, 2, 2, 2]),
    ],
)
def test_the_definition_says_which_point_is_the_best(definition: str, best: list[int]):
    times = np.arange(1.0, 6.0)
    numbers = constraints.scores(definition, VALUES, VIOLATIONS)
    assert constraints.best_at(numbers, times).tolist() == best
    assert constraints.best_at(numbers, np.array([2.0, 9.0])).tolist() == [best[1], best[4]]


def test_a_small_penalty_prefers_an_infeasible_point():
    numbers = constraints.scores("penalty 1e3", np.array([3.0, 1.0]), np.array([0.0, 1e-3]))
    assert constraints.best_at(numbers, np.array([2.0])).tolist() == [1]
    numbers = constraints.scores("penalty 1e6", np.array([3.0, 1.0]), np.array([0.0, 1e-3]))
    assert constraints.best_at(numbers, np.array([2.0])).tolist() == [0]


@pytest.mark.slow
def test_the_study_runs_and_is_resumed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    arguments = ["--small", "--stores", str(tmp_path / "stores"), "--out", str(tmp_path)]
    monkeypatch.setattr(sys, "argv", ["constraints.py", *arguments])
    assert constraints.main() in (0, 1), "so few instances prove nothing"
    page = (tmp_path / "result.md").read_text()
    assert "\n## Answers\n" in page
    assert "cubes of all values and violations give the same duels" in page
    assert "**does not hold**: feasible first" not in page

    monkeypatch.setattr(constraints, "execute", None)  # nothing is done again
    assert constraints.main() in (0, 1)
    assert (tmp_path / "result.md").read_text() == page
