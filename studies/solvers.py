"""Which solver when: solvers of MIPs, ways to solve job shops, and parameters of PyVRP.

Three parts, by name:

- ``mip``: HiGHS, SCIP, CP-SAT and, where it is installed, CBC on set covers, facility locations and
  auctions;
- ``job-shop``: parameter sets of CP-SAT and two dispatching rules on classical job shops;
- ``cvrp``: PyVRP's default and parameter sets for short runs on generated routing problems.

All algorithms are run on all instances, which is the truth of a part. Races draw instances from it,
with replacement, and are compared with it; one more race runs on instances of another seed. Beside
that stands the primal integral of the same runs, and the pairs on which the two disagree.

    python studies/solvers.py --quick         a minute: whether all parts work
    python studies/solvers.py --small         a quarter of an hour: a first impression
    python studies/solvers.py                 six hours of an otherwise idle machine with two cores

Seconds of a busy machine are too long: `polarbear run` warns.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import bound
import common
import numpy as np
import population_races as races
import populations
import yaml
from common import Claims, Lines, Row, deadline, markdown, told, write_csv
from mabbob_truth import ahead, clearly_beaten, first_places
from populations import Population
from ways import Way, by_default

from polarbear.inference import ModelOptions
from polarbear.problems import SUITES
from polarbear.racing.rules import Rules
from polarbear.store import StoreOnDisk

ROPE = 0.05  # win rates from 0.45 to 0.55 are as good as even when a race is compared
RACES = 100
MOST_INSTANCES = 300  # of a race on recorded runs
AGREEING_RACES = 0.85  # the share of races that should end with the set of all runs
MOST_SPENT = 0.5  # of the seconds of everything, on as many instances
SEED_OF_NEW_RACE = 2
SHORT_TIMES = (5.0, 30.0)  # between which a set of PyVRP's parameters should be better
CBC = "stdbuf -oL cbc {instance} -timeMode elapsed -randomCbcSeed {seed} -solve -quit"


@dataclass(frozen=True)
class Size:
    """The size of a part: its instances, the seconds of a run, and the options of its suite."""

    instances: int
    seconds: float
    suite: dict[str, Any]


def _operations(first: int, last: int) -> dict[str, Any]:
    return {"operations": {"from": first, "to": last}}


def _customers(first: int, last: int) -> dict[str, Any]:
    return {"customers": {"from": first, "to": last}}


SIZES: dict[str, dict[str, Size]] = {
    "quick": {
        "mip": Size(3, 1.0, {"scale": 0.2}),
        "job-shop": Size(3, 1.0, _operations(30, 150)),
        "cvrp": Size(3, 1.0, _customers(30, 60)),
    },
    "small": {
        "mip": Size(15, 8.0, {"scale": 0.5}),
        "job-shop": Size(10, 8.0, _operations(200, 500)),
        "cvrp": Size(12, 8.0, _customers(60, 150)),
    },
    "full": {
        "mip": Size(90, 40.0, {"scale": 1.0}),
        "job-shop": Size(72, 40.0, _operations(200, 1000)),
        "cvrp": Size(60, 60.0, _customers(100, 500)),
    },
}


def mip_algorithms() -> list[Row]:
    """The solvers of mixed-integer programs that this machine has."""
    entries: list[Row] = [
        {"name": "HiGHS", "use": "highs"},
        {"name": "SCIP", "use": "scip"},
        {"name": "CP-SAT", "use": "cp-sat"},
    ]
    if shutil.which("cbc") is not None:
        entries.append({"name": "CBC", "use": "command", "read": "cbc", "command": CBC})
    return entries


def job_shop_algorithms(folder: Path) -> list[Row]:
    """Parameter sets of CP-SAT, and two dispatching rules."""
    file = Path(os.path.relpath(Path(__file__).with_name("dispatching.py"), folder)).as_posix()
    cp_sat = {
        "CP-SAT": {},
        "CP-SAT, no relaxation": {"linearization_level": 0},
        "CP-SAT, fixed search": {"search_branching": "FIXED_SEARCH"},
        "CP-SAT, quick restarts": {"search_branching": "PORTFOLIO_WITH_QUICK_RESTART_SEARCH"},
    }
    rules = {"shortest first": "shortest", "most work first": "most-work"}
    return [
        *({"name": name, "use": "cp-sat", "options": options} for name, options in cp_sat.items()),
        *(
            {
                "name": name,
                "use": "python",
                "function": f"{file}:dispatch",
                "options": {"rule": rule},
            }
            for name, rule in rules.items()
        ),
    ]


def cvrp_algorithms() -> list[Row]:
    """PyVRP's default, and parameter sets that may suit short runs."""
    sets: dict[str, Row] = {
        "default": {},
        "short history": {"ils": {"history_length": 50}},
        "no exhaustive search": {"ils": {"exhaustive_on_best": False}},
        "few neighbours": {"neighbourhood": {"num_neighbours": 15}},
        "small perturbations": {"perturbation": {"max_perturbations": 8}},
    }
    return [
        {"name": name, "use": "pyvrp", **({"options": options} if options else {})}
        for name, options in sets.items()
    ]


