"""The paper's first case study: three known truths, raced on again and again.

The paper shows one race on each of three truths. Here each is raced on with many seeds, by

- ``paper``: the model of its configuration (GP, Hilbert-space GP, sparse GP), every ranking counted
  in full, joint elimination, crossing resolution, ratings alone deciding: as the paper has it;
- ``default``: what PolarBear does if nothing is said: duels (`model: empirical`);
- ``configured``: `polarbear race configs/synthetic-N.yaml`: the paper's model, with rankings of one
  instance counted for less where they repeat each other, and duels heeded. Only with --ways.

All ways of one seed race on the same rankings. What is recorded: who was left, whether that is the
truth's Pareto set, wrong eliminations, rounds, instances, evaluations, and how often the true head-
to-head win probabilities lie within the final posterior's 95 % intervals.

    python studies/synthetic.py                  50 seeds, some two hours of one core
    python studies/synthetic.py --seeds 3 --examples 1    a minute
"""

from __future__ import annotations

import argparse
import sys
from functools import cache
from pathlib import Path

import bound
import numpy as np
from common import (
    RESULTS,
    ROOT,
    Claims,
    Lines,
    Row,
    deadline,
    markdown,
    middle,
    most_frequent,
    told,
    write_csv,
)
from ways import Way, by_default, duel_draws, raced

from polarbear.config.configuration import Config, load
from polarbear.inference import ModelOptions

EXAMPLES = (1, 2, 3)
WAYS = ("default", "paper")
LIMIT = 1000  # instances at which a replay ends; the paper's longest took 328
PAPER = {
    1: {"set": "AB", "rounds": 9, "instances": 328},
    2: {"set": "A", "rounds": 3, "instances": 32},
    3: {"set": "ACDGHJ", "rounds": 9, "instances": 280},
}
SHOWN = 50  # points of a drawn curve, at most


@cache
def configured(example: int) -> Config:
    return load(ROOT / "configs" / f"synthetic-{example}.yaml")


def way_of(name: str, example: int) -> Way:
    config = configured(example)
    if name == "default":
        return Way.of(name, ModelOptions(), by_default(config.race))
    if name == "paper":
        options = config.inference.model_copy(update={"dependence": "independent"})
        return Way.of(name, options, config.race)
    return Way.of(name, config.inference, config.race, heeds_duels=True)


def log_ratings(example: int) -> np.ndarray:
    """The truth: mu[time, algorithm]."""
    config = configured(example)
    return np.log(config.instances.truth(config.setting))  # type: ignore[attr-defined]


def true_duels(example: int) -> bound.Duels:
    mu = log_ratings(example)
    return bound.Duels(1 / (1 + np.exp(mu[:, None, :] - mu[:, :, None])))


def drawn_values(example: int, seed: int, size: int = LIMIT) -> np.ndarray:
    """Values whose ranking at each time is Plackett-Luce with the true ratings; smaller is better.

    The first instances do not depend on how many are drawn.
    """
    mu = log_ratings(example)
    values = np.empty((size, *mu.T.shape))
    for index in range(size):
        rng = np.random.default_rng([seed, example, index])
        values[index] = -mu.T - rng.gumbel(size=mu.T.shape)
    return values


def letters(names: tuple[str, ...]) -> str:
    return "".join(sorted(names))


