"""Seconds to read a large store: 10,000 runs with 10 million points, on a 200-point grid.

    python benchmarks/store.py

The store is written in a temporary folder as `polarbear run` would write it, then read in a process
of its own, whose peak memory is reported. Times are also given as ratios to a plain Python loop
over the same points. Exits with 1 when a target is missed.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter

import numpy as np
from targets import Row, report

from polarbear.config.configuration import parse
from polarbear.execution.outcome import Outcome, Status, Task
from polarbear.problems import Instance
from polarbear.settings.options import Source
from polarbear.store import StoreOnDisk
from polarbear.store.runs import FinishedRun

ALGORITHMS = 10
INSTANCES = 1_000
POINTS = 1_000  # of each run
BUDGET = 60_000
GRID = np.unique(np.round(np.geomspace(100, BUDGET, 200)))


def make(path: Path) -> None:
    names = [f"algorithm {i}" for i in range(ALGORITHMS)]
    data = {
        "algorithms": [{"name": name, "use": "random-search"} for name in names],
        "instances": {"suite": "classic"},
        "budget": {"grid": [100, BUDGET]},
    }
    config = parse(data, Source("benchmark"))
    store = StoreOnDisk.create(path, config.stored())
    rng = np.random.default_rng(1)
    with store.writing():
        instances = [Instance(i, f"instance-{i}", {"i": i}) for i in range(INSTANCES)]
        store.add_instances(instances, "classic")
        for start in range(0, INSTANCES, 20):
            outcomes = []
            for instance in instances[start : start + 20]:
                for algorithm in config.algorithms:
                    times = np.sort(rng.choice(BUDGET, POINTS, replace=False) + 1.0)
                    values = -np.sort(rng.standard_normal(POINTS))
                    task = Task(algorithm, instance, 1, BUDGET)
                    outcomes.append(
                        Outcome(
                            task, Status.BUDGET, "", times, values, BUDGET, BUDGET, 1.0, 0, 1.7e9
                        )
                    )
            store.add_runs([FinishedRun.of(outcome, 2) for outcome in outcomes])
            store.merge_parts()


def read(path: Path) -> dict[str, float]:
    """Seconds to read all runs and one pair of algorithms, and the peak memory of doing so."""
    store = StoreOnDisk.open(path)
    start = perf_counter()
    everything = store.on_grid(GRID)
    everything_read = perf_counter()
    pair = store.on_grid(GRID, ["algorithm 2", "algorithm 7"])
    pair_read = perf_counter()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert everything.values.shape == (INSTANCES, ALGORITHMS, len(GRID))
    assert np.array_equal(everything.values[:, [2, 7]], pair.values)
    loop_start = perf_counter()
    n_runs = 0
    for _, t, y in store.trajectories(["algorithm 2"]):
        plain_loop(t.tolist(), y.tolist())
        n_runs += 1
    loop = (perf_counter() - loop_start) * ALGORITHMS * INSTANCES / n_runs
    unit = 1 if sys.platform == "darwin" else 1024
    return {
        "all": everything_read - start,
        "pair": pair_read - everything_read,
        "loop": loop,
        "gib": peak * unit / 2**30,
    }


def plain_loop(times: list[float], values: list[float]) -> list[float]:
    """The best values at the times of the grid."""
    best_values = []
    position = 0
    best = float("inf")
    for t in GRID:
        while position < len(times) and times[position] <= t:
            best = values[position]
            position += 1
        best_values.append(best)
    return best_values


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "store"
        make(path)
        command = [sys.executable, __file__, str(path)]
        completed = subprocess.run(command, check=True, capture_output=True, text=True)
    measured = json.loads(completed.stdout)
    ratio = measured["loop"] / measured["all"]
    return report(
        [
            Row(
                f"10,000 runs, 10 million points, on {len(GRID)} times",
                f"{measured['all']:.2f} s, {ratio:.0f} x a plain loop",
                "under 10 s",
                measured["all"] < 10,
            ),
            Row(
                "one pair of algorithms of it",
                f"{measured['pair']:.2f} s",
                "under 2 s",
                measured["pair"] < 2,
            ),
            Row("peak memory", f"{measured['gib']:.2f} GiB", "under 2 GiB", measured["gib"] < 2),
        ]
    )


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(json.dumps(read(Path(sys.argv[1]))))
    else:
        sys.exit(main())
