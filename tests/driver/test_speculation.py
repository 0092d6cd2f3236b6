"""Runs that are begun before a round asks for them: used if one does, and no decision's reason."""

import random
import threading
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from polarbear.config.configuration import Config
from polarbear.driver import collect
from polarbear.driver.fingerprints import fingerprints
from polarbear.driver.forget import forget, rename
from polarbear.driver.loop import Race
from polarbear.driver.scheduler import SpeculativeRuns
from polarbear.execution.outcome import Outcome, Status, Task
from polarbear.execution.run import Problems, execute
from polarbear.store import StoreOnDisk
from polarbear.store.runs import FinishedRun
from tests.driver.test_loop import Notes, checkpoints, configured, optimisers, run
from tests.faults.races import essence
from tests.support import RANDOM, InRandomOrder, solver


def with_workers(choose_executor: Any, workers: int, seed: int = 1) -> None:
    choose_executor(lambda config: InRandomOrder(config, workers, seed))


def deliberate(monkeypatch: pytest.MonkeyPatch, choose_executor: Any) -> None:
    """Let inference take until workers have nothing more to begin: as much is early as can be."""
    decided = Race._decided
    idle = threading.Event()

    def slowly(self: Race, *arguments: Any) -> Any:
        result = decided(self, *arguments)
        if threading.current_thread() is not threading.main_thread():
            idle.wait(60)  # limited: the pool may have been asked before
        return result

    class Waits(InRandomOrder):
        def run(self, tasks: Iterable[Task | None], over: Any = lambda: False) -> Any:
            def watched_tasks() -> Iterator[Task | None]:
                for task in tasks:
                    if task is None:
                        idle.set()
                    yield task

            idle.clear()
            return super().run(watched_tasks(), over)

    monkeypatch.setattr(Race, "_decided", slowly)
    choose_executor(lambda config: Waits(config, 3, 1))


TRUNCATED = {"A": [1.0, 1.0, 6.0, 40.0, 40.0, 40.0], "B": [1.0] * 6, "C": [0.2] * 6}


def truncated(early: int = 4, workers: int = 1, **limits: Any) -> Config:
    """A race in which one is eliminated soon, and late times are settled before early ones."""
    rules = {
        "limits": {"rounds": 5, **limits},
        "resolution": "strict",
        "alpha": 0.99,
        "guarantee": "none",
    }
    return configured(
        tuple(TRUNCATED), TRUNCATED, rules, execution={"workers": workers, "early": early}
    )


@pytest.fixture(scope="module")
def without(tmp_path_factory: pytest.TempPathFactory) -> StoreOnDisk:
    """A race that began nothing early."""
    return run(truncated(early=0), tmp_path_factory.mktemp("without") / "s")[1]


@pytest.mark.parametrize("workers", [1, 3, 40])
def test_with_early_runs_a_race_is_the_same_to_the_byte(
    tmp_path, choose_executor, without, workers
):
    with_workers(choose_executor, workers)
    _, store, notes = run(truncated(), tmp_path / "s")
    assert checkpoints(store) == checkpoints(without)
    content = essence(store.path)
    content_without = essence(without.path)
    assert content["runs"] == content_without["runs"]
    assert content["trajectories"] == content_without["trajectories"]
    assert len(notes.runs) == len(store.runs())  # each is reported once


def test_with_as_many_early_runs_as_can_be_a_race_is_the_same(
    tmp_path, monkeypatch, choose_executor, without
):
    deliberate(monkeypatch, choose_executor)
    _, store, _ = run(truncated(), tmp_path / "s")
    assert checkpoints(store) == checkpoints(without)
    assert essence(store.path)["runs"] == essence(without.path)["runs"]
    unused_runs = store.speculative.table()
    # C was eliminated while its next runs were being made.
    assert "C" in set(unused_runs["algorithm"])


@pytest.mark.parametrize("seed", range(2))
def test_interrupted_anywhere_a_race_with_early_runs_ends_the_same(
    tmp_path, choose_executor, without, seed
):
    """Interrupted after a random number of runs, early ones included, until it ends."""
    rng = random.Random(seed)

    class Impatient(Notes):
        runs_until_interrupt = 0

        def finished(self, outcome: Outcome) -> None:
            super().finished(outcome)
            self.ran_early(outcome)

        def ran_early(self, outcome: Outcome) -> None:
            self.runs_until_interrupt -= 1
            if self.runs_until_interrupt == 0:
                raise KeyboardInterrupt

    config = truncated()
    executed = []
    interruptions = 0
    with_workers(choose_executor, 3, seed)
    while True:
        store = StoreOnDisk.create(tmp_path / "s", config.stored())
        watcher = Impatient()
        watcher.runs_until_interrupt = rng.randint(5, 60)
        with store.writing():
            try:
                Race(config, store, [watcher]).run()
            except KeyboardInterrupt:
                interruptions += 1
            else:
                executed += watcher.runs
                break
        executed += watcher.runs
    assert interruptions > 1
    assert checkpoints(store) == checkpoints(without)
    assert essence(store.path)["runs"] == essence(without.path)["runs"]
    assert len(executed) == len(set(executed)) == len(store.runs())


def test_early_runs_are_on_no_instance_beyond_a_limit_and_not_in_the_last_round(
    tmp_path, monkeypatch, choose_executor
):
    deliberate(monkeypatch, choose_executor)
    config = truncated(instances=36)
    _, store, _ = run(config, tmp_path / "s")
    allowed = {config.instances.instance(i, config.setting).id for i in range(36)}
    assert set(store.speculative.table()["instance"]) <= allowed
    assert len(store.speculative.table())
    _, store, _ = run(truncated(rounds=1), tmp_path / "last")
    assert len(store.speculative.table()) == 0


