"""How fast a store of a long race is read: 1,000 rounds with 20,000 runs.

    python benchmarks/rounds.py

The store is made as a race makes it, and read again with one part of instances a round, as they
were left before they were merged. Reading is everything that `polarbear status` and a race that
goes on need of it: instances, runs on the grid, all rounds. Processor times, the least of some.
Exits with 1 when a target is missed.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from time import process_time
from unittest import mock

import numpy as np
import polars as pl
import pyarrow as pa
from targets import Row, report

sys.path.insert(0, str(Path(__file__).parents[1]))  # for rounds that tests keep

from polarbear.config.configuration import parse
from polarbear.execution.outcome import Outcome, Status, Task
from polarbear.facts.standings import standings
from polarbear.problems import Instance
from polarbear.racing import RoundRecord
from polarbear.settings.options import Source
from polarbear.store import StoreOnDisk, fs
from polarbear.store.catalog import Catalog, part_file
from polarbear.store.runs import FinishedRun
from tests.store.test_rounds import KEPT, made_up

ROUNDS, INSTANCES, POINTS = 1_000, 4, 30
MOST = 2.0  # seconds
TRIALS = 3


def make(path: Path) -> None:
    record = RoundRecord.from_plain(json.loads(KEPT[0].read_text()))
    names = [f"a{i}" for i in range(5)]
    data = {
        "algorithms": [{"name": name, "use": "random-search"} for name in names],
        "instances": {"suite": "classic"},
        "budget": {"grid": [10, 1000]},
    }
    config = parse(data, Source("benchmark"))
    rng = np.random.default_rng(1)
    beliefs = made_up(record.state.algorithms, len(record.state.times))
    store = StoreOnDisk.create(path, config.stored())
    with store.writing(), mock.patch.object(fs, "sync"), mock.patch.object(fs, "sync_folder"):
        for number in range(1, ROUNDS + 1):
            first = (number - 1) * INSTANCES
            instances = [Instance(i, f"i{i}", {"i": i}) for i in range(first, first + INSTANCES)]
            store.add_instances(instances, "classic")
            store.add_runs(
                [
                    FinishedRun.of(outcome(Task(algorithm, instance, 1, 1000), rng), workers=2)
                    for instance in instances
                    for algorithm in config.algorithms
                ]
            )
            store.merge_parts()
            store.rounds.add(record._replace(state=replace(record.state, round=number)), beliefs)


def one_part_a_round(path: Path) -> None:
    """Lay the instances out as they were before they were merged."""
    catalog = Catalog(path)
    parts = dict(catalog.read_parts("instances"))
    table = pa.concat_tables(parts.values())
    pieces = (table.slice(first, INSTANCES) for first in range(0, len(table), INSTANCES))
    catalog.commit([part_file("instances", pl.DataFrame(piece)) for piece in pieces], parts)


def outcome(task: Task, rng: np.random.Generator) -> Outcome:
    times = np.sort(rng.choice(1000, POINTS, replace=False) + 1.0)
    values = -np.sort(rng.standard_normal(POINTS))
    return Outcome(task, Status.BUDGET, "", times, values, 1000, 1000, 1.0, 0, 1.7e9)


def read(path: Path) -> float:
    """Seconds of processor time to read all of it."""
    least = float("inf")
    for _ in range(TRIALS):
        start = process_time()
        store = StoreOnDisk.open(path)
        assert len(store.instances()) == ROUNDS * INSTANCES
        assert store.on_grid(np.geomspace(10, 1000, 30)).values.shape[0] == ROUNDS * INSTANCES
        assert standings(store) is not None
        least = min(least, process_time() - start)
    return least


def adding(path: Path) -> float:
    """Seconds of processor time that a round takes to find out which instances are new."""
    store = StoreOnDisk.open(path)
    start = process_time()
    store.add_instances([Instance(i, f"i{i}", {"i": i}) for i in range(INSTANCES)], "classic")
    return process_time() - start


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        merged, unmerged = Path(folder) / "merged", Path(folder) / "unmerged"
        make(merged)
        shutil.copytree(merged, unmerged)
        one_part_a_round(unmerged)
        after, before = read(merged), read(unmerged)
        step_after, step_before = adding(merged), adding(unmerged)
    return report(
        [
            Row(
                f"reading {ROUNDS:,} rounds and {ROUNDS * INSTANCES * 5:,} runs",
                f"{after:.2f} s, {before / after:.1f} x as fast as before",
                f"under {MOST:.0f} s",
                after < MOST,
            ),
            Row(
                "instances, once a round",
                f"{step_after:.3f} s, {step_before / step_after:.0f} x as fast as before",
                "at least 10 x",
                step_before > 10 * step_after,
            ),
        ]
    )


if __name__ == "__main__":
    sys.exit(main())
