"""Multi-objective algorithms with and without a reference point: answers, and a small run."""

import sys
from pathlib import Path

import numpy as np
import objectives
import pytest
from objectives import Answer

from polarbear.rankings.front_duels import DRAW, INCOMPARABLE, LOSS, NOT_MET, WIN


def test_an_answer_counts_duels_and_names_those_whom_nobody_beats():
    """Three pairs of A, B and C on four instances at one time."""
    results = np.array(
        [
            [WIN, WIN, WIN],
            [WIN, INCOMPARABLE, DRAW],
            [LOSS, WIN, WIN],
            [WIN, NOT_MET, WIN],
        ]
    )[:, :, np.newaxis]
    answer = Answer.of(results, 3)
    assert answer.won[0, 0].tolist() == [0, 0.75, 2 / 3]
    assert answer.ahead[0, 0, 1:].tolist() == pytest.approx([0.75, 5 / 6])
    assert answer.incomparable.tolist() == [1 / 11]
    assert answer.members(("A", "B", "C")) == ["A"]
    assert answer.leaders(("A", "B", "C")) == ["A"]
    other = Answer.of(-np.where(np.abs(results) == 1, results, 0), 3)
    assert objectives.decided_otherwise(answer, other) == 3


@pytest.mark.parametrize("transform", objectives.TRANSFORMATIONS.values())
def test_transformations_keep_every_order(transform):
    values = np.sort(np.random.default_rng(1).normal(0, 1e5, 1000))
    transformed = transform(values, float(np.abs(values).max()))
    assert np.isfinite(transformed).all()
    assert (np.diff(transformed) > 0).all()


@pytest.mark.slow
@pytest.mark.peer
def test_the_study_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    arguments = ["--small", "--stores", str(tmp_path / "stores"), "--out", str(tmp_path)]
    monkeypatch.setattr(sys, "argv", ["objectives.py", *arguments])
    assert objectives.main() in (0, 1), "so few instances prove nothing"
    page = (tmp_path / "result.md").read_text()
    assert "on 3 in dimension 5 and 3 in dimension 10 instances" in page
    assert page.count("- holds: dimension 5: no transformation changes a duel by coverage") == 1
    assert page.count("- holds: dimension 10: no transformation changes a duel by coverage") == 1