@pytest.mark.parametrize(
    ("axis", "limits", "runs_early"),
    [
        ("iterations", {}, True),
        ("seconds", {}, False),
        ("evaluations", {"evaluations": 6000}, False),
        ("evaluations", {"spent": 6000}, False),
    ],
)
def test_nothing_is_begun_early_where_seconds_are_measured_or_spending_is_limited(
    tmp_path, monkeypatch, choose_executor, axis, limits, runs_early
):
    deliberate(monkeypatch, choose_executor)
    early_outcomes: list[Outcome] = []

    class Hears(Notes):
        def ran_early(self, outcome: Outcome) -> None:
            early_outcomes.append(outcome)

    config = truncated(rounds=2, **limits)
    grid = {"axis": axis, "grid": [10, 20, 30, 40, 50, 60]}
    config = replace(config, budget=type(config.budget).model_validate(grid))
    store = StoreOnDisk.create(tmp_path / "s", config.stored())
    with store.writing():
        Race(config, store, [Hears()]).run()
    assert bool(early_outcomes) is runs_early


@pytest.mark.parametrize("name", ["coordinate_descent", "stops", "crashes", "fails_at_once"])
@pytest.mark.parametrize("budget", [5, 20, 21, 59])
def test_a_run_that_is_cut_is_the_run_up_to_there(name, budget):
    config = optimisers(solver(name), RANDOM)
    problems = Problems(config.instances, config.setting)
    for index in range(3):
        instance = config.instances.instance(index, config.setting)
        full_outcome = execute(Task(config.algorithms[0], instance, 3, 60), problems)
        task = Task(config.algorithms[0], instance, 3, budget)
        expected = execute(task, problems)
        cut = FinishedRun.of(full_outcome, 1).up_to(task)
        assert cut is not None
        np.testing.assert_array_equal(cut.times, expected.times)
        np.testing.assert_array_equal(cut.values, expected.values)
        for field in ("status", "message", "evaluations", "reached"):
            assert getattr(cut, field) == getattr(expected, field)


def test_a_run_that_was_killed_before_it_was_seen_at_a_time_does_not_stand_for_one_up_to_there():
    config = optimisers(solver("coordinate_descent"), RANDOM)
    task = Task(config.algorithms[0], config.instances.instance(0, config.setting), 3, 60)
    none = np.empty(0)
    for status in (Status.TIMEOUT, Status.MEMORY, Status.KILLED):
        outcome = Outcome(task, status, "killed", none, none, 10, 10.0, 1.0, 0, 1.7e9)
        killed = FinishedRun.of(outcome, 1)
        assert killed.up_to(replace(task, budget=20)) is None
        assert killed.up_to(task).status is status
        # it had been there before
        assert killed.up_to(replace(task, budget=5)).status is Status.BUDGET


def early_store(folder: Path) -> tuple[Config, StoreOnDisk, list[Outcome]]:
    config = optimisers(solver("coordinate_descent"), RANDOM)
    store = StoreOnDisk.create(folder, config.stored())
    problems = Problems(config.instances, config.setting)
    instance = config.instances.instance(0, config.setting)
    tasks = collect.RunPlan(config, store).missing({}, [instance])
    return config, store, [execute(task, problems) for task in tasks]


def test_runs_that_a_killed_race_left_both_early_and_used_are_used_once(tmp_path):
    config, store, outcomes = early_store(tmp_path / "s")
    with store.writing():
        store.speculative.replace([FinishedRun.of(outcome, 1) for outcome in outcomes])
        store.add_runs([FinishedRun.of(outcomes[0], 1)])
        early = SpeculativeRuns(config, store, fingerprints(config))
        assert [early.has(outcome.task) for outcome in outcomes] == [False, True]
        early.write()
    assert store.speculative.table()["algorithm"].to_list() == ["random"]


def test_early_runs_follow_a_new_name_and_are_forgotten_with_their_algorithm(tmp_path):
    _, store, outcomes = early_store(tmp_path / "s")
    with store.writing():
        store.speculative.replace([FinishedRun.of(outcome, 1) for outcome in outcomes])
        rename(store, "random", "chance")
        assert store.speculative.table()["algorithm"].to_list() == ["chance", "coordinate_descent"]
        forget(store, "chance")
    assert store.speculative.table()["algorithm"].to_list() == ["coordinate_descent"]


def test_a_changed_algorithm_does_not_use_what_was_run_early_before(tmp_path):
    config, store, outcomes = early_store(tmp_path / "s")
    early = SpeculativeRuns(config, store, fingerprints(config))
    for outcome in outcomes:
        early.add(FinishedRun.of(outcome, 1))
    task = outcomes[0].task
    assert early.has(task)
    assert not early.has(replace(task, fingerprint="another"))
    assert not early.has(replace(task, seed=task.seed + 1))
    assert not early.has(replace(task, budget=task.budget + 1))


class ChangingPool(InRandomOrder):
    """A pool whose number of workers changes during a race, as that of a cluster does."""

    @property
    def size(self) -> int:
        return 1 + len(self._tasks) % 3


def test_a_race_decides_by_the_run_that_it_stores_whatever_the_number_of_workers_then(
    tmp_path, choose_executor
):
    choose_executor(lambda config: ChangingPool(config, 1, seed=1))
    config = truncated(rounds=2)
    store = StoreOnDisk.create(tmp_path / "s", config.stored())
    race = Race(config, store)
    with store.writing():
        race.run()
    assert race._runs.stored == collect.stored_runs(store)
