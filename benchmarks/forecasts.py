"""Forecasts of races on synthetic truths: how often does the range contain the outcome?

The truths are the Plackett-Luce ones of benchmarks/truths.py, with noise that is correlated over
time to several degrees. After every round the forecast is stored, and compared with the number of
instances that the race then needed. A race that ends at the limit counts as needing the instances
up to it.

    python benchmarks/forecasts.py --races 40 --write benchmarks/results/forecasts.md
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
import truths
from race import DRAWS, LIMIT

from polarbear import racing
from polarbear.inference import ModelOptions, infer, relations
from polarbear.inference.empirical.decisions import decide_by_duels
from polarbear.racing import forecast as forecasting
from polarbear.racing.rules import Rules
from polarbear.rankings import rank
from polarbear.rankings.choice_sets import count_choice_sets
from polarbear.rankings.duels import duels_of

CORRELATIONS = ("0", "0.33", "constant")
MODELS = ("dirichlet", "empirical")
NOMINAL_COVERAGE = 0.8


@dataclass(frozen=True)
class CheckedForecast:
    """A forecast that was made after a round, and the number of instances that were needed."""

    model: str
    correlation: str
    seed: int
    round: int
    low: int
    high: int | None
    needed: int
    settled: bool  # whether the race ended before the limit, to which every range is cut

    @property
    def is_right(self) -> bool:
        return self.low <= self.needed and (self.high is None or self.needed <= self.high)


def forecasts_of_race(
    model: str, correlation: str, seed: int, alpha: float = 0.95
) -> tuple[list[CheckedForecast], int]:
    """Every forecast of one race, and the number of rounds without a forecast."""
    options = ModelOptions(model=model, draws=DRAWS)
    rules = Rules(alpha=alpha).under(options.plackett_luce and options.joint)
    values = truths.drawn(f"pl-{correlation}", seed, LIMIT).values
    names = [f"A{i + 1}" for i in range(values.shape[1])]
    state = racing.start(names, truths.UNIT.tolist(), rules)
    forecasts: list[tuple[int, int, racing.RaceForecast]] = []  # with the round and its instances
    n_rounds_without = 0
    while state.open_pairs and state.instances < LIMIT:
        n_instances = min(state.instances + state.batch, LIMIT)
        positions = rank(values[:n_instances])
        record = duels_of(positions).record()
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
            tables = decide_by_duels(record, rules.epsilon, options.concentration)
        state, _ = racing.step(state, rules, n_instances - state.instances, tables, record)
        if state.open_pairs and state.instances < LIMIT:
            ahead = forecasting.forecast(
                state, rules, tables, LIMIT - state.instances, seed + state.round
            )
            if ahead is None:
                n_rounds_without += 1
            else:
                forecasts.append((state.round, state.instances, ahead))
    checked_forecasts = [
        CheckedForecast(
            model=model,
            correlation=correlation,
            seed=seed,
            round=number,
            low=ahead.low,
            high=ahead.high,
            needed=state.instances - n_instances,
            settled=not state.open_pairs,
        )
        for number, n_instances, ahead in forecasts
    ]
    return checked_forecasts, n_rounds_without


def markdown(forecasts: list[CheckedForecast], n_rounds_without: int, n_truths: int) -> str:
    """The share of forecasts that were right, by model and correlation."""
    lines = [
        "# Forecasts",
        "",
        f"`python benchmarks/forecasts.py --races {n_truths}`: {n_truths} truths a row, "
        f"{truths.ALGORITHMS} algorithms, {truths.TIMES} times, at most {LIMIT} instances. A "
        "forecast is right if the instances that the race then needed lie in its range; forecasts "
        "of one race repeat each other, so the first of each race has a column of its own. Ranges "
        "end at the limit at the latest, which makes those of races that go there easy; the last "
        "two columns are of races that were settled before. In "
        f"{n_rounds_without} rounds there was no forecast yet.",
        "",
        "| model | correlation | forecasts | right | first ones right | of settled races | right |",
        "|---|---|---|---|---|---|---|",
    ]
    for model in MODELS:
        for correlation in CORRELATIONS:
            subset = [
                forecast
                for forecast in forecasts
                if forecast.model == model and forecast.correlation == correlation
            ]
            if subset:
                lines.append(f"| {model} | {correlation} | {_row(subset)} |")
    lines.append(f"| all | all | {_row(forecasts)} |")
    lines += ["", f"At least {NOMINAL_COVERAGE:.0%} of all right: {_is_reached(forecasts)}."]
    settled_text = _is_reached([forecast for forecast in forecasts if forecast.settled])
    lines += [
        "",
        f"At least {NOMINAL_COVERAGE:.0%} of those of settled races right: {settled_text}.",
    ]
    return "\n".join(lines) + "\n"


def _is_reached(forecasts: list[CheckedForecast]) -> str:
    share = np.mean([forecast.is_right for forecast in forecasts])
    return "yes" if share >= NOMINAL_COVERAGE else "no"


def _row(forecasts: list[CheckedForecast]) -> str:
    first_of_race: dict[tuple[str, str, int], CheckedForecast] = {}
    for forecast in forecasts:
        first_of_race.setdefault((forecast.model, forecast.correlation, forecast.seed), forecast)
    settled = [forecast for forecast in forecasts if forecast.settled]
    cells = [
        f"{len(forecasts)}",
        _share_right(forecasts),
        _share_right(first_of_race.values()),
        f"{len(settled)}",
        _share_right(settled),
    ]
    return " | ".join(cells)


def _share_right(forecasts: Iterable[CheckedForecast]) -> str:
    is_right = [forecast.is_right for forecast in forecasts]
    return f"{np.mean(is_right):.0%}" if is_right else "-"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--races", type=int, default=40)
    parser.add_argument("--write", type=Path, help="a Markdown file for the result")
    args = parser.parse_args()
    forecasts: list[CheckedForecast] = []
    n_rounds_without = 0
    for seed in range(args.races):
        for model in MODELS:
            for correlation in CORRELATIONS:
                race_forecasts, n_without = forecasts_of_race(model, correlation, seed)
                forecasts += race_forecasts
                n_rounds_without += n_without
        print(f"{seed + 1} of {args.races} truths", file=sys.stderr, flush=True)
    text = markdown(forecasts, n_rounds_without, args.races)
    print(text)
    if args.write:
        args.write.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
