"""The progress of a race that is under way."""

import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from polarbear.driver import collect
from polarbear.driver.race_progress import ProgressCounter, RoundStart
from polarbear.execution.host import Where
from polarbear.execution.outcome import Outcome, Status, Task
from polarbear.racing import RaceForecast
from polarbear.store import StoreOnDisk
from tests.driver.test_loop import configured

NO_LIMITS = configured(("good", "bad")).stored()


@pytest.fixture
def tasks(tmp_path: Path) -> list[Task]:
    config = configured(("good", "bad"))
    store = StoreOnDisk.create(tmp_path / "s", config.stored())
    instances = [config.instances.instance(i, config.setting) for i in range(3)]
    return collect.RunPlan(config, store).missing({}, instances)


def outcome(task: Task, worker: str = "1", **changes: Any) -> Outcome:
    no_points = np.empty(0)
    unchanged = Outcome(
        *(task, Status.BUDGET, "", no_points, no_points, 60, 60.0, 2.0, 0, time.time()),
        Where("here", worker=worker),
    )
    return replace(unchanged, **changes)


def begin(account: ProgressCounter, number: int, tasks: list[Task]) -> None:
    state = cast(Any, SimpleNamespace(round=number - 1))
    account.begins(RoundStart(state, {}, 3, tasks, workers=1))


def end(account: ProgressCounter, forecast: RaceForecast) -> None:
    account.ends(cast(Any, SimpleNamespace(drawn=3, forecast=forecast)))


def test_a_run_that_was_begun_early_is_counted_once_and_by_its_worker(tasks):
    account = ProgressCounter(NO_LIMITS)
    early = outcome(tasks[4])
    account.ran_early(early)
    assert (account.now().early, account.now().workers[0].runs) == (1, 1)
    begin(account, 2, tasks[4:])
    account.finished(early)
    now = account.now()
    assert (now.early, now.done, now.workers[0].runs) == (0, 1, 1)


def test_a_run_of_an_earlier_command_counts_for_no_worker(tasks):
    account = ProgressCounter(NO_LIMITS)
    begin(account, 2, tasks)
    account.finished(outcome(tasks[0], started=time.time() - 3600))
    now = account.now()
    assert (now.done, now.workers) == (1, [])


def test_what_is_left_follows_the_forecast_at_the_pace_of_the_last_round(tasks, monkeypatch):
    clock = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])
    account = ProgressCounter(NO_LIMITS)
    begin(account, 1, tasks)
    clock[0] += 12.0
    end(account, RaceForecast(10, 20, None, 120.0))
    assert (account.now().to_go_at_least, account.now().to_go_at_most) == (40.0, None)
    begin(account, 2, tasks)
    clock[0] += 6.0
    end(account, RaceForecast(10, 20, 50, 120.0))
    assert (account.now().to_go_at_least, account.now().to_go_at_most) == (20.0, 100.0)
