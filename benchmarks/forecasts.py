"""Forecasts of races on synthetic truths: how often does the range contain the outcome?

Truths are Plackett-Luce's of benchmarks/truths.py, whose noise is correlated over time in several
degrees. After every round the forecast is stored, and compared with the number of instances that
the race then needed. A race that ends at the limit counts as needing the instances up to it.

    python benchmarks/forecasts.py --races 40 --write benchmarks/results/forecasts.md
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
import truths
from race import DRAWS, LIMIT

from polarbear import racing
from polarbear.inference import ModelOptions, infer, relations
from polarbear.inference.empirical.decisions import decide_by_duels
from polarbear.racing.forecast import forecast
from polarbear.racing.rules import Rules
from polarbear.rankings import rank
from polarbear.rankings.choice_sets import count_choice_sets
from polarbear.rankings.duels import duels_of

CORRELATIONS = ("0", "0.33", "constant")
MODELS = ("dirichlet", "empirical")
PROMISED = 0.8


@dataclass(frozen=True)
class Told:
    """What was told after a round, and what came."""

    model: str
    correlation: str
    seed: int
    round: int
    low: int
    high: int | None
    needed: int
    settled: bool  # before the limit, to which every range is cut

    @property
    def right(self) -> bool:
        return self.low <= self.needed and (self.high is None or self.needed <= self.high)


def told_by_one_race(
    model: str, correlation: str, seed: int, alpha: float = 0.95
) -> tuple[list[Told], int]:
    """Every forecast of one race, and the rounds in which nothing could be told yet."""
    options = ModelOptions(model=model, draws=DRAWS)
    rules = Rules(alpha=alpha).under(options.plackett_luce and options.joint)
    values = truths.drawn(f"pl-{correlation}", seed, LIMIT).values
    names = [f"A{i + 1}" for i in range(values.shape[1])]
    state = racing.start(names, truths.UNIT.tolist(), rules)
    found: list[tuple[int, int, racing.RaceForecast]] = []
    untold = 0
    while state.open_pairs and state.instances < LIMIT:
        last = min(state.instances + state.batch, LIMIT)
        positions = rank(values[:last])
        if options.plackett_luce:
            posterior = infer(
                count_choice_sets(positions),
                truths.UNIT,
                options,
                100_000 * seed + state.round,
                threads=1,
                positions=positions,
            )
            tables = relations.decision_tables(posterior, rules.epsilon, rules.elimination)
        else:
            record = duels_of(positions).record()
            tables = decide_by_duels(record, rules.epsilon, options.concentration)
        state, _ = racing.step(state, rules, last - state.instances, tables)
        if state.open_pairs and state.instances < LIMIT:
            ahead = forecast(state, rules, tables, LIMIT - state.instances, seed + state.round)
            if ahead is None:
                untold += 1
            else:
                found.append((state.round, state.instances, ahead))
    return [
        Told(
            model,
            correlation,
            seed,
            number,
            f.low,
            f.high,
            state.instances - at,
            not state.open_pairs,
        )
        for number, at, f in found
    ], untold


def markdown(told: list[Told], untold: int, count: int) -> str:
    """The share of forecasts that were right, by how they came about."""
    lines = [
        "# Forecasts",
        "",
        f"`python benchmarks/forecasts.py --races {count}`: {count} truths a row, "
        f"{truths.ALGORITHMS} algorithms, {truths.TIMES} times, at most {LIMIT} instances. A "
        "forecast is right if the instances that the race then needed lie in its range; forecasts "
        "of one race repeat each other, so the first of each race has a column of its own. Ranges "
        "end at the limit at the latest, which makes those of races that go there easy; the last "
        "two columns are of races that were settled before. In "
        f"{untold} rounds nothing could be told yet.",
        "",
        "| model | correlation | forecasts | right | first ones right | of settled races | right |",
        "|---|---|---|---|---|---|---|",
    ]
    for kind in [(model, correlation) for model in MODELS for correlation in CORRELATIONS]:
        some = [one for one in told if (one.model, one.correlation) == kind]
        if some:
            lines.append(f"| {kind[0]} | {kind[1]} | {_row(some)} |")
    lines.append(f"| all | all | {_row(told)} |")
    for what, some in (("all", told), ("those of settled races", [t for t in told if t.settled])):
        reached = "yes" if np.mean([t.right for t in some]) >= PROMISED else "no"
        lines += ["", f"At least {PROMISED:.0%} of {what} right: {reached}."]
    return "\n".join(lines) + "\n"


def _row(some: list[Told]) -> str:
    first: dict[Any, Told] = {}
    for one in some:
        first.setdefault((one.model, one.correlation, one.seed), one)
    settled = [one for one in some if one.settled]
    cells = [f"{len(some)}", _share(some), _share(first.values())]
    return " | ".join([*cells, f"{len(settled)}", _share(settled)])


def _share(some: Iterable[Told]) -> str:
    right = [one.right for one in some]
    return f"{np.mean(right):.0%}" if right else "-"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--races", type=int, default=40)
    parser.add_argument("--write", type=Path, help="a Markdown file for the result")
    args = parser.parse_args()
    told: list[Told] = []
    untold = 0
    for seed in range(args.races):
        for model in MODELS:
            for correlation in CORRELATIONS:
                some, silent = told_by_one_race(model, correlation, seed)
                told += some
                untold += silent
        print(f"{seed + 1} of {args.races} truths", file=sys.stderr, flush=True)
    text = markdown(told, untold, args.races)
    print(text)
    if args.write:
        args.write.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
