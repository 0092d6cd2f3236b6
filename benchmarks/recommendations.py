"""Whether default races that end settled recommend where one algorithm is likely the best.

    python benchmarks/recommendations.py [--races 100] [--output FILE]

Races on truths of ten kinds (see `truths.py`), until every question is answered or all problems are
used. Counted are races that end settled and have a time at which an algorithm has P(best) >= 0.9,
but is not recommended there.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import NamedTuple

import numpy as np
from replay import Choices, by_duels, replay
from truths import Truth, drawn

from polarbear import racing as race
from polarbear.inference import Posterior, infer
from polarbear.inference.model_options import ModelOptions
from polarbear.inference.strongest_rival import p_best_at_each_time
from polarbear.racing.recommendation import SURE, Grade, advise
from polarbear.racing.rules import Rules
from polarbear.rankings import rank
from polarbear.rankings.duels import fewest_shared

KINDS = (
    "pl-0.33",
    "mixture-0.33",
    "clones-0.33",
    "thurstone-0.33",
    "window1of20_0.8-0.33",
    "late-0.33",
    "evenstart-0.33",
    "floor-0.33",
    "fivekinds-0.33",
    "even-0.33",
)
MOST_PROBLEMS = 200
DRAWS = 1000


class Ended(NamedTuple):
    """How a race ended: settled or not, and the times at which it recommends too little."""

    is_settled: bool
    silent_times: int


def raced(truth: Truth, seed: int) -> Ended:
    """A default race on a truth."""
    names = [f"a{number}" for number in range(truth.values.shape[1])]
    times = truth.unit + 1.0
    rules = Rules().under(temporal=False)

    def posterior_of(positions: np.ndarray) -> Posterior:
        options = ModelOptions(draws=DRAWS)
        return infer(
            None,
            truth.unit,
            options,
            seed,
            threads=1,
            names=names,
            positions=positions,
            times=times,
        )

    replayed = replay(
        truth.values,
        names,
        times,
        rules,
        by_duels(rules),
        heeds_duels=True,
        choices=Choices(posterior_of),
    )
    state = replayed.state
    is_settled = not race.open_questions(state)
    if len(state.candidates) == 1 or not is_settled:
        return Ended(is_settled, silent_times=0)
    posterior = posterior_of(rank(truth.values[: len(replayed.present)], replayed.present))
    items = [names.index(name) for name in state.candidates]
    p_best = p_best_at_each_time(posterior, items)
    shared = replayed.duels.record().shared
    advice = advise(state.candidates, times, p_best, fewest_shared(shared, names, state.candidates))
    n_silent = 0
    for t, p_best_at_time in zip(times, p_best, strict=True):
        leader = state.candidates[int(p_best_at_time.argmax())]
        span = next(span for span in advice.spans if span.start <= t <= span.stop)
        is_recommended = advice.grade is not Grade.EARLY and span.algorithms[0] == leader
        n_silent += bool(p_best_at_time.max() >= SURE and not is_recommended)
    return Ended(is_settled, n_silent)


def as_markdown(races: int) -> str:
    lines = [
        "# Recommendations of races that end settled",
        "",
        f"`python benchmarks/recommendations.py --races {races}`: {races} default races a kind, on "
        f"at most {MOST_PROBLEMS} problems. In the last column an algorithm has P(best) >= {SURE} "
        "at some time and is not recommended there.",
        "",
        "| truth | settled | settled, not recommended |",
        "|---|---|---|",
    ]
    for kind in KINDS:
        ends = [raced(drawn(kind, seed, MOST_PROBLEMS), seed) for seed in range(races)]
        n_settled = sum(end.is_settled for end in ends)
        n_silent = sum(end.silent_times > 0 for end in ends)
        lines.append(f"| {kind} | {n_settled} | {n_silent} |")
        print(lines[-1], flush=True)
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--races", type=int, default=100)
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    text = as_markdown(options.races)
    if options.output is not None:
        options.output.write_text(text)


if __name__ == "__main__":
    main()