def one_race(task: Row) -> Row:
    """A race, and what is true of it."""
    example = task["example"]
    seed = task["seed"]
    config = configured(example)
    names = config.setting.algorithms
    budget = config.budget
    values = drawn_values(example, seed)
    duels = true_duels(example)
    strategy = way_of(task["way"], example)
    replayed = raced(strategy, values, names, budget.times, budget.unit_times, seed)
    state = replayed.state
    pareto = {names[i] for i in duels.pareto}
    out = [(names.index(e.algorithm), names.index(e.by)) for e in state.eliminated]
    n_seen = len(replayed.present)
    draws = duel_draws(strategy, values[:n_seen], replayed.present, budget.unit_times, seed)
    low, high = np.quantile(draws, [0.025, 0.975], axis=0)
    a, b = np.triu_indices(len(names), 1)
    truth = duels.won[:, a, b]
    last = [letters(turn.candidates) for turn in replayed.rounds]
    right = "".join(sorted(pareto))
    since = next((k for k in range(len(last)) if set(last[k:]) == {right}), None)
    return {
        "left": last[-1],
        "right": last[-1] == right,
        "kept": len(pareto & set(state.candidates)),
        "members": len(pareto),
        "eliminated": [
            {"who": e.algorithm, "by": e.by, "round": e.round, "instances": e.instances}
            for e in state.eliminated
        ],
        "wrong": sum(not duels.better[by, who] for who, by in out),
        "resolved": not state.open_pairs,
        "rounds": state.round,
        "instances": state.instances,
        "evaluations": replayed.rounds[-1].spent,
        "until_right": None if since is None else replayed.rounds[since].spent,
        "covered": float(((low <= truth) & (truth <= high)).mean()),
    }


def summary(rows: list[Row], examples: tuple[int, ...], ways: tuple[str, ...]) -> list[Row]:
    lines = []
    for example in examples:
        config = configured(example)
        for name in ways:
            races = [row for row in rows if row["example"] == example and row["way"] == name]
            if not races:
                continue
            rules = way_of(name, example).rules
            least = bound.bound(
                true_duels(example),
                config.budget.times,
                rules.alpha,
                rules.epsilon,
                rules.resolution,
            )
            often, times = most_frequent([row["left"] for row in races])
            evaluations = [row["evaluations"] for row in races]
            lines.append(
                {
                    "example": example,
                    "way": name,
                    "races": len(races),
                    "most frequent set": f"{often} ({times})",
                    "paper's set": sum(row["left"] == PAPER[example]["set"] for row in races),
                    "right": sum(row["right"] for row in races),
                    "members kept": f"{sum(r['kept'] for r in races)}/"
                    f"{sum(r['members'] for r in races)}",
                    "wrong eliminations": f"{sum(row['wrong'] for row in races)}/"
                    f"{sum(len(row['eliminated']) for row in races)}",
                    "rounds": middle([row["rounds"] for row in races]),
                    "instances": middle([row["instances"] for row in races]),
                    "evaluations": middle(evaluations),
                    "information bound": least.spent,
                    "median / bound": float(np.median(evaluations)) / least.spent,
                    "within 95 % intervals": float(np.mean([row["covered"] for row in races])),
                }
            )
    return lines


def curves(example: int, seed: int, ways: tuple[str, ...]) -> list[Row]:
    """The truth over the final posterior of one race: duels of the members with everybody."""
    config = configured(example)
    names = config.setting.algorithms
    budget = config.budget
    duels = true_duels(example)
    values = drawn_values(example, seed)
    picked = np.unique(np.linspace(0, len(budget.times) - 1, SHOWN).astype(int))
    rows = []
    for name in ways:
        strategy = way_of(name, example)
        replayed = raced(strategy, values, names, budget.times, budget.unit_times, seed)
        n_seen = len(replayed.present)
        draws = duel_draws(strategy, values[:n_seen], replayed.present, budget.unit_times, seed)
        low, middle_, high = np.quantile(draws, [0.025, 0.5, 0.975], axis=0)
        for pair, (a, b) in enumerate(zip(*np.triu_indices(len(names), 1), strict=True)):
            if a != duels.pareto[0]:
                continue
            for t in picked:
                rows.append(
                    {
                        "example": example,
                        "way": name,
                        "a": names[a],
                        "b": names[b],
                        "t": float(budget.times[t]),
                        "truth": float(duels.won[t, a, b]),
                        "low": float(low[t, pair]),
                        "median": float(middle_[t, pair]),
                        "high": float(high[t, pair]),
                    }
                )
    return rows


