"""How busy workers are in a race, with speculative runs and without them.

    python benchmarks/busy.py [--instances N]

It measures the share of the workers' time that is spent in runs, from the recorded intervals of
runs, between the start of the first run (or the end of the first round) and the end of the last
one. As with the command, all algorithms are checked before the first run, so that workers have
loaded their packages. The time in which a problem is built counts as idle, and so does the time of
runs that were unfinished when the race ended. With one worker per core, the deciding process
competes with the workers; the idle time of the cores is therefore reported, too, which is
meaningful only on an otherwise idle machine. --instances shortens the races. It exits with 1 when a
target is missed.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import polars as pl
import psutil
from targets import Row, report

from polarbear.config.configuration import Config, load
from polarbear.driver import collect
from polarbear.driver.loop import Race
from polarbear.store import StoreOnDisk

CONFIGS = Path(__file__).parents[1] / "configs"


@dataclass(frozen=True)
class Utilisation:
    """How busy the workers and the machine's cores were in a race of this length and size."""

    busy_workers: float
    idle_cores: float
    seconds: float
    n_runs: int
    n_speculative: int


def utilisation_of_race(config: Config, folder: Path, after_round: int) -> Utilisation:
    """Race, and measure the utilisation after a round, or in the whole race if it is 0."""
    store = StoreOnDisk.create(folder, config.stored())
    cpu_before = psutil.cpu_times()
    clock_before = time.perf_counter()
    with store.writing():
        Race(config, store, on_finding=print if config.execution.check else None).run()
    cpu_after = psutil.cpu_times()
    race_seconds = time.perf_counter() - clock_before
    idle_seconds = cpu_after.idle + cpu_after.iowait - cpu_before.idle - cpu_before.iowait
    columns = ["started", "seconds"]
    runs = pl.concat([store.all_runs().select(columns), store.speculative.table().select(columns)])
    starts = runs["started"].dt.timestamp("us").to_numpy() / 1e6
    ends = starts + runs["seconds"].to_numpy()
    measured_from = store.rounds.written(after_round).timestamp() if after_round else starts.min()
    seconds_in_runs = np.clip(ends, measured_from, None) - np.clip(starts, measured_from, None)
    measured_seconds = ends.max() - measured_from
    available_seconds = collect.workers_of(config) * measured_seconds
    return Utilisation(
        busy_workers=float(seconds_in_runs.sum() / available_seconds),
        idle_cores=idle_seconds / race_seconds / (os.cpu_count() or 1),
        seconds=float(measured_seconds),
        n_runs=len(store.runs()),
        n_speculative=len(store.speculative.table()),
    )


def utilisation_row(name: str, after_round: int, target: float, instances: int | None) -> Row:
    """The utilisation by one configuration, without speculative runs and with them."""
    config = load(CONFIGS / name)
    if instances is not None:
        limits = config.race.limits.model_copy(update={"instances": instances})
        config = replace(config, race=config.race.model_copy(update={"limits": limits}))
    no_speculation = config.execution.model_copy(update={"early": 0})
    with tempfile.TemporaryDirectory() as folder:
        plain = utilisation_of_race(
            replace(config, execution=no_speculation), Path(folder) / "plain", after_round
        )
        speculative = utilisation_of_race(config, Path(folder) / "speculative", after_round)
    period = f" after round {after_round}" if after_round else ""
    measured = (
        f"{speculative.busy_workers:.0%}, {plain.busy_workers:.0%} without speculative runs; "
        f"cores idle {speculative.idle_cores:.0%}, {plain.idle_cores:.0%}"
    )
    return Row(
        f"{name}, {speculative.n_runs} runs, {speculative.n_speculative} extra: "
        f"workers busy{period}",
        measured,
        f"at least {target:.0%}",
        speculative.busy_workers >= target,
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--instances", type=int, help="the largest number of instances of a race")
    instances = parser.parse_args().instances
    return report(
        [
            utilisation_row("mabbob-small.yaml", 0, 0.9, instances),
            utilisation_row("quickstart.yaml", 1, 0.95, instances),
        ]
    )


if __name__ == "__main__":
    sys.exit(main())
