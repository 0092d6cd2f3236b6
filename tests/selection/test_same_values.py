"""Algorithms whose values were equal on all problems: one answer names them together."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import polarbear as pb
from polarbear.api.standings_words import standings_lines
from polarbear.report.context import gather
from polarbear.report.page.page_data import same_on
from polarbear.report.story import recommendation
from polarbear.report.words import without_marks
from polarbear.store import StoreOnDisk

TIMES = (10, 20, 30, 40, 50)


def imported(folder: Path, differences: dict[str, list[float]], problems: int = 16) -> pb.Store:
    """Runs on some problems; an algorithm's values exceed common ones by its differences."""
    rng = np.random.default_rng(1)
    common = rng.random((problems, len(TIMES)))
    rows = [
        (name, f"p{i}", t, float(common[i, k] + extra))
        for name, extras in differences.items()
        for i in range(problems)
        for k, (t, extra) in enumerate(zip(TIMES, extras, strict=True))
    ]
    pl.DataFrame(rows, ["algorithm", "instance", "t", "y"], orient="row").write_csv(
        folder / "runs.csv"
    )
    return pb.import_data(folder / "runs.csv", folder / "store", trajectory="last")


def headline(store: pb.Store) -> str:
    context = gather(StoreOnDisk.open(store.path))
    return without_marks(recommendation(context)[0])


def test_equal_algorithms_are_the_answer_together(tmp_path: Path):
    store = imported(tmp_path, {"a": [0.0] * 5, "b": [0.0] * 5, "c": [1.0] * 5})
    answer = store.select("uniform", sweep=True)
    assert answer.statement == "a and b had the same values in all 16 problems: either will do"
    assert {answer.choice, *answer.same_values} == {"a", "b"}
    assert (answer.too_early, answer.disagreements, answer.notes) == (None, (), ())
    assert answer.sweep is not None
    assert [interval.algorithms for interval in answer.sweep.intervals] == [("a", "b")]
    assert headline(store) == (
        "a and b had the same values in all 16 problems: run either, whatever the budget."
    )


def test_a_floor_that_two_reach_is_a_span_of_its_own(tmp_path: Path):
    store = imported(tmp_path, {"a": [0.0] * 5, "b": [1.0, 1.0, 1.0, 0.0, 0.0]})
    assert headline(store) == (
        "Run a up to 30 evaluations; from 40 evaluations on a and b had the same values in all 16 "
        "problems."
    )
    assert "same values" in store.select("at 50").statement
    assert store.select("at 20").statement.startswith("a: P(best) = ")
    assert store.select("uniform").same_values == ()
    context = gather(StoreOnDisk.open(store.path))
    assert context.basis is not None
    assert same_on(context.basis.posterior, (0, 1)) == {0: [0, 0, 0, 16, 16]}


def test_with_others_their_p_best_is_that_of_all_together(tmp_path: Path):
    even = [0.0] * 5
    store = imported(tmp_path, {"a": even, "b": even, "c": [-1.0, 1.0, 1.0, 1.0, 1.0]})
    answer = store.select("uniform")
    assert answer.statement.startswith("a and b had the same values in all 16 problems; together ")
    assert set(answer.same_values) < {"a", "b"}
    p_best = {row.algorithm: row.p2bb for row in answer.ranking}
    assert p_best["a"] + p_best["b"] == pytest.approx(1.0, abs=0.01)


def test_on_few_problems_it_is_too_early_for_equal_algorithms_too(tmp_path: Path):
    store = imported(tmp_path, {"a": [0.0] * 5, "b": [0.0] * 5}, problems=9)
    assert store.select("uniform").statement.startswith("too early to say; ")
    assert headline(store).startswith("Too early to say, on 9 problems. ")


def test_a_race_of_equal_algorithms_says_so(tmp_path: Path):
    config = {
        "algorithms": [
            {"name": "first", "use": "scipy", "method": "direct"},
            {"name": "second", "use": "scipy", "method": "direct"},
        ],
        "instances": {"suite": "classic", "dimensions": {"from": 2, "to": 3}},
        "budget": {"grid": [5, 20, 60]},
        "execution": {"workers": 1},
        "race": {"limits": {"instances": 16}},
    }
    store = pb.race(config, tmp_path / "store")
    lines = standings_lines(store.standings(), None)
    words = "  at all times   first or second   the same values in all 16 problems"
    assert words in lines
    assert headline(store).startswith("first and second had the same values in all 16 problems")
