"""Storages that Optuna itself wrote."""

import json
import sqlite3
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import polarbear as pb
from polarbear.errors import ConfigError, ImportFailedError
from polarbear.formats.optuna import Optuna
from polarbear.store import StoreOnDisk

pytestmark = pytest.mark.peer


@pytest.fixture(autouse=True)
def _quiet_optuna() -> None:
    import optuna

    optuna.logging.disable_default_handler()


def storage_of(path: Path) -> Any:
    import optuna

    if path.suffix == ".db":
        return optuna.storages.RDBStorage(f"sqlite:///{path}")
    journal = optuna.storages.journal
    return optuna.storages.JournalStorage(journal.JournalFileBackend(str(path)))


def study(path: Path, name: str, values: list[float | None], **options: Any) -> Any:
    """A study whose trials have these values; None fails."""
    import optuna

    study_of_optuna = optuna.create_study(storage=storage_of(path), study_name=name, **options)
    for value in values:
        trial = study_of_optuna.ask()
        if value is None:
            study_of_optuna.tell(trial, state=optuna.trial.TrialState.FAIL)
        else:
            study_of_optuna.tell(trial, value)
    return study_of_optuna


@pytest.mark.parametrize("name", ["studies.db", "studies.log"])
def test_the_best_value_of_each_study_over_its_trials(name: str, tmp_path: Path):
    path = tmp_path / name
    study(path, "TPE/branin/0", [3.0, 5.0, None, 1.0, None])
    study(path, "TPE/branin/1", [2.0])
    study(path, "random/branin/0", [4.0, 2.5])
    study(path, "empty", [None])
    rejected = pb.import_data(path, tmp_path / "s", "optuna").result.rejected
    assert [(c.rows, c.first) for c in rejected] == [(1, "study 'empty'")]
    store = StoreOnDisk.open(tmp_path / "s")
    assert store.settings.budget.axis == "trials"
    imported = {
        (run.algorithm, run.instance): (t.tolist(), y.tolist(), run.reached)
        for run, t, y in store.trajectories()
    }
    assert imported == {
        ("TPE", "branin#1"): ([1, 4], [3, 1], 5),  # the last trial failed, and was one
        ("TPE", "branin#2"): ([1], [2], 1),
        ("random", "branin#1"): ([1, 2], [4, 2.5], 2),
    }


@pytest.mark.parametrize("name", ["studies.db", "studies.log"])
def test_seconds_are_those_that_optuna_counted(name: str, tmp_path: Path):
    path = tmp_path / name
    written = study(path, "TPE", [3.0, 1.0])
    (run,) = Optuna(by="seconds").read(path).outcomes
    trials = written.trials
    spent = [
        (trial.datetime_complete - trials[0].datetime_start).total_seconds() for trial in trials
    ]
    assert np.allclose(run.times, spent, rtol=0, atol=2e-6)
    assert run.task.instance.id == "studies#1"


def test_studies_to_be_maximised_are_known_as_such(tmp_path: Path):
    import optuna

    study(tmp_path / "a.db", "A", [1.0, 2.0], direction="maximize")
    pb.import_data(tmp_path / "a.db", tmp_path / "s", "optuna")
    store = pb.open(tmp_path / "s")
    assert store.config["instances"]["maximise"]
    assert store.trajectories()["y"].to_list() == [1, 2]
    study(tmp_path / "a.db", "B", [1.0])
    with pytest.raises(ImportFailedError, match="mixes studies"):
        Optuna().read(tmp_path / "a.db")
    storage = storage_of(tmp_path / "b.db")
    optuna.create_study(storage=storage, study_name="two", directions=["minimize"] * 2)
    with pytest.raises(ImportFailedError, match="the study 'two' in .* has 2 objectives"):
        Optuna().read(tmp_path / "b.db")


# Values with two constraints each: the second and the third trial violate one of them.
CONSTRAINED_TRIALS = ((9.0, -1, 0), (1.0, 0.5, 0), (2.0, 0, 1e-9), (7.0, 0, 0))


def constrained_by_key(path: Path) -> Any:
    """Constraints that the objective sets."""
    import optuna

    study_of_optuna = optuna.create_study(storage=storage_of(path), study_name="A")
    for value, *constraints in CONSTRAINED_TRIALS:
        trial = study_of_optuna.ask()
        for number, constraint in enumerate(constraints):
            trial.set_constraint(f"c{number}", constraint)
        study_of_optuna.tell(trial, value)
    return study_of_optuna


def constrained_by_sampler(path: Path) -> Any:
    """Constraints that a function of the sampler computes."""
    import optuna

    sampler = optuna.samplers.TPESampler(
        constraints_func=lambda trial: trial.user_attrs["c"], seed=1
    )
    study_of_optuna = optuna.create_study(storage=storage_of(path), study_name="A", sampler=sampler)
    for value, *constraints in CONSTRAINED_TRIALS:
        trial = study_of_optuna.ask()
        trial.set_user_attr("c", constraints)
        study_of_optuna.tell(trial, value)
    return study_of_optuna


