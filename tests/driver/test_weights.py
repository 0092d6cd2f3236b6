"""Races on weighted instances: decisions, resuming and deciding again."""

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from polarbear.driver.collect import InstanceStream, RaceRuns
from polarbear.driver.merging import stored_config, unite
from polarbear.errors import StoreMismatchError
from polarbear.facts.evidence import evidence_of
from polarbear.problems.weights import weight_of
from polarbear.rankings.duels import duels_of
from polarbear.store import StoreOnDisk
from tests.driver.test_loop import RATINGS, checkpoints, configured, run
from tests.driver.test_reconcile import race

FEW = {"limits": {"instances": 8}}


def weighted(weights: dict[str, float], **changes: Any) -> Any:
    suite = {"suite": "synthetic", "ratings": RATINGS, "weights": weights}
    return configured(("good", "late"), instances=suite, **changes)


@pytest.fixture(scope="module")
def raced(tmp_path_factory: pytest.TempPathFactory) -> StoreOnDisk:
    config = weighted({"*-1": 3, "*-2": 0.5}, rules=FEW)
    return run(config, tmp_path_factory.mktemp("raced") / "s")[1]


def test_a_race_counts_as_the_store_does(raced: StoreOnDisk):
    config = weighted({"*-1": 3, "*-2": 0.5}, rules=FEW)
    assert sorted(raced.weights().values()) == [0.5, 3.0]
    last = raced.rounds.last()
    assert last is not None
    runs = RaceRuns(config, raced, InstanceStream(config))
    evidence_of_race = runs.evidence(last.state)
    evidence_of_store = evidence_of(raced)
    wins = evidence_of_race.choice_sets.wins
    assert evidence_of_race.key == evidence_of_store.key
    np.testing.assert_array_equal(wins, evidence_of_store.choice_sets.wins)
    assert wins[0].sum() == 6 + 3 + 0.5
    assert last.settings.weights == {"*-1": 3.0, "*-2": 0.5}


def test_other_weights_are_another_race(raced: StoreOnDisk, tmp_path: Path):
    shutil.copytree(raced.path, tmp_path / "s")
    with pytest.raises(StoreMismatchError, match=r"(?s)settings\.weights.*--redecide"):
        race(weighted({"*-1": 2}, rules=FEW), tmp_path / "s")
    assert checkpoints(StoreOnDisk.open(tmp_path / "s")) == checkpoints(raced)


def test_a_race_that_is_replayed_keeps_its_weights(raced: StoreOnDisk):
    suite = stored_config(raced).instances
    assert {name: weight_of(name, suite.weights) for name in raced.weights()} == raced.weights()


def test_merging_says_whose_weights_count(raced: StoreOnDisk, tmp_path: Path):
    other = run(weighted({}, rules=FEW), tmp_path / "other")[1]
    union = unite([raced, other])
    assert f"weights are those of {raced.path}; {other.path} has others" in union.notes
    assert union.settings.instances.weights == {"*-1": 3.0, "*-2": 0.5}


def test_duels_are_counted_by_weight():
    positions = np.array([[0, 1], [0, 1], [1, 0]], dtype=np.int16)[:, :, None]
    record = duels_of(positions, None, np.array([2.0, 0.25, 5.0])).record().won()
    assert record[0].tolist() == [[0, 2.25], [5.0, 0]]


def test_the_command_line_shows_weights_which_may_change_as_no_run_depends_on_them(project):
    suite = {"suite": "classic", "count": 3}
    project.configure(instances=suite)
    project.done("run", "config.yaml", "-q")
    assert project.json("status", "config")["weights"] is None
    project.configure(instances={**suite, "weights": {"*": 2}})
    assert project.json("run", "config.yaml")["executed"] == 0
    weights = project.json("status", "config")["weights"]
    assert weights == {"instances": 3, "total": 6.0, "least": 2.0, "most": 2.0}
    assert "3 instances count as 6: weights from 2 to 2" in project("status", "config").stdout
    notes = project.json("infer", "config", "--set", "draws=500")["notes"]
    assert any(note.startswith("instances have weights, from 2 to 2") for note in notes)
    notes = project.json("compare", "config")["notes"]
    assert any("instances have weights" in note for note in notes)
