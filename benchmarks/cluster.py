"""The overhead of a cluster over the local pool, and the faults it survives, in one run.

    python benchmarks/cluster.py [--kills 50] [overhead] [throughput] [faults]

A real `dask scheduler` and real `dask worker` processes, all on this machine. Overhead: runs of one
second on two workers, by the local pool and by Dask, in turns. Throughput: 1,000 runs of 10 ms on
two workers. Faults: a race during which workers are killed at random and come back; its rounds are
compared with those of the local race, byte by byte. It exits with 1 when a target is missed.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import psutil

sys.path.insert(0, str(Path(__file__).parents[1]))

from targets import Row, report

from polarbear.config.configuration import Config, parse
from polarbear.driver import collect
from polarbear.driver.loop import Race
from polarbear.driver.race_progress import Watcher
from polarbear.execution.outcome import Executor, Outcome, Task
from polarbear.settings.options import Source
from polarbear.store import StoreOnDisk
from tests.cluster.processes import RealCluster

SOLVERS = """
import time

def sleeps(problem, seed, seconds):
    problem(problem.lower)
    time.sleep(seconds)

def walks(problem, seed, step):
    x = problem.lower.copy()
    for _ in range(40):
        time.sleep(0.002)
        problem(x)
        x = x + step * (problem.upper - problem.lower) / (30 + seed % 7)
"""
PARTS = ["overhead", "throughput", "faults"]
WORKERS = 2
LONG_RUNS = 10
SHORT_RUNS = 1000
TURNS = 5
RUNS_BETWEEN_KILLS = 4


def configured(folder: Path, address: str | None, *algorithms: dict[str, Any]) -> Config:
    (folder / "solvers.py").write_text(SOLVERS)
    workers = {"engine": "dask", "scheduler": address} if address else {"workers": WORKERS}
    data = {
        "algorithms": [{"use": "python", **algorithm} for algorithm in algorithms],
        "instances": {"suite": "classic", "dimensions": {"from": 2, "to": 4}},
        "budget": {"grid": {"from": 5, "to": 40, "points": 4}},
        "execution": {"check": False, **workers},
        "race": {"batch": {"start": 20, "min": 20, "max": 20}, "limits": {"rounds": 10}},
        "inference": {"draws": 400},
    }
    return parse(data, Source("benchmark"), str(folder))


def sleeping(seconds: float) -> dict[str, Any]:
    return {
        "name": "sleeps",
        "function": "solvers.py:sleeps",
        "options": {"seconds": seconds},
    }


def walking(step: float) -> dict[str, Any]:
    return {
        "name": f"step {step:g}",
        "function": "solvers.py:walks",
        "options": {"step": step},
    }


def seconds_for(pool: Executor, config: Config, runs: int) -> float:
    """The time in which workers that have started execute this number of runs."""
    (algorithm,) = config.algorithms
    instances = [config.instances.instance(i, config.setting) for i in range(runs)]
    tasks = [Task(algorithm, instance, 1, 40) for instance in instances]
    start = perf_counter()
    assert len(list(pool.run(tasks))) == runs
    return perf_counter() - start


def overhead(folder: Path, cluster: RealCluster) -> Row:
    local_config = configured(folder, None, sleeping(1.0))
    dask_config = configured(folder, cluster.address, sleeping(1.0))
    ratios = []
    with collect.pool_of(local_config) as local_pool, collect.pool_of(dask_config) as dask_pool:
        for pool in (local_pool, dask_pool):
            seconds_for(pool, local_config, 2 * WORKERS)  # until every worker has started
        for _ in range(TURNS):
            local_seconds = seconds_for(local_pool, local_config, LONG_RUNS)
            dask_seconds = seconds_for(dask_pool, dask_config, LONG_RUNS)
            ratios.append(dask_seconds / local_seconds)
    ratio = median(ratios)
    return Row(
        f"{LONG_RUNS} runs of one second, {WORKERS} at once: Dask against the local pool",
        f"{100 * (ratio - 1):+.1f} % time, median of {TURNS} turns",
        "at most +5 %",
        ratio <= 1.05,
    )


def throughput(folder: Path, cluster: RealCluster) -> Row:
    dask_config = configured(folder, cluster.address, sleeping(0.01))
    local_config = configured(folder, None, sleeping(0.01))
    with collect.pool_of(dask_config) as pool:
        seconds_for(pool, dask_config, 2 * WORKERS)
        dask_rate = SHORT_RUNS / seconds_for(pool, dask_config, SHORT_RUNS)
    with collect.pool_of(local_config) as pool:
        seconds_for(pool, local_config, 2 * WORKERS)
        local_rate = SHORT_RUNS / seconds_for(pool, local_config, SHORT_RUNS)
    return Row(
        f"{SHORT_RUNS:,} runs of 10 ms on {WORKERS} workers",
        f"{dask_rate:.0f} a second; the local pool: {local_rate:.0f}",
        "at least 100 a second",
        dask_rate >= 100,
    )


class Killer(Watcher):
    """Kills a random worker's process every few runs; the nanny of a worker starts another one."""

    def __init__(self, workers: list[Any], max_kills: int) -> None:
        self._workers = workers
        self._max_kills = max_kills
        self._runs_since_kill = 0
        self._rng = random.Random(1)
        self.n_kills = 0

    def finished(self, outcome: Outcome) -> None:
        self._runs_since_kill += 1
        alive = [process for worker in self._workers for process in processes_of(worker)]
        is_due = self._runs_since_kill >= RUNS_BETWEEN_KILLS and self.n_kills < self._max_kills
        if alive and is_due:
            self._rng.choice(alive).kill()
            self.n_kills += 1
            self._runs_since_kill = 0


