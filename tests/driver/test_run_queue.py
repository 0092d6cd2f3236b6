"""Which of the waiting runs a worker starts next."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from polarbear.config.configuration import Config, parse
from polarbear.driver.collect import RUNS_IN_A_ROW
from polarbear.driver.run_queue import RunQueue
from polarbear.execution.in_process import InProcess
from polarbear.execution.outcome import Outcome, Task
from polarbear.execution.pool import Pool
from polarbear.settings.options import Source
from tests.execution.test_pool import GENEROUS, tasks
from tests.execution.test_run_process import COUNTER, entry

N_INSTANCES = RUNS_IN_A_ROW + 8


@pytest.fixture
def counting(tmp_path: Path) -> Config:
    """A configuration of algorithms whose value is the number of runs of their process, negated."""
    return counting_on(tmp_path, {"grid": [100]})


def counting_on(folder: Path, budget: dict[str, object]) -> Config:
    (folder / "counter.py").write_text(COUNTER)
    entries = [{**entry(folder / "counter.py", "counts"), "name": name} for name in "ABCD"]
    data = {"algorithms": entries, "instances": {"suite": "classic"}, "budget": budget}
    return parse(data, Source("test"))


def taken(queue: RunQueue, pool: Pool) -> Iterator[Task]:
    while queue:
        yield queue.take(pool)


def queue_of(all_tasks: list[Task]) -> RunQueue:
    queue = RunQueue()
    for task in all_tasks:
        queue.add(task)
    return queue


def executed(config: Config, all_tasks: list[Task], workers: int) -> list[Outcome]:
    with Pool(config.instances, config.setting, workers, GENEROUS) as pool:
        return list(pool.run(taken(queue_of(all_tasks), pool)))


def n_processes(outcomes: list[Outcome]) -> int:
    """The number of processes in which counting algorithms were executed."""
    return sum(float(outcome.values[-1]) == -1 for outcome in outcomes)


def test_a_worker_starts_few_processes_and_lets_no_algorithm_get_far_ahead(counting: Config):
    all_tasks = tasks(counting, N_INSTANCES)
    outcomes = executed(counting, all_tasks, workers=1)
    assert len(outcomes) == len(all_tasks)
    # Each of four algorithms has one; the last two are then kept for their other runs.
    assert n_processes(outcomes) == 4 + 2
    n_finished: Counter[str] = Counter()
    for outcome in outcomes:
        n_finished[outcome.task.algorithm.name] += 1
        behind = min(n_finished[name] for name in "ABCD")
        assert max(n_finished.values()) - behind <= RUNS_IN_A_ROW


def test_each_worker_serves_some_of_the_algorithms(counting: Config):
    outcomes = executed(counting, tasks(counting, RUNS_IN_A_ROW), workers=2)
    # The last ones may be executed by both.
    assert n_processes(outcomes) <= 4 + 2


def test_algorithms_take_turns_where_seconds_are_measured(tmp_path: Path):
    config = counting_on(tmp_path, {"axis": "seconds", "grid": [1]})
    outcomes = executed(config, tasks(config, 3), workers=1)
    names = [outcome.task.algorithm.name for outcome in outcomes]
    assert names == list("ABCD") * 3


def test_an_executor_without_a_preference_takes_runs_in_order(counting: Config):
    all_tasks = tasks(counting, 2)
    queue = queue_of(all_tasks)
    assert [queue.take(InProcess(counting)) for _ in all_tasks] == all_tasks
    assert not queue