@pytest.mark.parametrize("name", ["studies.db", "studies.log"])
@pytest.mark.parametrize("constrained", [constrained_by_key, constrained_by_sampler])
@pytest.mark.filterwarnings("ignore::UserWarning")  # Optuna calls constraints experimental
def test_infeasible_trials_take_time_and_come_after_feasible_ones(
    constrained, name: str, tmp_path: Path
):
    optimum = constrained(tmp_path / name).best_value
    imported = Optuna().read(tmp_path / name)
    (run,) = imported.outcomes
    assert run.values[-1] == optimum == 7.0
    assert (run.times.tolist(), run.values.tolist()) == ([1, 4], [9, 7])
    assert run.violations is None
    assert any("2 infeasible trials come after all feasible" in note for note in imported.notes)
    (run,) = Optuna(feasibility_tolerance=1e-6).read(tmp_path / name).outcomes
    assert (run.times.tolist(), run.values.tolist()) == ([1, 3], [9, 2])


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("sampler", ["TPESampler", "RandomSampler"])
def test_the_best_feasible_value_is_that_of_optunas_best_trial(sampler: str, tmp_path: Path):
    import optuna

    path = tmp_path / "studies.log"
    best = {}
    for seed in range(24):
        written = optuna.create_study(
            storage=storage_of(path),
            study_name=f"{sampler}/problem/{seed}",
            sampler=getattr(optuna.samplers, sampler)(seed=seed),
            direction="maximize",
        )

        def objective(trial: Any) -> float:
            x = trial.suggest_float("x", -5, 5)
            y = trial.suggest_float("y", -5, 5)
            trial.set_constraint("sum", x + y - 1)
            trial.set_constraint("product", 2 - x * y)
            return x - y * y

        written.optimize(objective, n_trials=15)
        best[f"problem#{seed + 1}"] = written.best_trial.value
    runs = Optuna().read(path).outcomes
    assert {run.task.instance.id: -run.improvements.feasible().values[-1] for run in runs} == best
    assert any(run.violations is not None for run in runs)


@pytest.mark.parametrize("name", ["studies.db", "studies.log"])
def test_trials_that_were_added_to_a_study_count(name: str, tmp_path: Path):
    import optuna

    written = optuna.create_study(storage=storage_of(tmp_path / name), study_name="A")
    attributes = {"constraints": [1.0]}
    written.add_trial(optuna.trial.create_trial(value=3.0))
    written.add_trial(optuna.trial.create_trial(value=1.0, system_attrs=attributes))
    written.add_trial(optuna.trial.create_trial(value=2.0))
    (run,) = Optuna().read(tmp_path / name).outcomes
    assert run.values.tolist() == [3, 2]


def test_names_are_split_as_the_layout_says(tmp_path: Path):
    source = tmp_path / "storage.db"
    assert Optuna().split("TPE", source) == ("TPE", "storage")
    assert Optuna().split("TPE/a/b/c", source) == ("TPE", "a")
    assert Optuna(layout="instance/algorithm").split("a/TPE/x", source) == ("TPE/x", "a")
    assert Optuna(layout="algorithm/seed").split("TPE/3", source) == ("TPE", "storage")
    with pytest.raises(ConfigError, match="expected some of algorithm, instance, seed"):
        pb.import_data(source, tmp_path / "s", "optuna", layout="study")


@pytest.mark.parametrize(
    "line",
    [
        "[]",
        '{"op_code": 0}',
        '{"op_code": 0, "study_name": "a", "directions": 1}',
        '{"op_code": 6, "trial_id": 3, "state": 1, "values": [1]}',
        '{"op_code": 0, "study_name": "a", "directions": [1]}\n'
        '{"op_code": 4, "study_id": 0, "datetime_start": 7}',
        '{"op_code": 0, "study_name": "a", "directions": []}',
        "",
        pytest.param("[" * 100_000, id="nested"),
    ],
)
def test_a_damaged_journal_is_refused_in_a_line(line: str, tmp_path: Path):
    (tmp_path / "a.log").write_text(line)
    with pytest.raises(ImportFailedError, match=r"a\.log") as error:
        Optuna().read(tmp_path / "a.log")
    assert "\n" not in str(error.value)


def test_a_database_of_something_else_is_refused(tmp_path: Path):
    with sqlite3.connect(tmp_path / "a.db") as database:
        database.execute("create table studies (name text)")
    with pytest.raises(ImportFailedError, match="is not a storage of Optuna: no such column"):
        Optuna().read(tmp_path / "a.db")
    assert json.dumps([path.name for path in tmp_path.iterdir()]) == '["a.db"]'