def processes_of(worker: Any) -> list[psutil.Process]:
    """The process that the nanny of a `dask worker` supervises; none while it is restarted."""
    processes = []
    for child in psutil.Process(worker.pid).children():
        with suppress(psutil.Error):
            # Dask's nanny starts its worker by multiprocessing, which names this function.
            if "spawn_main" in " ".join(child.cmdline()):
                processes.append(child)
    return processes


def survived(folder: Path, cluster: RealCluster, workers: list[Any], kills: int) -> Row:
    algorithms = [walking(0.5), walking(1.0)]
    local_config = configured(folder, None, *algorithms)
    dask_config = configured(folder, cluster.address, *algorithms)
    killer = Killer(workers, kills)
    local_rounds = race_rounds(local_config, folder / "local")
    dask_rounds = race_rounds(dask_config, folder / "dask", killer)
    is_same = local_rounds == dask_rounds
    n_runs = len(StoreOnDisk.open(folder / "dask").runs())
    return Row(
        f"a race of {n_runs} runs on {len(workers)} workers",
        f"{killer.n_kills} kills of workers, rounds {'the same' if is_same else 'NOT the same'} to "
        "the byte",
        f"{kills} kills, the same",
        is_same and killer.n_kills >= kills,
    )


def race_rounds(config: Config, path: Path, watcher: Watcher | None = None) -> dict[str, bytes]:
    """The files of the rounds of a race, by name."""
    store = StoreOnDisk.create(path, config.stored())
    with store.writing():
        Race(config, store, [watcher] if watcher else []).run()
    return {file.name: file.read_bytes() for file in sorted((path / "rounds").iterdir())}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("parts", nargs="*", choices=[[], *PARTS], help="by default all")
    args = parser.parse_args()
    parts = args.parts or PARTS
    missed = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with RealCluster(folder) as cluster:
            workers = [cluster.start_worker() for _ in range(WORKERS)]
            cluster.await_workers(WORKERS)
            if "overhead" in parts:
                missed |= report([overhead(folder, cluster)])
            if "throughput" in parts:
                missed |= report([throughput(folder, cluster)])
            if "faults" in parts:
                workers.append(cluster.start_worker())
                cluster.await_workers(WORKERS + 1)
                missed |= report([survived(folder, cluster, workers, args.kills)])
    return missed


if __name__ == "__main__":
    sys.exit(main())
