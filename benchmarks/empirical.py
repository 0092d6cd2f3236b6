"""How long the empirical model takes, and how much memory: measured in one run.

    python benchmarks/empirical.py [duels] [memory] [many]

Duels: seven algorithms at 200 times on 1,000 instances, 4,000 draws, relations of all pairs; on
data whose duels turn round as seldom as in real races, and on data of which each time is new.
Memory: the same of 10,000 instances. Many: forty algorithms at 2,000 times. Each is a process of
its own, whose greatest memory is what it took beyond that of its data; the better of two calls.
Exits with 1 when a target is missed.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from targets import Row, report

from polarbear.inference import ModelOptions, infer
from polarbear.inference.relations import joint, pointwise
from polarbear.rankings import count_choice_sets, rank


def positions(n: int, instances: int, n_times: int, kept: float) -> np.ndarray:
    """Of algorithms that cross once; ``kept`` is the correlation of neighbouring times' noise."""
    rng = np.random.default_rng(0)
    noise = rng.standard_normal((n_times, instances, n))
    for t in range(1, n_times):
        noise[t] = kept * noise[t - 1] + np.sqrt(1 - kept**2) * noise[t]
    means = np.outer(np.cos(np.linspace(0, 2, n_times)), np.linspace(-1, 1, n))
    return rank(np.ascontiguousarray((means[:, None] + noise).transpose(1, 2, 0)))


def turned(places: np.ndarray) -> float:
    """The share of duels that have another winner at the next time."""
    one, two = places[:, 0], places[:, 1]
    return float(np.mean(np.diff((one < two).astype(int), axis=1) != 0))


def peak() -> float:
    """The most memory that this process has had, in GiB; getrusage would tell its parent's, too."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 2**20


def measured(file: Path) -> tuple[float, float]:
    """Seconds and GiB."""
    places = np.load(file)
    n_times = places.shape[2]
    sets = count_choice_sets(places[:1])  # of which the model only takes the shape
    before = peak()
    options = ModelOptions(model="empirical", draws=4000)
    best = np.inf
    for _ in range(2):
        begun = time.perf_counter()
        posterior = infer(sets, np.linspace(0, 1, n_times), options, 1, positions=places)
        pointwise(posterior)
        joint(posterior)
        best = min(best, time.perf_counter() - begun)
        del posterior  # memory is that of one call
    return best, peak() - before


def apart(n: int, instances: int, n_times: int, kept: float) -> tuple[float, float, float]:
    """Seconds, GiB, and how often duels turn round; in a process that did not make the data."""
    places = positions(n, instances, n_times, kept)
    with (
        TemporaryDirectory() as folder,
        ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool,
    ):
        file = Path(folder, "positions.npy")
        np.save(file, places)
        return *pool.submit(measured, file).result(), turned(places)


def duels() -> list[Row]:
    rows = []
    for kept, target in ((0.99, 1.5), (0.0, None)):
        seconds, _, turning = apart(7, 1000, 200, kept)
        rows.append(
            Row(
                f"n 7, T 200, P 1,000, 4,000 draws, {turning:.1%} of duels turn round at each time",
                f"{seconds:.2f} s",
                "-" if target is None else f"at most {target} s",
                target is None or seconds <= target,
            )
        )
    return rows


def memory() -> list[Row]:
    seconds, gib, _ = apart(7, 10_000, 200, 0.99)
    what = "n 7, T 200, P 10,000, 4,000 draws: memory"
    return [Row(what, f"{gib:.2f} GiB, {seconds:.1f} s", "below 1 GiB", gib < 1)]


def many() -> list[Row]:
    seconds, gib, _ = apart(40, 60, 2000, 0.99)
    what = "n 40, T 2,000, P 60, as many draws as fit"
    return [Row(what, f"{seconds:.1f} s, {gib:.2f} GiB", "at most 20 s, 1 GiB",
                seconds <= 20 and gib <= 1)]  # fmt: skip


PARTS = {"duels": duels, "memory": memory, "many": many}


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("parts", nargs="*", choices=[[], *PARTS])
    parts = parser.parse_args().parts or list(PARTS)
    print(f"{os.cpu_count()} processors, load {os.getloadavg()[0]:.1f} when begun")
    return report([row for part in parts for row in PARTS[part]()])


if __name__ == "__main__":
    sys.exit(main())
