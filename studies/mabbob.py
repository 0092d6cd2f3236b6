"""The paper's second case study: step-size adaptations of CMA-ES on MA-BBOB, at full size.

Seven algorithms in 30 dimensions, 60,000 evaluations, 200 times, instances as ioh draws them. All
are run on all instances of a population once (`polarbear run configs/mabbob.yaml --instances N`,
which this command does where it is not told of one); races then draw their instances from it, with
replacement, and the whole population is the truth with which they are compared. Ways to race:

- ``paper``: independent Dirichlet, ratings alone decide, pointwise, strict, alpha 0.99;
- ``default``: PolarBear's defaults, at the same alpha and largest batch;
- ``configured``: `polarbear race configs/mabbob.yaml`: the paper's model and rules, but an
  algorithm is eliminated only if its duels show that it is worse;
- ``strict``: the default's model with the paper's strict resolution;
- ``in order``, ``in reverse``: the paper's, ties broken by the place in the list of algorithms, as
  sorting does that knows no ties.

A race takes a minute of one core by default and several the paper's way, a second or two a round.

    python studies/mabbob.py --instances 400        makes the population first: hours of one core
    python studies/mabbob.py --population STORE --seeds 3 --ways paper default --minutes 30
"""

from __future__ import annotations

import argparse
import sys
from functools import partial
from pathlib import Path

import bound
import classical
import common
import mabbob_truth as truth_of
import numpy as np
import population_races as races
import populations
from common import Claims, Lines, Row, deadline, markdown, told, write_csv
from populations import Population
from ways import Way, by_default

from polarbear.config.configuration import load
from polarbear.inference import ModelOptions
from polarbear.racing.rules import Rules
from polarbear.rankings import rank

CONFIG = common.ROOT / "configs" / "mabbob.yaml"
WAYS = ("default", "paper", "configured", "strict", "in order", "in reverse")
LIMIT = 2000  # instances at which a replay ends; the paper's race took 1,656
ROPE = 0.05
PAPER = ("CSA", "TPA", "XNES", "MXNES")


def way_of(name: str, rules: Rules) -> Way:
    """``rules`` are the configuration's, which are the paper's."""
    free = by_default(rules)
    if name == "default":
        return Way.of(name, ModelOptions(), free)
    if name == "strict":
        return Way.of(name, ModelOptions(), free.model_copy(update={"resolution": "strict"}))
    return Way.of(name, ModelOptions(model="dirichlet"), rules, heeds_duels=name == "configured")


def without_ties(values: np.ndarray, reverse: bool) -> np.ndarray:
    """Ranks in which ties are broken by the place in the list of algorithms."""
    places = np.arange(values.shape[1])[::-1] if reverse else np.arange(values.shape[1])
    return rank(values) * float(values.shape[1]) + places[None, :, None]


def one_race(task: Row, people: Population, rules: Rules) -> Row:
    """A race on instances of the population, and what is true of it."""
    name = task["way"]
    strategy = way_of(name, rules)
    if name not in ("in order", "in reverse"):
        return races.one_race(strategy, task["seed"], people, LIMIT)
    break_ties = partial(without_ties, reverse=name == "in reverse")
    return races.one_race(strategy, task["seed"], people, LIMIT, break_ties)


def claims_of(rows: list[Row], people: Population) -> Claims:
    claims = Claims()
    names = people.names
    pareto = {names[i] for i in bound.duels_in(people.values).pareto}
    told_set = ", ".join(name for name in names if name in pareto)
    claims.check(
        f"in truth the Pareto set is {told_set}: all of it is in the paper's", pareto <= set(PAPER)
    )
    clearly = truth_of.clearly_beaten(people, ROPE)
    claims.check(
        f"beaten by one other at every time, by more than a ROPE of {ROPE}, is "
        f"{', '.join(clearly) or 'none'}: none of the paper's set",
        not set(clearly) & set(PAPER),
    )
    for t, leader in ((500, "MXNES"), (5000, "CSA"), (60_000, "XNES")):
        first = truth_of.leader(people, t)
        claims.check(f"at {t:,} evaluations {first} is first most often: as in the paper {leader}",
                     first == leader)  # fmt: skip
    crossing = truth_of.crossing(people, "CSA", "XNES")
    claims.check(
        f"in their duels XNES is ahead of CSA for good from {crossing:,.0f} evaluations on: "
        "between 15,000 and 45,000, in the paper about 30,000",
        15_000 <= crossing <= 45_000,
    )
    default = [row for row in rows if row["way"] == "default"]
    if default:
        wrong = sum(e["wrong"] for row in default for e in row["eliminated"])
        claims.check(f"by default {wrong} eliminations are wrong", wrong == 0)
        kept = sum("XNES" in row["left"] for row in default)
        claims.check(f"by default XNES is kept in {kept} of {len(default)}", kept == len(default))
        saved = float(np.median([row["saved_of_1000"] for row in default]))
        claims.check(
            f"by default a race saves {saved:.1%} of the evaluations of everything on "
            f"{races.EVERYTHING:,} instances, at least 75 %",
            saved >= 0.75,
        )
    return claims


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--instances", type=int, default=400, help="of the population to be made")
    parser.add_argument("--population", type=Path, help="a store that is there; only read")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--ways", nargs="*", default=list(WAYS))
    parser.add_argument("--minutes", type=float, help="begin no further race after so many")
    parser.add_argument("--out", type=Path, default=common.RESULTS / "mabbob")
    args = parser.parse_args()
    store = args.population or populations.FOLDER / "mabbob"
    if args.population is None:
        populations.make(CONFIG, store, args.instances)
    people = populations.read(store)
    rules = load(CONFIG).race
    lines = Lines(args.out / f"races-{len(people.values)}.jsonl", ("way", "seed"))
    tasks = ({"way": name, "seed": seed} for seed in range(args.seeds) for name in args.ways)
    until = deadline(args.minutes)
    n_left = lines.complete(tasks, lambda task: one_race(task, people, rules), until)
    rows = [row for row in lines.rows if row["way"] in args.ways]
    ways = {name: way_of(name, rules) for name in args.ways}
    parts = [("The truth", truth_of.written(people, args.out))]
    parts.append(("The classical view", classical.written(people, args.out)))
    if rows:
        for name, table in (
            ("Races", races.summary(rows, people, ways, PAPER, "XNES")),
            ("Who is out when", races.eliminations(rows)),
            ("Selections", races.selections(rows)),
        ):
            write_csv(args.out / f"{name.lower().replace(' ', '-')}.csv", table)
            parts.append((name, markdown(table)))
    claims = claims_of(rows, people)
    print(told(args.out, "MA-BBOB at full size", parts, claims))
    if n_left:
        print(f"{n_left} races are left: the same command goes on", file=sys.stderr)
    return 1 if claims.failed else 0


if __name__ == "__main__":
    sys.exit(main())
