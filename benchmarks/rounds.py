"""Seconds to read the store of a long race: 1,000 rounds with 20,000 runs.

    python benchmarks/rounds.py

The store is written as a race writes it. It is read twice: as it is, and with one part of
instances a round, as parts were before they were merged. Reading means everything that `polarbear
status` and a resumed race need: instances, runs on the grid, all rounds. The least processor time
of several trials counts. Exits with 1 when a target is missed.
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
from targets import Row, report

sys.path.insert(0, str(Path(__file__).parents[1]))  # for the recorded rounds of the tests

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

ROUNDS = 1_000
INSTANCES = 4  # of each round
POINTS = 30  # of each run
MAX_SECONDS = 2.0
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
    """Write the instances again in one part a round, as they were before parts were merged."""
    catalog = Catalog(path)
    parts = dict(catalog.read_parts("instances"))
    table = pl.concat(parts.values())
    pieces = table.iter_slices(INSTANCES)
    catalog.commit([part_file("instances", piece) for piece in pieces], parts)


def outcome(task: Task, rng: np.random.Generator) -> Outcome:
    times = np.sort(rng.choice(1000, POINTS, replace=False) + 1.0)
    values = -np.sort(rng.standard_normal(POINTS))
    return Outcome(task, Status.BUDGET, "", times, values, 1000, 1000, 1.0, 0, 1.7e9)


def read(path: Path) -> float:
    """Seconds of processor time to read everything."""
    least_seconds = float("inf")
    for _ in range(TRIALS):
        start = process_time()
        store = StoreOnDisk.open(path)
        assert len(store.instances()) == ROUNDS * INSTANCES
        assert store.on_grid(np.geomspace(10, 1000, 30)).values.shape[0] == ROUNDS * INSTANCES
        assert standings(store) is not None
        least_seconds = min(least_seconds, process_time() - start)
    return least_seconds


def add_known_instances(path: Path) -> float:
    """Seconds of processor time in which a round finds that its instances are stored already."""
    store = StoreOnDisk.open(path)
    start = process_time()
    store.add_instances([Instance(i, f"i{i}", {"i": i}) for i in range(INSTANCES)], "classic")
    return process_time() - start


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        merged = Path(folder) / "merged"
        unmerged = Path(folder) / "unmerged"
        make(merged)
        shutil.copytree(merged, unmerged)
        one_part_a_round(unmerged)
        reading_merged = read(merged)
        reading_unmerged = read(unmerged)
        adding_merged = add_known_instances(merged)
        adding_unmerged = add_known_instances(unmerged)
    return report(
        [
            Row(
                f"reading {ROUNDS:,} rounds and {ROUNDS * INSTANCES * 5:,} runs",
                f"{reading_merged:.2f} s, {reading_unmerged / reading_merged:.1f} x as fast as "
                "unmerged",
                f"under {MAX_SECONDS:.0f} s",
                reading_merged < MAX_SECONDS,
            ),
            Row(
                "instances, once a round",
                f"{adding_merged:.3f} s, {adding_unmerged / adding_merged:.0f} x as fast as "
                "unmerged",
                "at least 10 x",
                adding_unmerged > 10 * adding_merged,
            ),
        ]
    )


if __name__ == "__main__":
    sys.exit(main())
