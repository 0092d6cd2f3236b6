"""Splits of the readable rule: on noise features, and where a rule was planted.

    python benchmarks/features.py [--trials N] [--write FILE]

Each trial has 200 problems, two algorithms at ten times and ten features. On noise, the features
say nothing: how often does the rule split nevertheless? At most 5 % are allowed, and 18 of 200 is
what chance allows then. In planted rules, the win rate of the first algorithm is 0.3 on one side of
a boundary in one of the features and 0.7 on the other: how often is the first split on that
feature, with a boundary that at most 10 % of the problems are between? At least 95 % are expected.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np

from polarbear.inference.feature_models.duel_tree import Branch, grown_tree
from polarbear.inference.feature_models.encoding import encoded

N_PROBLEMS = 200
N_FEATURES = 10
N_TIMES = 10
LOW_RATE = 0.3
HIGH_RATE = 0.7
PERSISTENCE = 0.5  # P(a duel repeats the previous time's)
MAX_MISPLACED = 0.1  # of the problems
BOUNDARIES = (0.25, 0.75)  # quantiles of the feature between which a planted boundary lies


class Trial(NamedTuple):
    """Whether the rule has a split, and whether its first split is the planted one."""

    splits: bool
    is_right: bool


def simulated_leads(rates: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Leads of the first algorithm with win rates[problem]: [problem, time].

    Duels of one problem repeat each other over time.
    """
    wins = rng.random((len(rates), N_TIMES)) < rates[:, np.newaxis]
    for k in range(1, N_TIMES):
        repeats = rng.random(len(rates)) < PERSISTENCE
        wins[repeats, k] = wins[repeats, k - 1]
    return np.where(wins, 1.0, -1.0)


def one_trial(seed: int, is_planted: bool) -> Trial:
    """Grow the rule of simulated problems."""
    rng = np.random.default_rng(seed)
    values = rng.standard_normal((N_PROBLEMS, N_FEATURES))
    rates = np.full(N_PROBLEMS, 0.5)
    planted = int(rng.integers(N_FEATURES))
    boundary = np.quantile(values[:, planted], rng.uniform(*BOUNDARIES))
    if is_planted:
        rates = np.where(values[:, planted] <= boundary, LOW_RATE, HIGH_RATE)
    leads = simulated_leads(rates, rng)
    matrix = encoded({f"feature {k}": values[:, k].tolist() for k in range(N_FEATURES)})
    tree = grown_tree(leads, matrix, seed)
    if not isinstance(tree, Branch):
        return Trial(splits=False, is_right=False)
    of_planted = values[:, planted]
    between = (of_planted > min(boundary, tree.boundary)) & (
        of_planted <= max(boundary, tree.boundary)
    )
    is_right = tree.column.feature == f"feature {planted}" and between.mean() <= MAX_MISPLACED
    return Trial(splits=True, is_right=bool(is_right))


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--trials", type=int, default=200, help="of each kind")
    parser.add_argument("--write", type=Path, help="also write the table to this file")
    options = parser.parse_args()
    noise = [one_trial(seed, is_planted=False) for seed in range(options.trials)]
    planted = [one_trial(seed, is_planted=True) for seed in range(options.trials)]
    n_splits = sum(trial.splits for trial in noise)
    n_right = sum(trial.is_right for trial in planted)
    chance = options.trials * 0.05 + 2.6 * np.sqrt(options.trials * 0.05 * 0.95)
    needed = 0.95 * options.trials
    lines = [
        "| check | trials | result | goal |",
        "|---|---|---|---|",
        f"| noise features: rules with a split | {options.trials} | {n_splits} | "
        f"at most {chance:.0f} |",
        f"| planted rules: first split right | {options.trials} | {n_right} | "
        f"at least {needed:.0f} |",
    ]
    text = "\n".join(lines)
    print(text)
    if options.write is not None:
        title = "# The readable rule\n\nWritten by `python benchmarks/features.py`.\n\n"
        options.write.write_text(f"{title}{text}\n")
    return int(n_splits > chance or n_right < needed)


if __name__ == "__main__":
    sys.exit(main())