def configuration(part: str, size: Size, folder: Path, seed: int) -> Row:
    """The configuration of a part."""
    algorithms = {
        "mip": mip_algorithms,
        "job-shop": lambda: job_shop_algorithms(folder),
        "cvrp": cvrp_algorithms,
    }
    return {
        "seed": seed,
        "algorithms": algorithms[part](),
        "instances": {"suite": part, **size.suite},
        "budget": {
            "axis": "seconds",
            "grid": {"from": size.seconds / 40, "to": size.seconds, "points": 12},
        },
        "race": {"alpha": 0.95, "limits": {"instances": size.instances}},
        "execution": {"workers": 2},
    }


def written(config: Row, path: Path) -> Path:
    """Write a configuration; return its path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(yaml.safe_dump(config, sort_keys=False))
    return path


def may_be_out(people: Population, name: str) -> bool:
    """Whether some rival is at least as good at every time, up to the ROPE."""
    return any(
        (ahead(people, rival, name) >= 0.5 - ROPE).all() for rival in people.names if rival != name
    )


def agrees(left: list[str], people: Population) -> bool:
    """Whether the set of a race is that of all runs, up to the ROPE."""
    has_beaten = not set(left).isdisjoint(clearly_beaten(people, ROPE))
    lost = [name for name in people.names if name not in left]
    return not has_beaten and all(may_be_out(people, name) for name in lost)


def leaders_table(people: Population) -> list[Row]:
    """The share of instances on which each algorithm is first, at each time."""
    first = first_places(people)
    return [
        {"seconds": float(t)} | {name: float(first[k, i]) for i, name in enumerate(people.names)}
        for k, t in enumerate(people.times)
    ]


def primal_integrals(store: StoreOnDisk) -> dict[str, dict[str, float]]:
    """The primal integral of each algorithm on each instance, divided by the budget.

    The gap of a value y is |y - best| / max(|y|, |best|), and 1 before there is a value. The best
    is the known optimum, or else the best value of all runs.
    """
    runs = list(store.trajectories())
    settings = store.settings.instances
    suite = SUITES[settings.suite].model_validate(settings.options)
    best: dict[str, float] = {}
    for instance, spec in store.specs().items():
        ends = [y[-1] for run, _, y in runs if run.instance == instance and len(y)]
        optimum = suite.best_value(spec)
        if ends or optimum is not None:
            best[instance] = min(ends) if optimum is None else optimum
    limit = store.settings.budget.limit
    integrals: dict[str, dict[str, float]] = {}
    for run, times, values in runs:
        if run.instance not in best:
            continue
        target = best[run.instance]
        scale = np.maximum(np.abs(values), abs(target))
        differences = np.abs(values - target)
        gaps = np.where(scale > 0, differences / np.where(scale > 0, scale, 1), 0)
        gaps = np.concatenate([[1.0], np.minimum(gaps, 1)])
        borders = np.concatenate([[0.0], times, [limit]])
        integral = float(gaps @ np.diff(borders)) / limit
        integrals.setdefault(run.algorithm, {})[run.instance] = integral
    return integrals


def integral_table(integrals: dict[str, dict[str, float]], people: Population) -> list[Row]:
    """Means of primal integrals beside win rates over all times."""
    n_times = len(people.times)
    rows = []
    for name in people.names:
        rivals = [rival for rival in people.names if rival != name]
        shares = np.array([ahead(people, name, rival) for rival in rivals])
        rows.append(
            {
                "algorithm": name,
                "mean primal integral": float(np.mean(list(integrals[name].values()))),
                "median": float(np.median(list(integrals[name].values()))),
                "duels won, all times": float(shares.mean()),
                "duels won, first time": float(shares[:, 0].mean()),
                "duels won, last time": float(shares[:, n_times - 1].mean()),
            }
        )
    return sorted(rows, key=lambda row: row["mean primal integral"])


def disagreements(integrals: dict[str, dict[str, float]], people: Population) -> list[Row]:
    """Pairs of which one has the smaller mean integral and the other wins more duels."""
    means = {name: float(np.mean(list(values.values()))) for name, values in integrals.items()}
    rows = []
    for a in people.names:
        for b in people.names:
            share = ahead(people, a, b)
            if means[a] < means[b] and share.mean() < 0.5:
                rows.append(
                    {
                        "smaller integral": a,
                        "more duels won": b,
                        "integrals": f"{means[a]:.4g}, {means[b]:.4g}",
                        "duels won by the second": f"{1 - share.mean():.2f}",
                        "from, to": f"{1 - share.max():.2f}, {1 - share.min():.2f}",
                    }
                )
    return rows


def new_race(config: Path, store: Path) -> Row:
    """A race on instances of another seed; it goes on where it was interrupted."""
    command = [sys.executable, "-m", "polarbear", "race", str(config)]
    command += ["--store", str(store), "--json"]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode not in (0, 3):
        raise RuntimeError(f"the race in {store} ended with exit code {done.returncode}")
    answer: Row = json.loads(done.stdout)
    return answer


def default_way(rules: Rules) -> Way:
    return Way.of("default", ModelOptions(), by_default(rules))


def races_table(rows: list[Row], people: Population) -> list[Row]:
    """What the races on recorded runs ended with."""
    n_agreeing = sum(agrees(row["left"], people) for row in rows)
    out = [elimination for row in rows for elimination in row["eliminated"]]
    often, times = common.most_frequent([", ".join(sorted(row["left"])) for row in rows])
    spent = [1 - row["saved_of_as_many"] for row in rows]
    return [
        {
            "races": len(rows),
            "most frequent set": f"{often} ({times})",
            "agree up to the ROPE": n_agreeing,
            "wrong eliminations": f"{sum(e['wrong'] for e in out)}/{len(out)}",
            "resolved": sum(row["resolved"] for row in rows),
            "instances": common.middle([row["instances"] for row in rows]),
            "seconds / everything": common.middle(spent),
        }
    ]


def unbeaten(people: Population) -> str:
    """The algorithms that nobody beats at every time; two of them keep each other's runs going."""
    duels = bound.duels_in(people.values)
    members = [people.names[i] for i in duels.pareto]
    return ", ".join(members) if len(members) > 1 else "none"


