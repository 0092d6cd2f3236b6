"""The overhead of a race: its seconds a round without the runs of its algorithms.

    python benchmarks/overhead.py

Seven algorithms, 200 times, 100 rounds of strict racing on a known truth; the runs themselves are
made up and cost next to nothing. Exits with 1 when the target is missed.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from targets import Row, report

from polarbear.config.configuration import Config, parse
from polarbear.driver.loop import Race
from polarbear.driver.race_progress import Watcher
from polarbear.settings.options import Source
from polarbear.store import StoreOnDisk

ROUNDS = 100
MAX_MEAN_SECONDS = 0.6  # a round
MAX_WORST_SECONDS = 1.2


class Clock(Watcher):
    """Measures the seconds of each round without its runs."""

    def __init__(self) -> None:
        self.seconds: list[float] = []
        self._since = time.perf_counter()
        self._runs = 0.0

    def begins(self, *_: Any) -> None:
        self._runs = -time.perf_counter()

    def infers(self) -> None:
        self._runs += time.perf_counter()

    def ends(self, record: dict[str, Any]) -> None:
        now = time.perf_counter()
        self.seconds.append(now - self._since - self._runs)
        self._since = now


def strict_race(model: str = "empirical") -> Config:
    ratings = {name: 1.0 + 0.02 * i for i, name in enumerate("ABCDEFG")}  # none is eliminated early
    data = {
        "algorithms": [{"name": name, "use": "synthetic"} for name in ratings],
        "instances": {"suite": "synthetic", "ratings": ratings, "correlation": 0.3},
        "budget": {"grid": {"from": 100, "to": 60000, "points": 200}},
        "race": {"resolution": "strict", "limits": {"rounds": ROUNDS}},
        "inference": {"model": model},
    }
    return parse(data, Source("overhead"))


def seconds_a_round(config: Config) -> np.ndarray:
    """The seconds of each round without its runs.

    The first round also compiles, once after installation.
    """
    clock = Clock()
    with tempfile.TemporaryDirectory() as folder:
        store = StoreOnDisk.create(Path(folder) / "store", config.stored())
        with store.writing():
            Race(config, store, [clock]).run()
    return np.array(clock.seconds)


def main() -> int:
    rows = []
    for model in ("empirical", "dirichlet"):
        seconds = seconds_a_round(strict_race(model))[1:]
        work = f"{model}, n 7, T 200, {len(seconds) + 1} rounds: a round"
        measured = f"mean {seconds.mean():.2f} s, worst {seconds.max():.2f} s"
        target = f"{MAX_MEAN_SECONDS:g} s, worst {MAX_WORST_SECONDS:g} s"
        is_met = bool(seconds.mean() < MAX_MEAN_SECONDS and seconds.max() < MAX_WORST_SECONDS)
        rows.append(Row(work, measured, target, is_met))
    return report(rows)


if __name__ == "__main__":
    sys.exit(main())
