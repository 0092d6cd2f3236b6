"""How busy workers are in a race, with speculative runs and without them.

    python benchmarks/busy.py [--instances N]

The share of workers' time in runs, from the recorded intervals of runs, between the start of the
first run (or the end of the first round) and the end of the last one. As with the command, all
algorithms are checked before the first run, so that workers have loaded their packages. Building a
problem counts as idle, and so do runs that were unfinished when the race ended. With as many
workers as cores, the deciding process competes with them; the idle time of the cores is therefore
reported, too, which is meaningful only on an otherwise idle machine. --instances shortens the
races. Exits with 1 when a target is missed.
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
class Share:
    """How busy workers were, and what that took."""

    busy: float
    idle: float  # of the machine's cores
    seconds: float
    runs: int
    extra: int


def raced(config: Config, folder: Path, from_round: int) -> Share:
    """Race, and look at what workers did after so many rounds."""
    store = StoreOnDisk.create(folder, config.stored())
    before, begun_at = psutil.cpu_times(), time.perf_counter()
    with store.writing():
        Race(config, store, on_finding=print if config.execution.check else None).run()
    after, whole = psutil.cpu_times(), time.perf_counter() - begun_at
    unused = after.idle + after.iowait - before.idle - before.iowait
    columns = ["started", "seconds"]
    runs = pl.concat([store.all_runs().select(columns), store.speculative.table().select(columns)])
    begun = runs["started"].dt.timestamp("us").to_numpy() / 1e6
    ended = begun + runs["seconds"].to_numpy()
    since = store.rounds.written(from_round).timestamp() if from_round else begun.min()
    inside = np.clip(ended, since, None) - np.clip(begun, since, None)
    lasted = ended.max() - since
    share = inside.sum() / (collect.workers_of(config) * lasted)
    return Share(
        float(share),
        unused / whole / (os.cpu_count() or 1),
        float(lasted),
        len(store.runs()),
        len(store.speculative.table()),
    )


def compared(name: str, from_round: int, target: float, instances: int | None) -> Row:
    """One configuration, without speculative runs and with them."""
    config = load(CONFIGS / name)
    if instances is not None:
        limits = config.race.limits.model_copy(update={"instances": instances})
        config = replace(config, race=config.race.model_copy(update={"limits": limits}))
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for early in (0, config.execution.early):
            execution = config.execution.model_copy(update={"early": early})
            changed = replace(config, execution=execution)
            found[early] = raced(changed, Path(folder) / str(early), from_round)
    before, after = found.values()
    what = f"{name}, {after.runs} runs, {after.extra} extra: workers busy"
    since = f" after round {from_round}" if from_round else ""
    measured = (
        f"{after.busy:.0%}, {before.busy:.0%} without speculative runs; cores idle "
        f"{after.idle:.0%}, {before.idle:.0%}"
    )
    return Row(f"{what}{since}", measured, f"at least {target:.0%}", after.busy >= target)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--instances", type=int, help="at most so many instances a race")
    instances = parser.parse_args().instances
    return report(
        [
            compared("mabbob-small.yaml", 0, 0.9, instances),
            compared("quickstart.yaml", 1, 0.95, instances),
        ]
    )


if __name__ == "__main__":
    sys.exit(main())