def draw(rows: list[Row], path: Path) -> None:
    """One panel a way and opponent: the band, its median, and the truth dotted."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    ways = list(dict.fromkeys(row["way"] for row in rows))
    others = list(dict.fromkeys(row["b"] for row in rows))
    figure, axes = plt.subplots(
        len(ways), len(others), sharex=True, sharey=True, squeeze=False, layout="constrained",
        figsize=(1.5 * len(others) + 1, 1.7 * len(ways) + 0.4),
    )  # fmt: skip
    for axis_row, name in zip(axes, ways, strict=True):
        for axis, other in zip(axis_row, others, strict=True):
            points = [row for row in rows if row["way"] == name and row["b"] == other]
            t = [row["t"] for row in points]
            axis.fill_between(t, [r["low"] for r in points], [r["high"] for r in points], alpha=0.3)
            axis.plot(t, [row["median"] for row in points])
            axis.plot(t, [row["truth"] for row in points], "k:")
            axis.axhline(0.5, color="grey", linewidth=0.5)
            axis.set_title(f"{points[0]['a']} beats {other}", fontsize=8)
        axis_row[0].set_ylabel(name)
    figure.savefig(path, dpi=110)
    plt.close(figure)


def claims_of(rows: list[Row], examples: tuple[int, ...], ways: tuple[str, ...]) -> Claims:
    from scipy.stats import binom

    claims = Claims()
    for example in examples:
        right = "".join(
            configured(example).setting.algorithms[i] for i in true_duels(example).pareto
        )
        for name in ways:
            races = [row for row in rows if row["example"] == example and row["way"] == name]
            if not races:
                continue
            wrong = sum(row["wrong"] for row in races)
            out = sum(len(row["eliminated"]) for row in races)
            alpha = configured(example).race.alpha
            most = int(binom.ppf(0.99, out, 1 - alpha))
            claims.check(
                f"example {example}, {name}: {wrong} of {out} eliminations are wrong, no more than "
                f"1 - alpha = {1 - alpha:.2g} allows (at most {most} by chance, 99 %)",
                wrong <= most,
            )
            paper = PAPER[example]["set"]
            good = sum(set(right) <= set(row["left"]) <= set(paper) | set(right) for row in races)
            claims.check(
                f"example {example}, {name}: {good} of {len(races)} races end between the truth's "
                f"{right} and the paper's {paper}, most of them",
                2 * good > len(races),
            )
    return claims


def coverage() -> list[Row]:
    """The coverage of intervals, on samples of a size that was fixed in advance."""
    import synthetic_coverage  # It imports this module for its truths.

    return synthetic_coverage.table()


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--seeds", type=int, default=50)
    parser.add_argument("--examples", type=int, nargs="*", default=list(EXAMPLES))
    parser.add_argument("--ways", nargs="*", default=list(WAYS))
    parser.add_argument("--minutes", type=float, help="begin no further race after so many")
    parser.add_argument("--out", type=Path, default=RESULTS / "synthetic")
    args = parser.parse_args()
    examples = tuple(args.examples)
    ways = tuple(args.ways)
    lines = Lines(args.out / "races.jsonl", ("example", "way", "seed"))
    tasks = (
        {"example": example, "way": name, "seed": seed}
        for seed in range(args.seeds)
        for example in examples
        for name in ways
    )
    n_left = lines.complete(tasks, one_race, deadline(args.minutes))
    rows = [row for row in lines.rows if row["example"] in examples and row["way"] in ways]
    table = summary(rows, examples, ways)
    write_csv(args.out / "summary.csv", table)
    for example in examples:
        if not (args.out / f"truth-{example}.png").exists() and n_left == 0:
            points = curves(example, 0, ways)
            write_csv(args.out / f"truth-{example}.csv", points)
            draw(points, args.out / f"truth-{example}.png")
    covered = coverage()
    write_csv(args.out / "coverage.csv", covered)
    claims = claims_of(rows, examples, ways)
    parts = [("Races", markdown(table)), ("Intervals", markdown(covered))]
    print(told(args.out, "Synthetic truths", parts, claims))
    if n_left:
        print(f"{n_left} races are left: the same command goes on", file=sys.stderr)
    return 1 if claims.failed else 0


if __name__ == "__main__":
    sys.exit(main())
