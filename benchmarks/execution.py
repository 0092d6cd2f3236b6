"""The costs of recording, of processes and of isolation, and the gain of a second worker.

    python benchmarks/execution.py

Recording: the paper's CMA-ES with CSA on MA-BBOB's ingredients (a BBOB function in 30 dimensions,
60,000 evaluations), with the recorder and its journal against the bare ioh function, in turns.
Workers: MA-BBOB runs of 20,000 evaluations with one worker and with two, each after its processes
have started. Processes: the seconds until a worker, which is a new interpreter, receives its first
run, and those by which a run takes longer if it gets a process forked from the worker.
Isolation: runs of a millisecond by six algorithms of a user, which share no process, and by six of
PolarBear's, which do, against the same runs by two bare processes that receive one task after the
other and send its outcome. All are measured in turns, so that the ratios depend little on the
machine and on what else it does. It exits with 1 when a target is missed.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from pathlib import Path
from statistics import median
from time import perf_counter, process_time
from typing import Any

# A worker has one thread, too.
os.environ["OPENBLAS_NUM_THREADS"] = "1"
os.environ["OMP_NUM_THREADS"] = "1"

from targets import Row, report

from polarbear.algorithms.base import Trial
from polarbear.config.configuration import Config, parse
from polarbear.driver.run_queue import RunQueue
from polarbear.errors import BudgetExhausted
from polarbear.execution.journal import Journal
from polarbear.execution.outcome import RunLimits, Task
from polarbear.execution.pool import Pool
from polarbear.execution.recorder import Recorder
from polarbear.execution.run import Problems, execute
from polarbear.numerics.seeds import run_seed
from polarbear.problems import Instance, Problem, Setting
from polarbear.settings.enumerations import Isolation
from polarbear.settings.options import Source

DIMENSION = 30
EVALUATIONS = 60_000
TURNS = 11
POOL_EVALUATIONS = 20_000
POOL_RUNS = 24
STARTS = 7
FORKED_RUNS = 60
USERS_ALGORITHM = "def solve(problem, seed):\n    problem(problem.lower)\n"
BRIEF_ALGORITHM = """
from time import perf_counter


def solve(problem, seed):
    end = perf_counter() + 0.001
    while perf_counter() < end:
        problem(problem.lower)