def presets_table(people: Population) -> list[Row]:
    """How often each of PyVRP's parameter sets beats the default, by time."""
    rows = []
    for name in people.names:
        if name == "default":
            continue
        share = ahead(people, name, "default")
        row: Row = {"set": name}
        for t in (*SHORT_TIMES, float(people.times[-1])):
            nearest = int(np.abs(np.log(people.times / t)).argmin())
            row[f"at {people.times[nearest]:.3g} s"] = float(share[nearest])
        rows.append(row)
    return rows


def report_part(part: str, size: Size, args: argparse.Namespace) -> tuple[list[Row], Claims, str]:
    """Run and race a part; its rows for the page, its claims, and its text."""
    folder = args.out / part
    config = configuration(part, size, folder, seed=1)
    path = written(config, folder / "config.yaml")
    stores = args.stores / f"solvers-{args.size}"
    populations.make(path, stores / part, size.instances)
    people = populations.read(stores / part)
    rules = Rules.model_validate(config["race"])
    way = default_way(rules)
    lines = Lines(folder / f"races-{len(people.values)}.jsonl", ("seed",))
    n_races = args.races
    lines.complete(
        ({"seed": seed} for seed in range(n_races)),
        lambda task: races.one_race(way, task["seed"], people, MOST_INSTANCES),
        deadline(None),
    )
    fresh_config = {**config, "seed": SEED_OF_NEW_RACE}
    fresh = new_race(written(fresh_config, folder / "new.yaml"), stores / f"{part}-new")
    integrals = primal_integrals(StoreOnDisk.open(stores / part))
    duels = bound.duels_in(people.values)
    members = [people.names[i] for i in duels.pareto]
    tables = {
        "first places": leaders_table(people),
        "races": races_table(lines.rows, people),
        "eliminations": races.eliminations([{**row, "way": "default"} for row in lines.rows]),
        "primal integrals": integral_table(integrals, people),
        "disagreements": disagreements(integrals, people),
    }
    if part == "cvrp":
        tables["parameter sets against the default"] = presets_table(people)
    text = [
        f"{len(people.values)} instances, {len(people.names)} algorithms, {size.seconds:g} s a "
        "run. "
        f"By the duels of all runs the Pareto set is {', '.join(members)}; beaten by one other at "
        f"every time, by more than a ROPE of {ROPE}: "
        f"{', '.join(clearly_beaten(people, ROPE)) or 'none'}.",
        f"The race with new seeds ended with {', '.join(fresh['pareto_set'])} after "
        f"{fresh['rounds']} rounds and {fresh['instances']} instances "
        f"({fresh['stopped_because']}).",
    ]
    for name, table in tables.items():
        if table:
            write_csv(folder / f"{name.replace(' ', '-')}.csv", table)
            text.append(f"**{name.capitalize()}**\n\n{markdown(table)}")
        else:
            text.append(f"**{name.capitalize()}**: none")
    return tables["races"], claims_of(part, lines.rows, people, fresh["pareto_set"]), text_of(text)


