"""Whether the default's probabilities are calibrated: intervals, P(best) and P(better).

    python benchmarks/intervals.py [--truths N] [--write FILE]

Truths are drawn afresh for each data set: Plackett-Luce, mixtures of two kinds of instances and
normal noise with unequal variances, for 3 to 8 algorithms at one time, with 8 to 120 problems. For
each cell: how often the 95 % interval of a win probability, of a share of first places and of a
value (the win rate against the strongest rival) contains the truth; and, where P(best) is said to
be within a range, how often the choice is the best. Truths by simulation are known to 0.0035.
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

MANY = 20_000  # problems that show the truth
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
        drawn = (
            noise.standard_normal((size, n))
            if kind == "thurstone"
            else noise.gumbel(size=(size, n))
        )
        of = kinds[(noise.random(size) < 0.4).astype(int) % len(kinds)]
        return -(of + scale * drawn)

    return draw


def wins_of(values: np.ndarray) -> np.ndarray:
    """On which share of problems a beats b: [a, b]; 1 with itself, so that a minimum skips it."""
    found = (values[:, :, None] < values[:, None, :]).mean(axis=0)
    np.fill_diagonal(found, 1)
    return np.asarray(found)


class Tally:
    """Hits and trials of one cell."""

    def __init__(self) -> None:
        self.hits: dict[str, list[bool]] = {"wins": [], "firsts": [], "values": []}
        self.said: list[tuple[float, bool]] = []

    def add(self, kind: str, n: int, problems: int, seed: int, concentration: float) -> None:
        rng = np.random.default_rng([seed, n, problems])
        draw = truth_of(kind, n, rng)
        many = draw(MANY, rng)
        true = wins_of(many)
        first = np.bincount(many.argmin(axis=1), minlength=n) / MANY
        value = true.min(axis=1)
        positions = rank(draw(problems, rng)[:, :, None])
        names = [f"A{i}" for i in range(n)]
        bootstrap = Bootstrap(duels_of(positions), names, DRAWS, seed, concentration)
        wins, firsts = bootstrap.wins()[:, 0], bootstrap.firsts()[:, 0]
        a, b = np.triu_indices(n, 1)
        table = np.ones((DRAWS, n, n))
        table[:, a, b], table[:, b, a] = wins, 1 - wins
        values = table.min(axis=2)
        for name, draws, truth in (
            ("wins", wins, true[a, b]),
            ("firsts", firsts, first),
            ("values", values, value),
        ):
            low, high = np.quantile(draws, [0.025, 0.975], axis=0)
            slack = 0.0035
            self.hits[name] += ((low - slack <= truth) & (truth <= high + slack)).tolist()
        likely = p_best(values)
        choice = int(likely.argmax())
        self.said.append((float(likely[choice]), choice == int(value.argmax())))


def lines(truths: int, concentration: float) -> Iterator[str]:
    yield "| truth | algorithms | problems | win probabilities | shares of firsts | values |"
    yield "|---|---|---|---|---|---|"
    every = Tally()
    for kind in ("pl", "mixture", "thurstone"):
        for n in ALGORITHMS:
            for problems in PROBLEMS:
                tally = Tally()
                for seed in range(truths):
                    tally.add(kind, n, problems, seed, concentration)
                shares = " | ".join(f"{np.mean(tally.hits[name]):.1%}" for name in tally.hits)
                yield f"| {kind} | {n} | {problems} | {shares} |"
                every.said += tally.said
                for name, hits in tally.hits.items():
                    every.hits[name] += hits
    shares = " | ".join(f"{np.mean(every.hits[name]):.1%}" for name in every.hits)
    yield f"| all | | | {shares} |"
    yield ""
    yield "| P(best) is said to be | times | said on average | the choice is the best |"
    yield "|---|---|---|---|"
    said, right = np.array(every.said).T
    for low, high in RANGES:
        here = (said >= low) & (said < high)
        if here.any():
            yield (
                f"| {low:g} to {high:g} | {here.sum()} | {said[here].mean():.3f} | "
                f"{right[here].mean():.3f} |"
            )


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--truths", type=int, default=100, help="of each cell")
    parser.add_argument("--concentration", type=float, default=CONCENTRATION)
    parser.add_argument("--write", type=Path, help="a Markdown file for the tables")
    args = parser.parse_args()
    found = []
    for line in lines(args.truths, args.concentration):
        print(line, flush=True)
        found.append(line)
    if args.write:
        args.write.write_text("\n".join(found) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
