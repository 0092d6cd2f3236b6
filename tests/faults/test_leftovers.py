"""What an algorithm leaves behind in its process is not there for another one."""

import pickle
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from polarbear.config.configuration import Config
from polarbear.driver.collect import pool_of
from polarbear.execution.executor_choice import use_executor
from polarbear.execution.outcome import Executor, Outcome, Task
from polarbear.execution.pool import Pool
from tests.execution.test_pool import GENEROUS, configured
from tests.faults.leftovers import LEFTOVERS
from tests.sharing import filled_once
from tests.support import RANDOM

FILE = Path(__file__).parent / "leftovers.py"
VICTIMS = ("notices", "random", "scipy", "cma")
SOME = ("error_state", "umask", "forked_child", "recorder")  # the quick test tries these
PLAIN = [
    RANDOM,
    {"name": "scipy", "use": "scipy", "method": "nelder-mead"},
    {"name": "cma", "use": "cma"},
]
BUDGET = 20
NOTHING = "nothing"
Trajectory = tuple[bytes, bytes]


def config_of(**changes: Any) -> Config:
    entries = [
        {"name": name, "use": "python", "function": f"{FILE}:{name}"}
        for name in ("notices", *LEFTOVERS)
    ]
    return configured(*entries, *PLAIN, **changes)


def task(config: Config, name: str, leftover: str = "") -> Task:
    """A run of an algorithm; with a leftover, of the same algorithm under another name."""
    (algorithm,) = (each for each in config.algorithms if each.name == name)
    if leftover:
        algorithm = algorithm.model_copy(update={"name": f"{name} after {leftover}"})
    return Task(algorithm, config.instances.instance(0, config.setting), 1, BUDGET)


def in_turns(executor: Executor, tasks: list[Task]) -> Iterator[Outcome]:
    """Outcomes of tasks, each of which begins when the one before has ended."""
    for each in tasks:
        yield from executor.run([each])


def trajectory(outcome: Outcome) -> Trajectory:
    assert not outcome.status.failed, outcome.message
    return outcome.times.tobytes(), outcome.values.tobytes()


def trajectories(
    executor: Executor,
    config: Config,
    names: tuple[str, ...],
    together: bool = False,
    victims: tuple[str, ...] = VICTIMS,
) -> dict[str, Trajectory]:
    """The trajectory of each victim after each leftover, every third time after a pair of them.

    If ``together``, tasks run side by side.
    """
    tasks = [task(config, victim, NOTHING) for victim in victims]
    for number, (before, name) in enumerate(pairwise(["", *names])):
        if before and number % 3 == 0:
            tasks.append(task(config, before))
        tasks.append(task(config, name))
        tasks += [task(config, victim, name) for victim in victims]
    outcomes = executor.run(tasks) if together else in_turns(executor, tasks)
    return {
        outcome.task.algorithm.name: trajectory(outcome)
        for outcome in outcomes
        if " after " in outcome.task.algorithm.name
    }


@pytest.fixture(scope="module", params=["one worker", "two workers", "Dask"])
def after_leftovers(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Trajectory]:
    """The trajectory of each victim after each leftover, with one kind of executor."""

    def fill(folder: Path) -> None:
        (folder / "trajectories").write_bytes(pickle.dumps(all_trajectories(request.param)))

    folder = filled_once(tmp_path_factory, f"leftovers {request.param}", fill)
    return dict(pickle.loads((folder / "trajectories").read_bytes()))


def all_trajectories(kind: str) -> dict[str, Trajectory]:
    """The trajectory of each victim after each leftover, with this kind of executor."""
    names = tuple(LEFTOVERS)
    if kind == "Dask":
        config = config_of(execution={"engine": "dask", "workers": 1})
        with use_executor(None), pool_of(config) as executor:
            return trajectories(executor, config, names)
    config = config_of()
    is_alone = kind == "one worker"
    with Pool(config.instances, config.setting, 1 if is_alone else 2, GENEROUS) as pool:
        return trajectories(pool, config, names, together=not is_alone)


@pytest.mark.slow
@pytest.mark.parametrize("name", LEFTOVERS)
def test_another_algorithm_is_the_same_after(name, after_leftovers):
    for victim in VICTIMS:
        trajectory_alone = after_leftovers[f"{victim} after {NOTHING}"]
        assert after_leftovers[f"{victim} after {name}"] == trajectory_alone, victim


def test_another_algorithm_is_the_same_after_some_leftovers():
    config = config_of()
    with Pool(config.instances, config.setting, 1, GENEROUS) as pool:
        after = trajectories(pool, config, SOME, victims=("notices", "random"))
    for name in SOME:
        for victim in ("notices", "random"):
            assert after[f"{victim} after {name}"] == after[f"{victim} after {NOTHING}"], name
