"""Whether the default's probabilities hold what they say, pair by pair and time by time.

    python benchmarks/intervals.py [--truths N] [--populations POPULATIONS] [--settings learned]

On the truths of `truths.py`, all algorithms on so many instances, nobody stopping at a moment of
their choice: how often the true win probability lies within its 95 % interval, how many of those
that miss it are too near to one half, how wide intervals are, and, where one is said to be better
with 0.9 or more, how often it is. With the default's smoothing over time, without it, and plain:
without it and with but one imaginary duel, so that nothing is drawn towards even. Truths are others
than those of `race.py`.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import truths

from polarbear.inference import ModelOptions, infer
from polarbear.rankings import count_choice_sets, rank

FIRST_SEED = 1000  # race.py begins at 0
INSTANCES = (16, 40, 120)
DRAWS = 1000
SURE = 0.9
SETTINGS: dict[str, dict[str, Any]] = {
    "learned": {"smoothing": "learned"},
    "none": {"smoothing": "none"},
    "plain": {"smoothing": "none", "concentration": 1.0},
}
HEAD = (
    "| truth | instances | smoothing | within 95 % intervals | missed: too near to even | "
    "mean width | said with 0.9 or more: right |",
    "|---|---|---|---|---|---|---|",
)


def looked_at(kind: str, instances: int, smoothing: str, seeds: int, stores: Path | None) -> str:
    """One line of the table."""
    inside, widths, said, right, missed, too_even = [], [], 0, 0, 0, 0
    for seed in range(FIRST_SEED, FIRST_SEED + seeds):
        truth = truths.drawn(kind, seed, instances, stores)
        positions = rank(truth.values)
        a, b = np.triu_indices(positions.shape[1], 1)
        true = truth.wins[:, a, b]
        options = ModelOptions(model="empirical", draws=DRAWS, **SETTINGS[smoothing])
        shape = count_choice_sets(positions[:1])  # of which the model only takes the shape
        drawn = infer(shape, truth.unit, options, seed, threads=1, positions=positions).wins
        assert drawn is not None
        low, high = np.quantile(drawn, [0.025, 0.975], axis=0)
        slack = 2 * truth.error
        below, above = high + slack < true, true < low - slack  # where the interval lies
        inside.append(1 - (below | above).mean())
        missed += int((below | above).sum())
        too_even += int(np.where(true > 0.5, below, above).sum())
        widths.append((high - low).mean())
        better = (np.asarray(drawn) > 0.5).mean(axis=0)
        for sure, is_so in ((better >= SURE, true > 0.5), (better <= 1 - SURE, true < 0.5)):
            said += int(sure.sum())
            right += int((sure & is_so).sum())
    error = np.std(inside) / np.sqrt(seeds)
    cover = f"{np.mean(inside):.1%} ± {error:.1%}"
    return (
        f"| {kind} | {instances} | {smoothing} | {cover} | {too_even} of {missed} | "
        f"{np.mean(widths):.3f} | "
        f"{right:,} of {said:,} = {right / max(said, 1):.1%} |"
    )


def lines(seeds: int, stores: Path | None, settings: list[str]) -> Iterator[str]:
    yield from HEAD
    for kind in truths.KINDS + (truths.POPULATIONS if stores else ()):
        for instances in INSTANCES:
            for smoothing in settings:
                yield looked_at(kind, instances, smoothing, seeds, stores)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--truths", type=int, default=20, help="of each kind")
    parser.add_argument("--populations", type=Path, help="as race.py takes them")
    parser.add_argument("--write", type=Path, help="a Markdown file for the table")
    parser.add_argument("--settings", nargs="*", default=list(SETTINGS), choices=SETTINGS)
    args = parser.parse_args()
    found = []
    for line in lines(args.truths, args.populations, args.settings):
        print(line, flush=True)
        found.append(line)
    if args.write:
        args.write.write_text("\n".join(found) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
