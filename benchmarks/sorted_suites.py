"""Races on suites whose problems are sorted by kind: in the order of a suite, and shuffled.

    python benchmarks/sorted_suites.py [--races 100] [--seed 1] [--output FILE]

The problems are of three kinds, one after the other, and each of three algorithms is the best on
one of them, so that none beats another one on most problems of the whole suite: an elimination is
wrong. The suite is used in its own order (`order: given`), and in the default one.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from replay import by_duels, replay

from polarbear.facts.order_drift import drift
from polarbear.problems import Setting
from polarbear.problems.instance_files import Files
from polarbear.racing.rules import Rules
from polarbear.rankings import rank
from polarbear.settings.grid import Budget

NAMES = ("a", "b", "c")
TIMES = np.array([10.0, 100.0, 1000.0])
PER_KIND = 40
GAP = 2.0  # by which the best algorithm of a kind is ahead, in standard deviations of its values


def population(rng: np.random.Generator) -> np.ndarray:
    """values[problem, algorithm, time] of problems sorted by kind; smaller is better."""
    n_problems = PER_KIND * len(NAMES)
    noise = rng.standard_normal((n_problems, len(NAMES), 1))
    values = noise + 0.5 * rng.standard_normal((n_problems, len(NAMES), len(TIMES)))
    kinds = np.repeat(np.arange(len(NAMES)), PER_KIND)
    values[np.arange(n_problems), kinds] -= GAP
    return values


def order_of(suite_order: str, n_problems: int, seed: int) -> list[int]:
    """The order in which a race uses the problems of a suite of files."""
    names = tuple(f"{number:04}" for number in range(n_problems))
    suite = Files.model_validate({"suite": "files", "names": names, "order": suite_order})
    setting = Setting(seed, Budget(grid=tuple(TIMES.tolist())))
    return [int(name) for name in suite.all_names(setting)]


def is_wrong(values: np.ndarray) -> bool:
    """Whether a race by default rules eliminates an algorithm."""
    rules = Rules(alpha=0.95).under(temporal=False)
    raced = replay(values, NAMES, TIMES, rules, by_duels(rules), heeds_duels=True)
    return len(raced.state.candidates) < len(NAMES)


def has_drift(values: np.ndarray, seed: int) -> bool:
    """Whether the first half of the problems is found to differ from the second."""
    positions = rank(values, np.ones(values.shape, dtype=bool))
    return drift(positions, NAMES, TIMES, seed) is not None


def measure(races: int, seed: int) -> dict[str, tuple[int, int]]:
    """For each order, the numbers of races with a wrong elimination, and with a drift found."""
    counts = {}
    for suite_order in ("given", "random"):
        n_wrong = 0
        n_drifting = 0
        for race in range(races):
            values = population(np.random.default_rng([seed, race]))
            ordered = values[order_of(suite_order, len(values), seed=race)]
            n_wrong += is_wrong(ordered)
            n_drifting += has_drift(ordered, seed=race)
        counts[suite_order] = (n_wrong, n_drifting)
    return counts


def as_markdown(counts: dict[str, tuple[int, int]], races: int) -> str:
    lines = [
        "# Suites that are sorted by kind",
        "",
        f"`python benchmarks/sorted_suites.py --races {races}`: {races} races on "
        f"{PER_KIND * len(NAMES)} problems of {len(NAMES)} kinds, one after the other.",
        "",
        "| order of the suite | races with a wrong elimination | drift found on all problems |",
        "|---|---|---|",
    ]
    for suite_order, (n_wrong, n_drifting) in counts.items():
        label = "as given" if suite_order == "given" else "shuffled by the seed (default)"
        lines.append(f"| {label} | {n_wrong} | {n_drifting} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--races", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    text = as_markdown(measure(options.races, options.seed), options.races)
    print(text)
    if options.output is not None:
        options.output.write_text(text)


if __name__ == "__main__":
    main()
