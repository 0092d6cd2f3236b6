"""Calibration of the default's probabilities: intervals, P(best) and P(better).

    python benchmarks/intervals.py [--truths N] [--write FILE]

A new truth is drawn for each data set: Plackett-Luce, a mixture of two kinds of instances, or
normal noise with unequal variances, for 3 to 8 algorithms at one time, with 8 to 120 problems. The
first table has, for each cell, how often the 95 % interval of a win probability, of a share of
first places and of a value (the win rate against the strongest rival) contains the truth. The
second has, for each range of P(best), how often the chosen algorithm is the best. Truths are
simulated with a standard error of 0.0035.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from polarbear.inference.empirical.bootstrap import Bootstrap
from polarbear.inference.model_options import CONCENTRATION
from polarbear.inference.strongest_rival import p_best
from polarbear.rankings import rank
from polarbear.rankings.duels import duels_of

N_TRUTH = 20_000  # problems from which the truth is estimated
TRUTH_ERROR = 0.0035  # the largest standard error of a share of that many problems
DRAWS = 1000
PROBLEMS = (8, 16, 40, 120)
ALGORITHMS = (3, 5, 8)
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
    """The outcomes of one cell.

    ``hits`` are whether each interval contains the truth; ``choices`` are P(best) of each chosen
    algorithm, and whether it is the best.
    """

    def __init__(self) -> None:
        self.hits: dict[str, list[bool]] = {"wins": [], "firsts": [], "values": []}
        self.choices: list[tuple[float, bool]] = []

    def add(self, kind: str, n: int, problems: int, seed: int, concentration: float) -> None:
        rng = np.random.default_rng([seed, n, problems])
        draw = truth_of(kind, n, rng)
        truth_sample = draw(N_TRUTH, rng)
        true_wins = wins_of(truth_sample)
        true_firsts = np.bincount(truth_sample.argmin(axis=1), minlength=n) / N_TRUTH
        true_values = true_wins.min(axis=1)
        positions = rank(draw(problems, rng)[:, :, None])
        names = [f"A{i}" for i in range(n)]
        bootstrap = Bootstrap(duels_of(positions), names, DRAWS, seed, concentration)
        wins = bootstrap.wins()[:, 0]
        firsts = bootstrap.firsts()[:, 0]
        a, b = np.triu_indices(n, 1)
        table = np.ones((DRAWS, n, n))
        table[:, a, b] = wins
        table[:, b, a] = 1 - wins
        values = table.min(axis=2)
        for name, draws, truth in (
            ("wins", wins, true_wins[a, b]),
            ("firsts", firsts, true_firsts),
            ("values", values, true_values),
        ):
            low, high = np.quantile(draws, [0.025, 0.975], axis=0)
            above_low = low - TRUTH_ERROR <= truth
            below_high = truth <= high + TRUTH_ERROR
            self.hits[name] += (above_low & below_high).tolist()
        probabilities = p_best(values)
        choice = int(probabilities.argmax())
        is_best = choice == int(true_values.argmax())
        self.choices.append((float(probabilities[choice]), is_best))


def lines(truths: int, concentration: float) -> Iterator[str]:
    yield "| truth | algorithms | problems | win probabilities | shares of firsts | values |"
    yield "|---|---|---|---|---|---|"
    total = Tally()
    for kind in ("pl", "mixture", "thurstone"):
        for n in ALGORITHMS:
            for problems in PROBLEMS:
                tally = Tally()
                for seed in range(truths):
                    tally.add(kind, n, problems, seed, concentration)
                shares = " | ".join(f"{np.mean(tally.hits[name]):.1%}" for name in tally.hits)
                yield f"| {kind} | {n} | {problems} | {shares} |"
                total.choices += tally.choices
                for name, hits in tally.hits.items():
                    total.hits[name] += hits
    shares = " | ".join(f"{np.mean(total.hits[name]):.1%}" for name in total.hits)
    yield f"| all | | | {shares} |"
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
    parser.add_argument("--truths", type=int, default=100, help="number of each cell")
    parser.add_argument("--concentration", type=float, default=CONCENTRATION)
    parser.add_argument("--write", type=Path, help="a Markdown file for the tables")
    args = parser.parse_args()
    text = ""
    for line in lines(args.truths, args.concentration):
        print(line, flush=True)
        text += f"{line}\n"
    if args.write:
        args.write.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
