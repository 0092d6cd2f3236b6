"""The paper's second case study: step-size adaptations of CMA-ES on MA-BBOB, at full size.

Seven algorithms in 30 dimensions, 60,000 evaluations, 200 times, instances as ioh draws them. All
are run on all instances of a population once (`polarbear run configs/mabbob.yaml --instances N`,
which this command does where it is not told of one); races then draw their instances from it, with
replacement, and the whole of it is the truth that they are held against. Ways to race:

- ``paper``: independent Dirichlet, ratings alone decide, pointwise, strict, alpha 0.99;
- ``default``: what PolarBear does if nothing is said, at the same alpha and batches;
- ``configured``: `polarbear race configs/mabbob.yaml`: the paper's model and rules, but nobody is
  put out whom their duels do not show to be worse;
- ``strict``: the default's model with the paper's strict resolution;
- ``in order``, ``in reverse``: the paper's, ties broken by the place in the list of algorithms, as
  sorting does that knows no ties.

    python studies/mabbob.py --instances 400                       a day of one core, then:
    python studies/mabbob.py --population STORE --seeds 20          an hour of one core
    python studies/mabbob.py --population STORE --seeds 3 --ways paper default
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import bound
import classical
import common
import mabbob_truth as truth_of
import numpy as np
import populations
from common import Claims, Lines, Row, deadline, markdown, middle, most_frequent, told, write_csv
from populations import Population
from ways import Way, drawn, raced

from polarbear.config import load
from polarbear.inference import ModelOptions, Posterior
from polarbear.preferences import Context, parse_preference
from polarbear.racing.rules import Rules
from polarbear.rankings import rank
from polarbear.select.criteria import RISKS, judge
from polarbear.settings.options import Source

CONFIG = common.ROOT / "configs" / "mabbob.yaml"
WAYS = ("paper", "default", "configured", "strict", "in order", "in reverse")
LIMIT = 2000  # instances at which a replay ends; the paper's race took 1,656
EVERYTHING = 1000  # instances on which it is usual to run everything
PAPER = ("CSA", "TPA", "XNES", "MXNES")
PREFERENCES = ("uniform", "log-uniform")


def way_of(name: str, rules: Rules) -> Way:
    """``rules`` are the configuration's, which are the paper's."""
    free = rules.model_copy(update={"elimination": "auto", "resolution": "crossing"})
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
    names, seed, duels = people.names, task["seed"], bound.duels_in(people.values)
    values = people.sample(seed, LIMIT)
    if task["way"] in ("in order", "in reverse"):
        values = without_ties(values, task["way"] == "in reverse")
    way = way_of(task["way"], rules)
    found = raced(way, values, names, people.times, people.unit, seed)
    state, seen = found.state, len(found.present)
    whole = float(len(names) * people.times[-1])
    reached = np.where(found.present.any(axis=2), found.present.sum(axis=2), 0)
    cost = np.concatenate([[0.0], people.times])[reached]
    last = drawn(way, values[:seen], found.present, people.unit, seed)
    theta = last.theta if isinstance(last, Posterior) else last.resampled(seed)
    return {
        "population": len(people.values),
        "left": list(state.candidates),
        "eliminated": [
            {
                "who": e.algorithm,
                "by": e.by,
                "round": e.round,
                "instances": e.instances,
                "wrong": not duels.better[names.index(e.by), names.index(e.algorithm)],
            }
            for e in state.eliminated
        ],
        "resolved": not state.open_pairs,
        "rounds": state.round,
        "instances": state.instances,
        "evaluations": found.rounds[-1].spent,
        "by_algorithm": dict(zip(names, cost.sum(axis=0).tolist(), strict=True)),
        "saved_of_1000": 1 - found.rounds[-1].spent / (EVERYTHING * whole),
        "saved_of_as_many": 1 - found.rounds[-1].spent / (state.instances * whole),
        "selections": _selections(theta, people.times, names, state.candidates, way.options.joint),
    }


def _selections(
    theta: np.ndarray, times: np.ndarray, names: tuple[str, ...], left: tuple[str, ...], joint: bool
) -> Row:
    """Whom each preference and criterion chooses among those who are left."""
    context = Context(times, joint=joint)
    found = {}
    for words in PREFERENCES:
        valuation = parse_preference(words, Source("study")).on(context)
        values = valuation.values(theta[:, :, [names.index(name) for name in left]])
        criteria = judge(values)
        found[words] = {risk: left[criteria.best(risk)] for risk in RISKS}
    return found


def summary(rows: list[Row], people: Population, rules: Rules) -> list[Row]:
    duels = bound.duels_in(people.values)
    found = []
    for name in dict.fromkeys(row["way"] for row in rows):
        some = [row for row in rows if row["way"] == name]
        way = way_of(name, rules)
        least = bound.bound(
            duels, people.times, rules.alpha, rules.epsilon, way.rules.resolution == "strict"
        )
        out = [e for row in some for e in row["eliminated"]]
        often, times = most_frequent([" ".join(row["left"]) for row in some])
        evaluations = [row["evaluations"] for row in some]
        found.append(
            {
                "way": name,
                "races": len(some),
                "most frequent set": f"{often} ({times})",
                "paper's set": sum(set(row["left"]) == set(PAPER) for row in some),
                "XNES kept": sum("XNES" in row["left"] for row in some),
                "wrong eliminations": f"{sum(e['wrong'] for e in out)}/{len(out)}",
                "rounds": middle([row["rounds"] for row in some]),
                "instances": middle([row["instances"] for row in some]),
                "resolved": sum(row["resolved"] for row in some),
                "evaluations": middle(evaluations),
                f"saved of {EVERYTHING:,}": middle([row["saved_of_1000"] for row in some]),
                "saved of as many": middle([row["saved_of_as_many"] for row in some]),
                "information bound": least.spent,
                "median / bound": float(np.median(evaluations)) / least.spent,
            }
        )
    return found


def eliminations(rows: list[Row]) -> list[Row]:
    """Who was put out in how many races, when, and by whom."""
    found = []
    for way in dict.fromkeys(row["way"] for row in rows):
        some = [row for row in rows if row["way"] == way]
        every = [e for row in some for e in row["eliminated"]]
        for who in dict.fromkeys(e["who"] for e in sorted(every, key=lambda e: e["instances"])):
            his = [e for e in every if e["who"] == who]
            found.append(
                {
                    "way": way,
                    "algorithm": who,
                    "races": f"{len(his)}/{len(some)}",
                    "round": middle([e["round"] for e in his]),
                    "instances": middle([e["instances"] for e in his]),
                    "by": " ".join(sorted({e["by"] for e in his})),
                    "wrong": sum(e["wrong"] for e in his),
                }
            )
    return found or [{"way": "all", "algorithm": "nobody"}]


def selections(rows: list[Row]) -> list[Row]:
    """How many races choose whom, by preference and criterion."""
    found = []
    for way in dict.fromkeys(row["way"] for row in rows):
        some = [row for row in rows if row["way"] == way]
        for preference in PREFERENCES:
            line: Row = {"way": way, "preference": preference}
            for risk in RISKS:
                chosen = [row["selections"][preference][risk] for row in some]
                counts = {name: chosen.count(name) for name in sorted(set(chosen))}
                line[risk] = ", ".join(f"{name} {count}" for name, count in counts.items())
            found.append(line)
    return found


def claims_of(rows: list[Row], people: Population) -> Claims:
    claims, names = Claims(), people.names
    pareto = {names[i] for i in bound.duels_in(people.values).pareto}
    told_set = ", ".join(name for name in names if name in pareto)
    claims.check(f"in truth the Pareto set is {told_set}: the paper's", pareto == set(PAPER))
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
            f"{EVERYTHING:,} instances, at least 75 %",
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
    people, rules = populations.read(store), load(CONFIG).race
    lines = Lines(args.out / f"races-{len(people.values)}.jsonl", ("way", "seed"))
    tasks = ({"way": way, "seed": seed} for seed in range(args.seeds) for way in args.ways)
    until = deadline(args.minutes)
    left = lines.complete(tasks, lambda task: one_race(task, people, rules), until)
    rows = [row for row in lines.rows if row["way"] in args.ways]
    parts = [("The truth", truth_of.written(people, args.out))]
    parts.append(("The classical view", classical.written(people, args.out)))
    if rows:
        for name, table in (
            ("Races", summary(rows, people, rules)),
            ("Who is out when", eliminations(rows)),
            ("Selections", selections(rows)),
        ):
            write_csv(args.out / f"{name.lower().replace(' ', '-')}.csv", table)
            parts.append((name, markdown(table)))
    claims = claims_of(rows, people)
    print(told(args.out, "MA-BBOB at full size", parts, claims))
    if left:
        print(f"{left} races are left: the same command goes on", file=sys.stderr)
    return 1 if claims.failed else 0


if __name__ == "__main__":
    sys.exit(main())
