"""Calibration of the default's probabilities: intervals, P(best) and P(better).

    python benchmarks/intervals.py [--truths N] [--write FILE]

A new truth is drawn for each data set: Plackett-Luce, a mixture of two kinds of instances, or
normal noise with unequal variances, for 3 to 8 algorithms at one time, with 8 to 120 problems. The
first table has, for each cell, how often the 95 % interval of a win probability, of a share of
first places and of a value (the win rate against the strongest rival) contains the truth. The
second has those of win probabilities above 0.85. The third has, for each range of P(best), how
often the chosen algorithm is the best. Truths are simulated with a standard error of 0.0035.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from itertools import combinations, product
from math import comb
from pathlib import Path

import numpy as np

from polarbear.inference import ModelOptions, infer
from polarbear.inference.model_options import CONCENTRATION
from polarbear.inference.strongest_rival import p_best, rival_values
from polarbear.rankings import rank

N_TRUTH = 20_000  # problems from which the truth is estimated
TRUTH_ERROR = 0.0035  # the largest standard error of a share of that many problems
DRAWS = 1000
PROBLEMS = (8, 16, 40, 120)
ALGORITHMS = (3, 5, 8)
KINDS = ("pl", "mixture", "thurstone")
HIGH_RATE = 0.85  # win probabilities above it are also counted by themselves
ONE_TIME = np.array([0.5])
WINS = "win probabilities"
HIGH_WINS = f"win probabilities above {HIGH_RATE}"
FIRSTS = "shares of firsts"
VALUES = "values"
RANGES = ((0.5, 0.6), (0.6, 0.7), (0.7, 0.8), (0.8, 0.9), (0.9, 1.0))

Sampler = Callable[[int, np.random.Generator], np.ndarray]


def truth_of(kind: str, n: int, rng: np.random.Generator) -> Sampler:
    """A sampler of values[problem, algorithm], smaller is better."""
    spread = rng.lognormal(0, 0.5)
    kinds = spread * rng.standard_normal((2 if kind == "mixture" else 1, n))
    scale = np.exp(rng.normal(0, 0.8, n)) if kind == "thurstone" else np.ones(n)

    def draw(size: int, noise: np.random.Generator) -> np.ndarray:
        if kind == "thurstone":
            deviations = noise.standard_normal((size, n))
        else:
            deviations = noise.gumbel(size=(size, n))
        ratings = kinds[(noise.random(size) < 0.4).astype(int) % len(kinds)]
        return -(ratings + scale * deviations)

    return draw


def wins_of(values: np.ndarray) -> np.ndarray:
    """The share of problems on which a beats b: [a, b].

    The diagonal is 1, so that a minimum over rivals ignores it.
    """
    shares = (values[:, :, None] < values[:, None, :]).mean(axis=0)
    np.fill_diagonal(shares, 1)
    return np.asarray(shares)


class Tally:
    """The outcomes of some truths.

    ``hits`` are whether each interval contains the truth, those of win probabilities above
    HIGH_RATE (or below its complement) also by themselves; ``choices`` are P(best) of each chosen
    algorithm, and whether it is the best.
    """

    def __init__(self) -> None:
        self.hits: dict[str, list[bool]] = {name: [] for name in (WINS, HIGH_WINS, FIRSTS, VALUES)}
        self.choices: list[tuple[float, bool]] = []

    def add(self, kind: str, n: int, problems: int, seed: int, concentration: float) -> None:
        rng = np.random.default_rng([seed, n, problems])
        draw = truth_of(kind, n, rng)
        truth_sample = draw(N_TRUTH, rng)
        true_wins = wins_of(truth_sample)
        true_firsts = np.bincount(truth_sample.argmin(axis=1), minlength=n) / N_TRUTH
        true_values = true_wins.min(axis=1)
        options = ModelOptions(draws=DRAWS, concentration=concentration)
        positions = rank(draw(problems, rng)[:, :, None])
        posterior = infer(None, ONE_TIME, options, seed, positions=positions)
        for a, b in combinations(range(n), 2):
            interval = posterior.win_interval(a, b)[:, 0]
            is_hit = contains(interval, true_wins[a, b])
            self.hits[WINS].append(is_hit)
            if abs(true_wins[a, b] - 0.5) > HIGH_RATE - 0.5:
                self.hits[HIGH_WINS].append(is_hit)
        values = rival_values(posterior, range(n), np.asarray)[:, 0]
        intervals_of_firsts = posterior.interval()[:, 0]
        intervals_of_values = np.quantile(values, [0.025, 0.975], axis=0)
        for i in range(n):
            self.hits[FIRSTS].append(contains(intervals_of_firsts[:, i], true_firsts[i]))
            self.hits[VALUES].append(contains(intervals_of_values[:, i], true_values[i]))
        probabilities = p_best(values)
        choice = int(probabilities.argmax())
        is_best = choice == int(true_values.argmax())
        self.choices.append((float(probabilities[choice]), is_best))

    def include(self, other: Tally) -> None:
        """Add the outcomes of other truths."""
        self.choices += other.choices
        for name, hits in other.hits.items():
            self.hits[name] += hits

    def coverage(self, name: str) -> float:
        """The share of intervals that contain the truth."""
        return float(np.mean(self.hits[name]))

    def row(self) -> str:
        return " | ".join(f"{self.coverage(name):.1%}" for name in (WINS, FIRSTS, VALUES))


def contains(interval: np.ndarray, truth: float) -> bool:
    """Whether an interval contains a truth that is known up to its error."""
    low, high = interval
    return bool(low - TRUTH_ERROR <= truth <= high + TRUTH_ERROR)


def tallies(truths: int, concentration: float) -> Iterator[tuple[str, int, int, Tally]]:
    """The outcomes of each cell: its kind, its numbers of algorithms and of problems.

    Cells with fewer algorithms have more truths, so that all have about as many pairs.
    """
    most_pairs = comb(max(ALGORITHMS), 2)
    for kind, n, problems in product(KINDS, ALGORITHMS, PROBLEMS):
        tally = Tally()
        for seed in range(truths * most_pairs // comb(n, 2)):
            tally.add(kind, n, problems, seed, concentration)
        yield kind, n, problems, tally


def lines(truths: int, concentration: float) -> Iterator[str]:
    """The tables."""
    yield f"| truth | algorithms | problems | {WINS} | {FIRSTS} | {VALUES} |"
    yield "|---|---|---|---|---|---|"
    total = Tally()
    by_problems = {cell: Tally() for cell in product(KINDS, PROBLEMS)}
    for kind, n, problems, tally in tallies(truths, concentration):
        yield f"| {kind} | {n} | {problems} | {tally.row()} |"
        total.include(tally)
        by_problems[kind, problems].include(tally)
    yield f"| all | | | {total.row()} |"
    yield ""
    yield f"| truth | problems | {HIGH_WINS} | intervals |"
    yield "|---|---|---|---|"
    for (kind, problems), tally in by_problems.items():
        n_intervals = len(tally.hits[HIGH_WINS])
        yield f"| {kind} | {problems} | {tally.coverage(HIGH_WINS):.1%} | {n_intervals:,} |"
    yield f"| all | | {total.coverage(HIGH_WINS):.1%} | {len(total.hits[HIGH_WINS]):,} |"
    yield ""
    yield "| P(best) is said to be | times | said on average | the choice is the best |"
    yield "|---|---|---|---|"
    probabilities, are_best = np.array(total.choices).T
    for low, high in RANGES:
        in_range = (probabilities >= low) & (probabilities < high)
        if in_range.any():
            yield (
                f"| {low:g} to {high:g} | {in_range.sum()} | "
                f"{probabilities[in_range].mean():.3f} | {are_best[in_range].mean():.3f} |"
            )


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument(
        "--truths", type=int, default=60, help="number of each cell with 8 algorithms"
    )
    parser.add_argument("--concentration", type=float, default=CONCENTRATION)
    parser.add_argument("--write", type=Path, help="a Markdown file for the tables")
    args = parser.parse_args()
    text = (
        "# Calibration of the default model\n\n"
        f"`python benchmarks/intervals.py --truths {args.truths}` describes truths and columns: "
        f"{args.truths} truths a cell with {max(ALGORITHMS)} algorithms, more with fewer, so that "
        f"a cell has about {args.truths * comb(max(ALGORITHMS), 2)} pairs. Intervals of one truth "
        "repeat each other, so errors of a row are larger than those of as many coins.\n\n"
    )
    for line in lines(args.truths, args.concentration):
        print(line, flush=True)
        text += f"{line}\n"
    if args.write:
        args.write.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