"""
N_ALGORITHMS = 6
BRIEF_RUNS = 100  # of each algorithm
BRIEF_EVALUATIONS = 60
BRIEF_TURNS = 5
WORKERS = 2
LIMITS = RunLimits(3600, 8e9)


def configured(suite: dict[str, Any], evaluations: int, step_size: str = "CSA") -> Config:
    data = {
        "algorithms": [{"name": step_size, "use": "modcma", "step_size": step_size}],
        "instances": suite,
        "budget": {"grid": [evaluations]},
    }
    return parse(data, Source("benchmark"))


def bare(problem: Problem) -> Any:
    """The objective with nothing but the exact stop, without which there is no run to compare."""
    count = 0

    def evaluate(x: Any) -> float:
        nonlocal count
        if count >= EVALUATIONS:
            raise BudgetExhausted
        count += 1
        return problem.evaluate(x)

    return evaluate


def seconds(config: Config, setting: Setting, problem: Problem, evaluate: Any) -> float:
    """Processor time of one run, which other work on the machine disturbs less than wall time."""
    trial = Trial(
        evaluate,
        lambda t, y: None,
        Instance(0, "x", {}),
        seed=7,
        axis="evaluations",
        budget=EVALUATIONS,
        problem=problem,
        lower=problem.lower,
        upper=problem.upper,
    )
    start = process_time()
    with suppress(BudgetExhausted):
        config.algorithms[0].run(trial, setting)
    return process_time() - start


def measure_recording() -> tuple[float, int]:
    """Time with the recorder over time without it, and the improvements it recorded."""
    suite = {"suite": "bbob", "functions": [1], "dimensions": [DIMENSION]}
    config = configured(suite, EVALUATIONS)
    setting = config.setting
    problem = config.instances.build(config.instances.instance(0, setting).spec, setting)
    ratios = []
    with tempfile.TemporaryDirectory() as folder:
        journal = Journal(Path(folder) / "journal")
        for turn in range(TURNS):
            recorder = Recorder(problem, "evaluations", EVALUATIONS, journal=journal.add)
            # Every second turn measures the bare function first, so that order does not matter.
            if turn % 2:
                bare_seconds = seconds(config, setting, problem, bare(problem))
                recorded_seconds = seconds(config, setting, problem, recorder.evaluate)
            else:
                recorded_seconds = seconds(config, setting, problem, recorder.evaluate)
                bare_seconds = seconds(config, setting, problem, bare(problem))
            ratios.append(recorded_seconds / bare_seconds)
        journal.close()
    assert recorder.evaluations == EVALUATIONS
    return median(ratios), len(recorder.times)


def measure_workers(config: Config, workers: int) -> float:
    """Seconds for all runs, without the time in which the processes start."""
    setting = config.setting
    tasks = []
    for index in range(POOL_RUNS + workers):
        instance = config.instances.instance(index, setting)
        seed = run_seed(1, instance.id, "CSA")
        tasks.append(Task(config.algorithms[0], instance, seed, POOL_EVALUATIONS))
    with Pool(config.instances, setting, workers, LIMITS) as pool:
        for _ in pool.run(tasks[:workers]):  # The processes start and import their packages.
            pass
        start = perf_counter()
        for outcome in pool.run(tasks[workers:]):
            assert outcome.evaluations == POOL_EVALUATIONS
        return perf_counter() - start


def measure_start(config: Config) -> float:
    """Seconds until a worker, a new interpreter that loads what runs need, is ready."""
    start = perf_counter()
    with Pool(config.instances, config.setting, 1, LIMITS) as pool:
        worker = pool._start()
        assert worker.receive() is None
        return perf_counter() - start


def measure_runs(config: Config, isolation: Isolation) -> float:
    """Seconds of a brief run by one worker."""
    setting = config.setting
    instances = [config.instances.instance(i, setting) for i in range(FORKED_RUNS)]
    tasks = [Task(config.algorithms[0], instance, 1, 1.0) for instance in instances]
    with Pool(config.instances, setting, 1, LIMITS, isolation=isolation) as pool:
        list(pool.run(tasks[:2]))
        start = perf_counter()
        list(pool.run(tasks))
        return (perf_counter() - start) / FORKED_RUNS


def measure_processes() -> tuple[float, float]:
    """Seconds to start a worker, and to fork a process for a run; medians."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "users.py").write_text(USERS_ALGORITHM)
        data = {
            "algorithms": [{"name": "A", "use": "python", "function": f"{folder}/users.py:solve"}],
            "instances": {"suite": "classic"},
            "budget": {"grid": [1]},
        }
        config = parse(data, Source("benchmark"))
        started = []
        forked = []
        for _ in range(STARTS):
            started.append(measure_start(config))
            own_process = measure_runs(config, Isolation.RUN)
            forked.append(own_process - measure_runs(config, Isolation.ALGORITHM))
    return median(started), median(forked)


def brief_tasks(config: Config) -> list[Task]:
    """Runs of all algorithms, instance by instance."""
    instances = [config.instances.instance(i, config.setting) for i in range(BRIEF_RUNS)]
    budget = config.budget.limit
    return [
        Task(algorithm, instance, 1, budget)
        for instance in instances
        for algorithm in config.algorithms
    ]


def serve_bare(connection: Connection, config: Config, folder: str) -> None:
    """Execute tasks one after the other, without any isolation."""
    os.setsid()  # as a process of the pool: systems may divide processor time among sessions
    problems = Problems(config.instances, config.setting)
    journal = Journal(Path(folder) / f"journal-{os.getpid()}")
    with suppress(EOFError):
        while True:
            connection.send(execute(connection.recv(), problems, journal.add))


