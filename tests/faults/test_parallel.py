"""Algorithms may use processes, on this machine and on a cluster."""

from pathlib import Path

import pytest

from polarbear.driver.collect import pool_of
from polarbear.execution.executor_choice import use_executor
from polarbear.execution.outcome import Outcome, Status
from tests.execution.test_pool import configured, tasks

FILE = Path(__file__).parent / "parallel.py"
METHODS = (
    "fork_pool",
    "spawn_pool",
    "forkserver_pool",
    "executor",
    "joblib_processes",
    "pool_that_is_left_open",
    "pool_of_the_problem",
)
Outcomes = dict[str, Outcome]


@pytest.fixture(scope="module", params=["local", "dask"])
def outcomes(request: pytest.FixtureRequest) -> Outcomes:
    """The outcome of each algorithm by one engine."""
    entries = [{"name": name, "use": "python", "function": f"{FILE}:{name}"} for name in METHODS]
    execution = {"engine": request.param, "workers": 2}
    config = configured(*entries, budget={"grid": [10]}, execution=execution)
    with use_executor(None), pool_of(config) as pool:
        return {o.task.algorithm.name: o for o in pool.run(tasks(config, budget=10))}


@pytest.mark.slow
@pytest.mark.parametrize("name", METHODS)
def test_processes_of_a_run_work(name: str, outcomes: Outcomes):
    outcome = outcomes[name]
    assert outcome.status is Status.ENDED, outcome.message
    assert len(outcome.values) >= 1
    assert outcome.evaluations == (1 if name == "pool_of_the_problem" else 4)
