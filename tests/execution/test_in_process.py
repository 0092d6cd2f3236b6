"""Runs in the calling process: the same as in worker processes, where somebody asks for them."""

import os
import sys
from pathlib import Path
from typing import Any

import pytest

import polarbear as pb
from polarbear.execution.executor_choice import chosen_executor
from polarbear.execution.outcome import Outcome, RunLimits
from polarbear.execution.pool import Pool
from tests.execution.test_pool import GOOD, configured, tasks
from tests.support import RANDOM, solver

LIMITS = RunLimits(seconds=3600.0, memory=4 * 2**30)


def by_name(outcomes: Any) -> dict[tuple[str, str], Outcome]:
    return {
        (outcome.task.algorithm.name, outcome.task.instance.id): outcome for outcome in outcomes
    }


def test_runs_in_the_calling_process_are_those_of_worker_processes():
    config = configured(GOOD, RANDOM, solver("crashes"), solver("uses_global_generator"))
    with Pool(config.instances, config.setting, 2, LIMITS) as pool:
        in_workers = by_name(pool.run(tasks(config, instances=2)))
    with pb.InProcess(config) as executor:
        in_process = by_name(executor.run(tasks(config, instances=2)))
    assert in_process.keys() == in_workers.keys()
    for key, outcome in in_process.items():
        assert outcome.status is in_workers[key].status
        assert outcome.times.tobytes() == in_workers[key].times.tobytes()
        assert outcome.values.tobytes() == in_workers[key].values.tobytes()


def test_an_executor_is_chosen_for_the_calls_of_a_context(tmp_path: Path):
    (tmp_path / "mine.py").write_text(
        "import os\n"
        "def records_its_process(problem, seed, file):\n"
        "    from point_of_a_test import point\n"
        "    problem(point(problem))\n"
        "    open(file, 'a').write(f'{os.getpid()}\\n')\n"
    )
    (tmp_path / "point_of_a_test.py").write_text("def point(problem):\n    return problem.lower\n")
    file = tmp_path / "processes"
    config = tmp_path / "config.yaml"
    config.write_text(
        "algorithms:\n"
        "  - {name: mine, use: python, function: 'mine.py:records_its_process',"
        f" options: {{file: {file}}}}}\n"
        "instances: {suite: classic, count: 1, dimensions: {from: 2, to: 3}}\n"
        "budget: {grid: [10]}\n"
        "execution: {workers: 1, check: false}\n"
    )
    before = list(sys.path)
    with pb.use_executor(pb.InProcess):
        pb.run(config, tmp_path / "here")
    assert sys.path == before
    with pb.use_executor(pb.InProcess), pb.use_executor(None):
        pb.run(config, tmp_path / "elsewhere")
    first_process, second_process = map(int, file.read_text().split())
    assert first_process == os.getpid()
    assert second_process != os.getpid()


def test_a_choice_ends_with_its_context():
    config = configured(GOOD)
    with pb.use_executor(None):
        assert chosen_executor(config) is None
        with pytest.raises(LookupError), pb.use_executor(pb.InProcess):
            assert isinstance(chosen_executor(config), pb.InProcess)
            raise LookupError
        assert chosen_executor(config) is None


def test_an_executor_without_tasks_asks_again_and_can_be_woken():
    config = configured(GOOD)
    requests = []

    def none_then_end() -> Any:
        while len(requests) < 3:
            requests.append(None)
            executor.wake()
            yield None

    with pb.InProcess(config) as executor:
        assert list(executor.run(none_then_end())) == []
    assert len(requests) == 3