def measure_bare(config: Config, folder: str) -> float:
    """Seconds of the brief runs by bare processes."""
    context = multiprocessing.get_context("spawn")
    connections = []
    for _ in range(WORKERS):
        connection, other_end = context.Pipe()
        context.Process(target=serve_bare, args=(other_end, config, folder), daemon=True).start()
        other_end.close()
        connections.append(connection)
    tasks = brief_tasks(config)
    for connection in connections:  # The processes start and import their packages.
        connection.send(tasks[0])
        connection.recv()
    remaining = iter(tasks)
    start = perf_counter()
    for connection in connections:
        connection.send(next(remaining))
    n_finished = 0
    while n_finished < len(tasks):
        for connection in wait(connections):
            connection.recv()
            n_finished += 1
            task = next(remaining, None)
            if task is not None:
                connection.send(task)
    seconds = perf_counter() - start
    for connection in connections:
        connection.close()
    return seconds


def measure_pool(config: Config) -> float:
    """Seconds of the brief runs by a pool, which prefers algorithms that have a process."""
    tasks = brief_tasks(config)
    queue = RunQueue()
    with Pool(config.instances, config.setting, WORKERS, LIMITS) as pool:

        def preferred_tasks() -> Iterator[Task]:
            while queue:
                yield queue.take(pool)

        list(pool.run(tasks[:WORKERS]))
        for task in tasks:
            queue.add(task)
        start = perf_counter()
        outcomes = list(pool.run(preferred_tasks()))
        seconds = perf_counter() - start
    assert len(outcomes) == len(tasks)
    assert not any(outcome.status.failed for outcome in outcomes)
    return seconds


def brief_config(entry: dict[str, Any], evaluations: int) -> Config:
    data = {
        "algorithms": [{"name": f"A{i}", **entry} for i in range(N_ALGORITHMS)],
        "instances": {"suite": "classic"},
        "budget": {"grid": [evaluations]},
    }
    return parse(data, Source("benchmark"))


def measure_throughput(users: bool) -> list[float]:
    """The throughput of a pool over that of bare processes, several times.

    The algorithms are a user's or PolarBear's.
    """
    with tempfile.TemporaryDirectory() as folder:
        config = brief_config({"use": "random-search"}, BRIEF_EVALUATIONS)
        if users:
            (Path(folder) / "users.py").write_text(BRIEF_ALGORITHM)
            entry = {"use": "python", "function": f"{folder}/users.py:solve"}
            config = brief_config(entry, EVALUATIONS)
        return [measure_bare(config, folder) / measure_pool(config) for _ in range(BRIEF_TURNS)]


def throughput_row(work: str, ratios: list[float]) -> Row:
    return Row(
        work,
        f"{median(ratios):.0%} of bare processes (from {min(ratios):.0%} to {max(ratios):.0%})",
        "at least 80 %",
        median(ratios) >= 0.8,
    )


def main() -> int:
    cost, improvements = measure_recording()
    started, forked = measure_processes()
    config = configured({"suite": "ma-bbob"}, POOL_EVALUATIONS)
    of_user = measure_throughput(users=True)
    of_polarbear = measure_throughput(users=False)
    n_runs = N_ALGORITHMS * BRIEF_RUNS
    speed_ups = [measure_workers(config, 1) / measure_workers(config, 2) for _ in range(3)]
    return report(
        [
            Row(
                f"recording {improvements:,} improvements in {EVALUATIONS:,} evaluations, d = 30",
                f"{cost - 1:+.1%} processor time",
                "at most +5 %",
                cost <= 1.05,
            ),
            Row(
                f"two workers against one, MA-BBOB runs of {POOL_EVALUATIONS:,}",
                f"{median(speed_ups):.2f} (from {min(speed_ups):.2f} to {max(speed_ups):.2f})",
                "at least 1.8",
                median(speed_ups) >= 1.8,
            ),
            Row(
                "a process for a run, forked from its worker",
                f"{1000 * forked:.0f} ms; a new interpreter takes {started:.2f} s",
                "at least 10 times as fast",
                started / forked >= 10,
            ),
            throughput_row(f"{n_runs} runs of a millisecond, six algorithms of a user", of_user),
            throughput_row(f"{n_runs} runs of a millisecond, six of PolarBear", of_polarbear),
        ]
    )


if __name__ == "__main__":
    sys.exit(main())
