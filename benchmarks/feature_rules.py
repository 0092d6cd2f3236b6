"""Splits of the readable rule, and P(best) of choices by features.

    python benchmarks/feature_rules.py [--trials N] [--truths N] [--write FILE]

Each trial of a rule has 200 problems, two algorithms at ten times and ten features. On noise, the
features say nothing: how often does the rule split nevertheless? At most 5 % are allowed, and 18 of
200 is what chance allows then. In planted rules, the win rate of the first algorithm is 0.3 on one
side of a boundary in one of the features and 0.7 on the other: how often is the first split on that
feature, with a boundary that at most 10 % of the problems are between? At least 95 % are expected.

Each trial of a choice draws a truth: four algorithms whose values are normal with a mean that
changes with two of four features, linearly or by a step. An algorithm is chosen for five new
instances by the forest of 200 problems. For each range of P(best), how often is the chosen
algorithm the one with the highest win rate against its strongest rival at these features? The share
is expected within 0.05 plus two standard errors of P(best) in each range with at least 100 cases.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np

from polarbear.inference import ModelOptions, infer
from polarbear.inference.feature_models.duel_tables import (
    duel_table,
    rivals_beaten,
    scores_at_some_times,
)
from polarbear.inference.feature_models.duel_tree import Branch, grown_tree
from polarbear.inference.feature_models.encoding import encoded
from polarbear.inference.feature_models.forest import counted_weights, fitted_forest
from polarbear.inference.strongest_rival import p_best, rival_values
from polarbear.rankings.duels import duels_of

N_PROBLEMS = 200
N_FEATURES = 10
N_TIMES = 10
LOW_RATE = 0.3
HIGH_RATE = 0.7
PERSISTENCE = 0.5  # P(a duel repeats the previous time's)
MAX_MISPLACED = 0.1  # of the problems
BOUNDARIES = (0.25, 0.75)  # quantiles of the feature between which a planted boundary lies


N_ALGORITHMS = 4
N_NEW = 5  # instances for which an algorithm is chosen
TREND = 0.6  # standard deviation of the slopes of the means
DRAWS = 1000
RANGES = ((0.25, 0.4), (0.4, 0.5), (0.5, 0.6), (0.6, 0.7), (0.7, 0.8), (0.8, 0.9), (0.9, 1.01))


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


class Choice(NamedTuple):
    """P(best) of an algorithm chosen by features, and whether it is the best there."""

    p_best: float
    is_best: bool


def choices_on_a_truth(seed: int) -> list[Choice]:
    """Choose for new instances of a simulated truth."""
    rng = np.random.default_rng(seed)
    slopes = rng.normal(0, TREND, (2, N_ALGORITHMS))
    is_step = rng.random() < 0.5

    def means(features: np.ndarray) -> np.ndarray:
        shape = (features[:, :2] > 0).astype(float) if is_step else features[:, :2]
        return np.asarray(shape @ slopes)

    features = rng.standard_normal((N_PROBLEMS, 4))
    values = means(features) + rng.standard_normal((N_PROBLEMS, N_ALGORITHMS))
    positions = values[:, :, np.newaxis].argsort(axis=1).argsort(axis=1)
    evidence = positions.astype(np.int16)
    names = [f"problem {k}" for k in range(N_PROBLEMS)]
    duels = duels_of(evidence, names)
    matrix = encoded({f"feature {k}": features[:, k] for k in range(4)})
    scores = scores_at_some_times(rivals_beaten(duel_table(duels)))
    forest = fitted_forest(scores, matrix, names, seed)
    choices = []
    for new in rng.standard_normal((N_NEW, 4)):
        weights = counted_weights(forest.weights_of_row(new))
        has_weight = weights > 0
        posterior = infer(
            None,
            np.array([0.5]),
            ModelOptions(draws=DRAWS),
            seed,
            positions=evidence[has_weight],
            problems=[name for name, used in zip(names, has_weight, strict=True) if used],
            weights=weights[has_weight],
        )
        items = range(N_ALGORITHMS)
        probabilities = p_best(rival_values(posterior, items, np.asarray)[:, 0])
        chosen = int(probabilities.argmax())
        # With equal variances, the lowest mean wins most duels with every rival.
        best = int(means(new[np.newaxis])[0].argmin())
        choices.append(Choice(float(probabilities[chosen]), chosen == best))
    return choices


def calibration(choices: list[Choice]) -> tuple[list[str], bool]:
    """The rows of a table of ranges of P(best), and whether all of them are as expected."""
    rows = [
        "| P(best) of the choice | cases | mean | is the best | as expected |",
        "|---|---|---|---|---|",
    ]
    all_hold = True
    for low, high in RANGES:
        inside = [choice for choice in choices if low <= choice.p_best < high]
        if not inside:
            continue
        mean = float(np.mean([choice.p_best for choice in inside]))
        share = float(np.mean([choice.is_best for choice in inside]))
        error = float(np.sqrt(max(share * (1 - share), 0.25 / len(inside)) / len(inside)))
        holds = len(inside) < 100 or abs(share - mean) <= 0.05 + 2 * error
        all_hold &= holds
        words = "yes" if holds else "no"
        rows.append(
            f"| {low:g} to {min(high, 1):g} | {len(inside)} | {mean:.3f} | {share:.3f} | {words} |"
        )
    return rows, all_hold


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--trials", type=int, default=200, help="of each kind of rule")
    parser.add_argument("--truths", type=int, default=60, help="on which choices are made")
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
    choices = [choice for seed in range(options.truths) for choice in choices_on_a_truth(seed)]
    table, is_calibrated = calibration(choices)
    text = "\n".join([*lines, "", *table])
    print(text)
    if options.write is not None:
        title = "# The readable rule, and choices by features\n\n"
        title += "Written by `python benchmarks/feature_rules.py`.\n\n"
        options.write.write_text(f"{title}{text}\n")
    return int(n_splits > chance or n_right < needed or not is_calibrated)


if __name__ == "__main__":
    sys.exit(main())
