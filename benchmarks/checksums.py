"""Whether flipped bits are noticed, and what it costs to look for them.

    python benchmarks/checksums.py [FLIPS]

Flips single bits in the files of a raced store, each kind of file in turn, and reads each file as
commands do. Then reads stores with and without looking at checksums, in turn, and gives the cost
as a ratio of processor times. Exits with 1 when a target is missed.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import process_time
from unittest import mock

import numpy as np
from targets import Row, report

sys.path.insert(0, str(Path(__file__).parents[1]))  # for the disks that fail, which tests have

from polarbear.store import Store, checksums
from tests.faults.bit_flips import DIFFERENT, REFUSED, SAME, flipped_bits
from tests.store.test_checksums import fill

FLIPS = 10_000
REPEATS = 101
MOST = 0.05  # of the cost of a read
ALGORITHMS, INSTANCES, POINTS, DRAWS, TIMES = 8, 250, 300, 4000, 30


def large_store(folder: Path) -> Store:
    """A store of 2,000 runs and a posterior of 4,000 draws."""
    import pyarrow as pa

    from polarbear.config import parse
    from polarbear.execution.outcome import Outcome, Task
    from polarbear.execution.status import Status
    from polarbear.problems import Instance
    from polarbear.settings.options import Source

    data = {
        "algorithms": [{"name": f"a{i}", "use": "random-search"} for i in range(ALGORITHMS)],
        "instances": {"suite": "classic"},
        "budget": {"grid": [100, 60_000]},
    }
    config = parse(data, Source("benchmark"))
    store = Store.create(folder, config.plain())
    rng = np.random.default_rng(1)
    instances = [Instance(i, f"instance-{i}", {"i": i}) for i in range(INSTANCES)]
    with store.writing():
        store.add_instances(instances, "classic")
        outcomes = []
        for instance in instances:
            for algorithm in config.algorithms:
                times = np.sort(rng.choice(60_000, POINTS, replace=False) + 1.0)
                values = -np.sort(rng.standard_normal(POINTS))
                task = Task(algorithm, instance, 1, 60_000)
                ended = (Status.BUDGET, "", times, values, 60_000, 60_000, 1.0, 0, 1.7e9)
                outcomes.append(Outcome(task, *ended))
        store.add_runs(outcomes, 2)
        theta = rng.dirichlet(np.ones(ALGORITHMS), (DRAWS, TIMES)).reshape(DRAWS, -1)
        draws = pa.table(
            {
                "draw": np.arange(DRAWS, dtype=np.int32),
                "chain": np.zeros(DRAWS, np.int16),
                "theta": pa.array(list(theta.astype(np.float32))),
                "hyper": pa.array([[]] * DRAWS, pa.list_(pa.float64())),
            }
        )
        store.add_posterior("draws", draws, {"times": list(range(TIMES))})
    return store


def cost(read: Callable[[], object]) -> float:
    """How much more processor time a read takes for its checksums, as a share of the read.

    By the least of many trials each: whatever else goes on only ever adds to a time.
    """
    with_them, without = [], []
    for _ in range(REPEATS):
        start = process_time()
        read()
        middle = process_time()
        with mock.patch.object(checksums, "holds", return_value=True):
            read()
        with_them.append(middle - start)
        without.append(process_time() - middle)
    return float(min(with_them) / min(without)) - 1


def main() -> int:
    flips = int(sys.argv[1]) if len(sys.argv) > 1 else FLIPS
    with tempfile.TemporaryDirectory() as folder:
        fill(Path(folder))
        told = flipped_bits(Path(folder) / "store", flips, seed=2026)
        store = large_store(Path(folder) / "large")
        grid = np.geomspace(100, 60_000, TIMES)
        costs = {
            "all trajectories, on a grid": cost(lambda: store.on_grid(grid)),
            "all runs": cost(store.runs),
            "a posterior's draws": cost(lambda: store.posterior("draws")),
        }
    counts = dict.fromkeys((REFUSED, SAME, DIFFERENT), 0)
    for (_, what), number in told.items():
        counts[what] += number
    rows = [
        Row(
            f"{flips:,} flipped bits in {len({kind for kind, _ in told})} kinds of files",
            ", ".join(f"{n:,} {what}" for what, n in counts.items()),
            "none different",
            counts[DIFFERENT] == 0,
        )
    ]
    rows += [
        Row(f"checksums, of reading {what}", f"{share:+.1%}", f"under {MOST:.0%}", share < MOST)
        for what, share in costs.items()
    ]
    return report(rows)


if __name__ == "__main__":
    sys.exit(main())
