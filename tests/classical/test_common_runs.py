"""Complete cases: which algorithms and instances are compared, and the notes on the others."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from polarbear.classical.common_runs import share_more
from polarbear.classical.view import view
from polarbear.classical.view_options import Comparison, checked_pair
from polarbear.errors import ReportError
from polarbear.execution.outcome import Status
from polarbear.report.context import gather
from tests.classical.helpers import Run, make_store

FULL = Run([1, 50], [3.0, 1.0], Status.BUDGET, 100.0)
OTHER = Run([1, 50], [4.0, 2.0], Status.BUDGET, 100.0)
CUT = Run([1], [0.1], Status.BUDGET, 10.0)
ENDED = Run([1, 5], [4.0, 0.5], Status.ENDED, 5.0)
CRASHED = Run([1, 5], [4.0, 0.5], Status.CRASHED, 5.0)


def test_only_instances_that_all_ran_in_full_are_compared(tmp_path: Path):
    runs = {"A": [FULL, FULL, FULL, None], "B": [OTHER, CUT, OTHER, OTHER]}
    classical = view(make_store(tmp_path / "store", runs))
    assert classical.common.instances == ("i000", "i002")
    assert classical.common.full == {"A": 3, "B": 3}
    words = "the classical view uses 2 of 4 instances: those that all 2 algorithms ran to the end"
    assert words in classical.notes()[0]


def test_a_run_that_ended_by_itself_or_failed_keeps_its_last_best(tmp_path: Path):
    classical = view(make_store(tmp_path / "store", {"A": [ENDED, CRASHED], "B": [FULL, FULL]}))
    assert len(classical.common.instances) == 2
    assert classical.ecdf.mean[0, -1] == 1.0


def test_notes_give_the_number_of_instances_that_fewer_algorithms_share(tmp_path: Path):
    runs = {
        "A": [FULL] * 6,
        "B": [OTHER] * 6,
        "C": [OTHER] * 4 + [CUT] * 2,
        "D": [OTHER] * 1 + [CUT] * 5,
    }
    store = make_store(tmp_path / "store", runs)
    classical = view(store)
    assert len(classical.common.instances) == 1
    assert [(s.without, s.instances) for s in classical.common.steps] == [
        (("D",), 4),
        (("D", "C"), 6),
    ]
    assert any("without D: 4; without D, C: 6" in note for note in classical.notes())
    assert any("there is one instance only" in note for note in classical.notes())
    assert len(view(store, ["B", "A"]).common.instances) == 6


def test_an_algorithm_without_a_full_run_is_left_out_unless_it_is_named(tmp_path: Path):
    store = make_store(tmp_path / "store", {"A": [FULL], "B": [OTHER], "C": [CUT], "D": [None]})
    classical = view(store)
    assert classical.algorithms == ("A", "B")
    assert any("no run to the end of the grid: C, D" in note for note in classical.notes())
    with pytest.raises(ReportError, match=r"by all of: A, C \(instances run in full: A 1, C 0\)"):
        view(store, ["A", "C"])


@pytest.mark.parametrize(
    ("runs", "algorithms", "words"),
    [
        ({"A": [FULL, None, FULL], "B": [OTHER, None, OTHER], "C": [None, FULL, None]},
         None, "--algorithms 'A,B' has 2 in common"),
        ({"A": [CUT], "B": [CUT]}, None, r"reaches the end of the grid \(100\)"),
        ({"A": [None], "B": [None]}, None, "has no runs yet"),
        ({"Powell": [FULL], "B": [OTHER]}, ["Powel"],
         "unknown algorithm 'Powel'; did you mean 'Powell'?"),
    ],
)  # fmt: skip
def test_runs_without_a_comparison_are_refused(runs, algorithms, words, tmp_path):
    with pytest.raises(ReportError, match=words):
        view(make_store(tmp_path / "store", runs), algorithms)


@pytest.mark.parametrize("text", ["A", "A,A", "A,B,C", "A,", ""])
def test_a_pair_is_two_different_names(text: str):
    with pytest.raises(ReportError, match="a pair is two different algorithms"):
        checked_pair(text.split(","))
    assert checked_pair(["A", "B"]) == ("A", "B")


def test_the_pareto_set_is_compared_if_it_shares_more_instances(tmp_path: Path):
    runs = {"A": [FULL] * 4, "B": [OTHER] * 4, "C": [OTHER] * 1 + [CUT] * 3}
    store = make_store(tmp_path / "store", runs)
    assert share_more(store, 100.0, ["A", "B"])
    assert not share_more(store, 100.0, ["A", "C"])
    race = SimpleNamespace(eliminated=("C",), pareto_set=("A", "B"))
    context = replace(gather(store), race=race)  # type: ignore[arg-type]
    assert context.classical.algorithms == ("A", "B")
    assert len(context.classical.common.instances) == 4
    assert "`--algorithms all` includes C" in context.classical.notes()[-1]
    with_eliminated = replace(context, comparison=Comparison(include_eliminated=True))
    assert with_eliminated.classical.algorithms == ("A", "B", "C")
    with_one_survivor = replace(
        context, race=SimpleNamespace(eliminated=("B", "C"), pareto_set=("A",))
    )  # type: ignore[arg-type]
    assert with_one_survivor.classical.algorithms == ("A", "B", "C")