def text_of(paragraphs: list[str]) -> str:
    return "\n\n".join(paragraphs)


def claims_of(part: str, rows: list[Row], people: Population, new_set: list[str]) -> Claims:
    """What should come out of a part."""
    claims = Claims()
    n_agreeing = sum(agrees(row["left"], people) for row in rows)
    claims.check(
        f"{part}: {n_agreeing} of {len(rows)} races on resampled runs end with the set of all runs "
        f"up to the ROPE, at least {AGREEING_RACES:.0%}",
        n_agreeing >= AGREEING_RACES * len(rows),
    )
    spent = float(np.median([1 - row["saved_of_as_many"] for row in rows]))
    claims.check(
        f"{part}: races take {spent:.0%} of the seconds of everything on as many instances "
        f"(median), at most {MOST_SPENT:.0%}; nobody beats these at every time: {unbeaten(people)}",
        spent <= MOST_SPENT,
    )
    claims.check(
        f"{part}: the race with new seeds ends with {', '.join(new_set)}, the set of all runs up "
        "to the ROPE",
        agrees(new_set, people),
    )
    return claims


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    sizes = parser.add_mutually_exclusive_group()
    for size in ("quick", "small"):
        sizes.add_argument(f"--{size}", action="store_const", const=size, dest="size")
    parser.set_defaults(size="full")
    parser.add_argument("--parts", nargs="*", choices=list(SIZES["full"]))
    parser.add_argument("--races", type=int, default=RACES, help="on recorded runs, of each part")
    parser.add_argument("--stores", type=Path, default=populations.FOLDER)
    parser.add_argument("--out", type=Path, default=common.RESULTS / "solvers")
    args = parser.parse_args()
    args.out = args.out.resolve()
    claims = Claims()
    sections = []
    summary: list[Row] = []
    for part in args.parts or SIZES["full"]:
        rows, own_claims, text = report_part(part, SIZES[args.size][part], args)
        summary += [{"part": part, **row} for row in rows]
        claims.checked += own_claims.checked
        sections.append((part, text))
    write_csv(args.out / "summary.csv", summary)
    title = f"Which solver when, size: {args.size}"
    print(told(args.out, title, sections, claims))
    return 1 if claims.failed else 0


if __name__ == "__main__":
    sys.exit(main())
