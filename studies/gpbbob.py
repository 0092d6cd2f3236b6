"""The paper's third case study: matrix adaptations of CMA-ES on GP-BBOB, against the clock.

At full size (about 240 dimensions, 30 s a run, 8 algorithms) the instances that the paper's race
took ask for more than a day of one machine. By default everything is smaller here: a tenth of the
time, and dimensions by a quarter of the paper's. What that changes: expensive adaptations cost less
per generation in fewer dimensions, so they look better than at full size; and the first times of
the grid come before some have finished a generation. --full takes configs/gpbbob.yaml as it is.

All algorithms are run on all instances, one run at a time (anything else on the machine is in the
seconds, too); races then draw instances from that population, by

- ``paper``: B-splines, every ranking counted in full, joint elimination, crossing resolution;
- ``default``: what PolarBear does if nothing is said.

    python studies/gpbbob.py --instances 300           two hours of an otherwise idle machine
    python studies/gpbbob.py --instances 12            five minutes
    python studies/gpbbob.py --full --instances 528    a day and a half; interrupted, it goes on
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

import bound
import common
import population_races as races
import populations
import yaml
from common import Claims, Lines, Row, deadline, markdown, told, write_csv
from populations import Population
from ways import Way, by_default

from polarbear.config.configuration import load
from polarbear.inference import ModelOptions
from polarbear.racing.rules import Rules

CONFIG = common.ROOT / "configs" / "gpbbob.yaml"
PAPER = ("SEP", "NONE")
WAYS = ("default", "paper")
LIMIT = 600  # instances at which a replay ends; the paper's race took 528
SMALLER = {"time": 10, "dimension": 4}


def scaled(config: dict[str, Any]) -> dict[str, Any]:
    """The paper's configuration with less time and fewer dimensions."""
    dimension = config["instances"]["dimension"]
    grid = config["budget"]["grid"]
    shrunk = {key: value // SMALLER["dimension"] for key, value in dimension.items()}
    return {
        **config,
        "instances": {**config["instances"], "dimension": {**shrunk, "from": 2}},
        "budget": {
            **config["budget"],
            "grid": {
                **grid,
                "from": grid["from"] / SMALLER["time"],
                "to": grid["to"] / SMALLER["time"],
            },
        },
    }


def way_of(name: str, rules: Rules) -> Way:
    if name == "default":
        free = by_default(rules)
        return Way.of(name, ModelOptions(), free)
    options = ModelOptions(model="bspline", dependence="independent")
    return Way.of(name, options, rules)


def truth_table(people: Population) -> list[Row]:
    """The share of instances on which each algorithm is first, at some times."""
    import mabbob_truth

    first = mabbob_truth.first_places(people)
    steps = range(0, len(people.times), max(1, len(people.times) // 10))
    return [
        {"seconds": float(people.times[k])}
        | {name: float(first[k, i]) for i, name in enumerate(people.names)}
        for k in steps
    ]


def claims_of(rows: list[Row], people: Population) -> Claims:
    claims = Claims()
    pareto = [people.names[i] for i in bound.duels_in(people.values).pareto]
    claims.check(
        f"by the duels of {len(people.values)} instances the Pareto set is {', '.join(pareto)}: "
        f"SEP and NONE, the paper's, are in it",
        set(PAPER) <= set(pareto),
    )
    for name in dict.fromkeys(row["way"] for row in rows):
        races = [row for row in rows if row["way"] == name]
        wrong = sum(e["wrong"] for row in races for e in row["eliminated"])
        out = sum(len(row["eliminated"]) for row in races)
        claims.check(
            f"{name}: {wrong} of {out} eliminations are wrong, at most one in fifty",
            50 * wrong <= out,
        )
    return claims


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--full", action="store_true", help="as the paper has it")
    parser.add_argument("--instances", type=int, default=300, help="of the population")
    parser.add_argument("--population", type=Path, help="a store that is there; only read")
    parser.add_argument("--seeds", type=int, default=50)
    parser.add_argument("--ways", nargs="*", default=list(WAYS))
    parser.add_argument("--minutes", type=float, help="begin no further race after so many")
    parser.add_argument("--out", type=Path, default=common.RESULTS / "gpbbob")
    args = parser.parse_args()
    store = args.population or populations.FOLDER / ("gpbbob" if args.full else "gpbbob-scaled")
    config = CONFIG
    if not args.full:
        args.out.mkdir(parents=True, exist_ok=True)
        config = args.out / "scaled.yaml"
        smaller = scaled(yaml.safe_load(CONFIG.read_text()))
        config.write_text(yaml.safe_dump(smaller, sort_keys=False))
    if args.population is None:
        populations.make(config, store, args.instances, "--workers", "1")
    people = populations.read(store)
    rules = load(config).race
    ways = {name: way_of(name, rules) for name in args.ways}
    lines = Lines(args.out / f"races-{len(people.values)}.jsonl", ("way", "seed"))
    tasks = ({"way": name, "seed": seed} for seed in range(args.seeds) for name in ways)
    n_left = lines.complete(
        tasks,
        lambda task: races.one_race(ways[task["way"]], task["seed"], people, LIMIT),
        deadline(args.minutes),
    )
    rows = [row for row in lines.rows if row["way"] in ways]
    parts = []
    tables = {"First places": truth_table(people)}
    if rows:
        tables["Races"] = races.summary(rows, people, ways, PAPER, "SEP")
        tables["Who is out when"] = races.eliminations(rows)
        tables["Selections"] = races.selections(rows)
    for name, table in tables.items():
        write_csv(args.out / f"{name.lower().replace(' ', '-')}.csv", table)
        parts.append((name, markdown(table)))
    claims = claims_of(rows, people)
    title = "GP-BBOB against the clock" + ("" if args.full else ", scaled down")
    print(told(args.out, title, parts, claims))
    if n_left:
        print(f"{n_left} races are left: the same command goes on", file=sys.stderr)
    return 1 if claims.failed else 0


if __name__ == "__main__":
    sys.exit(main())
