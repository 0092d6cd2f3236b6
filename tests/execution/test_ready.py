"""Short runs lie ready at a worker; none is lost there, none is held up, none is told of twice."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from polarbear.execution import pool as pool_module
from polarbear.execution.outcome import Outcome, Task
from polarbear.execution.pool import Pool
from polarbear.execution.process import Worker
from polarbear.execution.ready import LYING, MOST_LYING, Pace, Parcel, Parcels
from polarbear.execution.status import Status
from tests.execution.test_pool import GENEROUS, GOOD, configured, past_the_limit_once, tasks
from tests.support import solver

MUCH = 2**20  # bytes


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every run is taken for one that takes no time."""
    monkeypatch.setattr(Pace, "of", lambda self, task: 0.0)


def ended(outcomes: list[Outcome]) -> list[tuple[str, Status]]:
    return [(outcome.task.algorithm.name, outcome.status) for outcome in outcomes]


def test_a_worker_that_dies_costs_the_run_it_was_at_and_none_that_lay_there(tmp_path, short):
    config = configured(solver("waits", until=str(tmp_path / "go")), GOOD)
    waiting, *rest = tasks(config, 3)
    quick = [task for task in rest if task.algorithm.name == GOOD["name"]]
    with Pool(config.instances, config.setting, 1, GENEROUS) as pool:

        def then_kill() -> Iterator[Task]:
            yield from [waiting, *quick]
            (worker,) = pool._workers
            assert len(worker.given) == 1 + len(quick)
            os.kill(worker.process.pid, signal.SIGKILL)

        outcomes = list(pool.run(then_kill()))
    (first, *others) = ended(outcomes)
    assert first == ("waits", Status.LOST)
    assert others == [(GOOD["name"], Status.BUDGET)] * len(quick)


def test_what_lies_behind_a_run_that_takes_long_is_given_to_another_and_told_of_once(
    tmp_path: Path, short: None
):
    go = tmp_path / "go"
    config = configured(solver("waits", until=str(go)), GOOD)
    told = []
    with Pool(config.instances, config.setting, 2, GENEROUS) as pool:
        for outcome in pool.run(tasks(config)):
            told.append(outcome)
            go.touch()  # not before the second run has come from the other worker
        assert list(pool.run([])) == []
    assert ended(told) == [(GOOD["name"], Status.BUDGET), ("waits", Status.ENDED)]
    assert told[0].where.worker != told[1].where.worker


def test_a_run_that_ended_just_before_it_was_killed_at_its_limit_is_the_run_that_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    go = tmp_path / "go"
    config = configured(solver("waits", until=str(go)))

    def ends(worker) -> bool:
        go.touch()
        return worker.connection.poll(None)

    past_the_limit_once(monkeypatch, ends)
    with Pool(config.instances, config.setting, 1, GENEROUS) as pool:
        (outcome,) = pool.run(tasks(config))
    assert outcome.status is Status.ENDED


def test_only_short_runs_have_others_lie_behind_them():
    config = configured(GOOD, solver("coordinate_descent", "long"))
    brief, long = tasks(config)
    pace = Pace()
    assert pace.of(brief) == LYING  # nobody knows
    pace.note(brief, LYING / 8)
    pace.note(long, 100 * LYING)
    assert pace.of(brief) == LYING / 8
    another = Parcel.of(long, pace)

    def room(*given: Task) -> bool:
        return Parcels(Parcel.of(task, pace) for task in given).have_room(another, MUCH)

    assert room(*[brief] * 7)
    assert not room(*[brief] * 8)
    assert not room(long)


def test_a_run_lies_where_there_is_least_to_do_before_it():
    config = configured(GOOD, solver("coordinate_descent", "long"))
    brief, long = tasks(config)
    with Pool(config.instances, config.setting, 2, GENEROUS) as pool:
        pool._pace.note(brief, LYING / 20)
        pool._pace.note(long, LYING / 2)
        pool._give_out(iter([long, long]), True)
        first, second = pool._workers
        first.ready = second.ready = True
        first.given.append(Parcel.of(long, pool._pace))
        second.given.extend(Parcel.of(brief, pool._pace) for _ in range(3))
        assert pool._taker(Parcel.of(brief, pool._pace)) is second


def test_no_more_lies_ready_than_a_connection_takes_while_nobody_reads():
    config = configured(GOOD)
    (task,) = tasks(config)
    pace = Pace()
    pace.note(task, 0.0)
    one = Parcel.of(task, pace)
    size = len(one.message)
    assert Parcels([one, one]).have_room(one, 2 * size)
    assert not Parcels([one, one, one]).have_room(one, 2 * size)
    assert not Parcels([one] * (MOST_LYING + 1)).have_room(one, MUCH)


def test_what_brief_runs_came_to_is_fetched_together_and_each_told_of_once(
    short: None, monkeypatch: pytest.MonkeyPatch
):
    config = configured(GOOD)
    todo = tasks(config, 12)
    fetched: list[int] = []
    received = Worker.received

    def counted(worker: Worker) -> list[Outcome]:
        told = received(worker)
        fetched.append(len(told))
        return told

    monkeypatch.setattr(Worker, "received", counted)
    monkeypatch.setattr(pool_module, "UNHURRIED", 1.0)
    with Pool(config.instances, config.setting, 1, GENEROUS) as pool:
        told = [outcome.task.instance.id for outcome in pool.run(todo)]
    assert told == [task.instance.id for task in todo]
    assert max(fetched) > 1
