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
    for i, t in enumerate(evidence.grid.times):
        duels = duels_at(store, "A", "C", float(t))
        a = evidence.positions[:, 0, i]
        c = evidence.positions[:, 2, i]
        assert duels.wins_a == (a < c).sum()
        assert duels.wins_b == (a > c).sum()
        assert duels.ties == (a == c).sum()
        assert len(duels.duels) == 15
        for duel in duels.duels:
            row = evidence.grid.instances.index(duel.instance)
            if duel.winner is None:
                assert a[row] == c[row]
            else:
                assert duel.winner == ("A" if a[row] < c[row] else "C")


def test_what_was_lost_comes_first_and_by_the_most(store: StoreOnDisk):
    assert duels_at(store, "A", "B").t == 100  # the last of the grid
    duels = duels_at(store, "B", "A", 10).duels
    winners = [duel.winner for duel in duels]
    assert winners == sorted(winners, key=["A", None, "B"].index)
    lost = [duel.margin for duel in duels if duel.winner == "A"]
    assert lost == sorted(lost, reverse=True)


def test_runs_on_an_instance_are_those_of_the_store(store: StoreOnDisk):
    details = runs_on(store, store.instances()["instance"][3])
    assert [run.algorithm for run in details.runs] == ["A", "B", "C"]
    stored = {(run.algorithm, run.instance): (run, t, y) for run, t, y in store.trajectories()}
    values = store.on_grid(np.array(details.times)).values[3]
    for i, trajectory in enumerate(details.runs):
        run, t, y = stored[trajectory.algorithm, details.instance]
        assert (trajectory.seed, trajectory.run) == (run.seed, run.run)
        assert trajectory.status == run.status
        assert trajectory.t == tuple(t)
        assert trajectory.y == tuple(y)
        assert trajectory.at_times == tuple(values[i])


def test_where_larger_is_better_values_are_as_the_problem_has_them(store, monkeypatch):
    minimised_duels = {duel.instance: duel for duel in duels_at(store, "A", "B", 10).duels}
    minimised_run = runs_on(store, store.instances()["instance"][0]).runs[0]
    monkeypatch.setattr(StoreOnDisk, "maximise", True)
    duels = duels_at(store, "A", "B", 10)
    assert duels.better == LARGER
    for duel in duels.duels:
        minimised = minimised_duels[duel.instance]
        assert duel.a == -minimised.a  # type: ignore[operator]
        assert duel.b == -minimised.b  # type: ignore[operator]
        assert duel.winner == minimised.winner
        assert duel.winner == ("A" if duel.a > duel.b else "B")  # type: ignore[operator]
    maximised_run = runs_on(store, store.instances()["instance"][0]).runs[0]
    assert maximised_run.y == tuple(-y for y in minimised_run.y)
    assert maximised_run.at_times == tuple(-y for y in minimised_run.at_times)  # type: ignore[operator]
