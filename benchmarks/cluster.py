"""The overhead of a cluster over the local pool, and the faults it survives, in one run.

    python benchmarks/cluster.py [--kills 50] [overhead] [throughput] [faults]

A real `dask scheduler` and real `dask worker` processes, all on this machine. Overhead: runs of one
second on two workers, by the local pool and by Dask, in turns. Throughput: 1,000 runs of 10 ms on
two workers. Faults: a race during which workers are killed at random and come back; its rounds are
compared with those of the local race, byte by byte. Exits with 1 when a target is missed.
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
from polarbear.execution.worker_process import WORKER_MODULE
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
WORKERS, LONG_RUNS, SHORT_RUNS, TURNS = 2, 10, 1000, 5
KILL_EVERY = 4  # finished runs at least


def configured(folder: Path, address: str | None, *algorithms: dict[str, Any]) -> Config:
    (folder / "solvers.py").write_text(SOLVERS)
    on = {"engine": "dask", "scheduler": address} if address else {}
    data = {
        "algorithms": [{"use": "python", **algorithm} for algorithm in algorithms],
        "instances": {"suite": "classic", "dimensions": {"from": 2, "to": 4}},
        "budget": {"grid": {"from": 5, "to": 40, "points": 4}},
        "execution": {"workers": None if address else WORKERS, "check": False, **on},
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
    """The time in which so many runs are executed by workers that have started."""
    (algorithm,) = config.algorithms
    instances = [config.instances.instance(i, config.setting) for i in range(runs)]
    tasks = [Task(algorithm, instance, 1, 40) for instance in instances]
    begun = perf_counter()
    assert len(list(pool.run(tasks))) == runs
    return perf_counter() - begun


def overhead(folder: Path, cluster: RealCluster) -> Row:
    here = configured(folder, None, sleeping(1.0))
    there = configured(folder, cluster.address, sleeping(1.0))
    taken: dict[str, list[float]] = {"here": [], "there": []}
    with collect.pool_of(here) as local, collect.pool_of(there) as dask:
        for pool in (local, dask):
            seconds_for(pool, here, 2 * WORKERS)  # until every worker has started
        for _ in range(TURNS):
            taken["here"].append(seconds_for(local, here, LONG_RUNS))
            taken["there"].append(seconds_for(dask, there, LONG_RUNS))
    ratio = median(b / a for a, b in zip(taken["here"], taken["there"], strict=True))
    return Row(
        f"{LONG_RUNS} runs of one second, {WORKERS} at once: Dask against the local pool",
        f"{100 * (ratio - 1):+.1f} % time, median of {TURNS} turns",
        "at most +5 %",
        ratio <= 1.05,
    )


def throughput(folder: Path, cluster: RealCluster) -> Row:
    config = configured(folder, cluster.address, sleeping(0.01))
    local = configured(folder, None, sleeping(0.01))
    with collect.pool_of(config) as pool:
        seconds_for(pool, config, 2 * WORKERS)
        rate = SHORT_RUNS / seconds_for(pool, config, SHORT_RUNS)
    with collect.pool_of(local) as pool:
        seconds_for(pool, local, 2 * WORKERS)
        best = SHORT_RUNS / seconds_for(pool, local, SHORT_RUNS)
    return Row(
        f"{SHORT_RUNS:,} runs of 10 ms on {WORKERS} workers",
        f"{rate:.0f} a second; the local pool: {best:.0f}",
        "at least 100 a second",
        rate >= 100,
    )


class Killer(Watcher):
    """Kills a random worker's process every few runs; its nanny starts another."""

    def __init__(self, workers: list[Any], kills: int) -> None:
        self._workers, self._most, self._since = workers, kills, 0
        self._rng = random.Random(1)
        self.killed = 0

    def finished(self, outcome: Outcome) -> None:
        self._since += 1
        alive = [process for worker in self._workers for process in processes_of(worker)]
        if alive and self._since >= KILL_EVERY and self.killed < self._most:
            self._rng.choice(alive).kill()
            self.killed, self._since = self.killed + 1, 0


def processes_of(worker: Any) -> list[psutil.Process]:
    """What a `dask worker` has its nanny look after; none while that is being started again."""
    found = []
    for child in psutil.Process(worker.pid).children():
        with suppress(psutil.Error):
            if WORKER_MODULE in child.cmdline():
                found.append(child)
    return found


def survived(folder: Path, cluster: RealCluster, workers: list[Any], kills: int) -> Row:
    names = [walking(step) for step in (0.5, 1.0)]
    here = rounds(configured(folder, None, *names), folder / "here")
    killer = Killer(workers, kills)
    there = rounds(configured(folder, cluster.address, *names), folder / "there", killer)
    same = here == there
    n_runs = len(StoreOnDisk.open(folder / "there").runs())
    return Row(
        f"a race of {n_runs} runs on {len(workers)} workers",
        f"{killer.killed} kills of workers, rounds {'the same' if same else 'NOT the same'} to "
        "the byte",
        f"{kills} kills, the same",
        same and killer.killed >= kills,
    )


def rounds(config: Config, path: Path, watcher: Watcher | None = None) -> dict[str, bytes]:
    store = StoreOnDisk.create(path, config.stored())
    with store.writing():
        Race(config, store, [watcher] if watcher else []).run()
    return {file.name: file.read_bytes() for file in sorted((path / "rounds").iterdir())}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("parts", nargs="*", choices=[[], *PARTS], help="by default all")
    args = parser.parse_args()
    parts, missed = args.parts or PARTS, 0
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
