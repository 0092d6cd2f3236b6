"""How busy workers are in a race: with early runs, and without, one after the other.

    python benchmarks/busy.py [--instances N]

Shares of workers' time for which they were running something, by the intervals that runs have
recorded, from the first run's start (or the end of the first round) to the last one's end. As with
the command, everything is tried out before the first run, by which workers have loaded what runs
need. Building a problem counts as idle, and so does what was under way when the race ended. Where
there are as many workers as cores, the process that decides takes its time from them; so it is
said, too, for how much of a race's time a core had nothing to do at all, which means something only
if nothing else runs. Races may be cut short by --instances. Exits with 1 when a target is missed.
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

from polarbear.config import Config, load
from polarbear.driver import collect
from polarbear.driver.loop import Race
from polarbear.store import Store

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
    store = Store.create(folder, config.plain())
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
    """One configuration, without early runs and with them."""
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
        f"{after.busy:.0%}, {before.busy:.0%} without early runs; cores idle {after.idle:.0%}, "
        f"{before.idle:.0%}"
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
