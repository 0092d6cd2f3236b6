"""A closer look: duels are counted as rankings have them, and runs are shown as they were."""

import numpy as np
import pytest

from polarbear.facts.evidence import evidence_of
from polarbear.facts.run_details import LARGER, duels_at, runs_on
from polarbear.store import StoreOnDisk
from tests.report.stores import runs_of

RATINGS = {"A": [0.6, 0.2], "B": [0.3, 0.5], "C": [0.1, 0.3]}


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> StoreOnDisk:
    return runs_of(tmp_path_factory.mktemp("looking"), 15, RATINGS)


def test_duels_are_those_of_the_rankings(store: StoreOnDisk):
    evidence = evidence_of(store)
    for place, t in enumerate(evidence.grid.times):
        told = duels_at(store, "A", "C", float(t))
        a, c = evidence.positions[:, 0, place], evidence.positions[:, 2, place]
        assert told.wins_a == (a < c).sum()
        assert told.wins_b == (a > c).sum()
        assert told.ties == (a == c).sum()
        assert len(told.duels) == 15
        for duel in told.duels:
            row = evidence.grid.instances.index(duel.instance)
            assert duel.winner == ("A" if a[row] < c[row] else "C" if c[row] < a[row] else None)


def test_what_was_lost_comes_first_and_by_the_most(store: StoreOnDisk):
    assert duels_at(store, "A", "B").t == 100  # the last of the grid
    told = duels_at(store, "B", "A", 10)
    winners = [duel.winner for duel in told.duels]
    assert winners == sorted(winners, key=["A", None, "B"].index)
    lost = [duel.margin for duel in told.duels if duel.winner == "A"]
    assert lost == sorted(lost, reverse=True)


def test_runs_on_an_instance_are_those_of_the_store(store: StoreOnDisk):
    told = runs_on(store, store.instances()["instance"][3])
    assert [run.algorithm for run in told.runs] == ["A", "B", "C"]
    kept = {(run.algorithm, run.instance): (run, t, y) for run, t, y in store.trajectories()}
    values = store.on_grid(np.array(told.times)).values[3]
    for place, shown in enumerate(told.runs):
        run, t, y = kept[shown.algorithm, told.instance]
        assert (shown.seed, shown.run, shown.status) == (run.seed, run.run, run.status)
        assert shown.t == tuple(t)
        assert shown.y == tuple(y)
        assert shown.at_times == tuple(values[place])


def test_where_larger_is_better_values_are_as_the_problem_has_them(store, monkeypatch):
    before = {duel.instance: duel for duel in duels_at(store, "A", "B", 10).duels}
    shown = runs_on(store, store.instances()["instance"][0]).runs[0]
    monkeypatch.setattr(StoreOnDisk, "maximise", True)
    told = duels_at(store, "A", "B", 10)
    assert told.better == LARGER
    for duel in told.duels:
        was = before[duel.instance]
        assert (duel.a, duel.b, duel.winner) == (-was.a, -was.b, was.winner)  # type: ignore[operator]
        assert duel.winner == ("A" if duel.a > duel.b else "B")  # type: ignore[operator]
    again = runs_on(store, store.instances()["instance"][0]).runs[0]
    assert again.y == tuple(-y for y in shown.y)
    assert again.at_times == tuple(-y for y in shown.at_times)  # type: ignore[operator]
