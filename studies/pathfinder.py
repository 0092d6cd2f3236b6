"""The effect of Pathfinder's draws on the paper's race on MA-BBOB, where it decides on XNES.

Races by the paper's rules are replayed with exact draws (`ways.py`) until XNES is eliminated, or
for 200 instances. There the same rankings are given to Stan's Pathfinder, and to the exact sampler
again with another seed, since the round of an elimination is selected by its draws. Reported are
each one's probability that CSA is better than XNES, at the time at which it is lowest (alpha is
0.99, at every time), and the differences of the probabilities of all pairs at all times.

    python studies/pathfinder.py --population STORE     two minutes of one core a seed

STORE is what `python studies/mabbob.py` has made. Needs CmdStan (`polarbear stan install`).
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import common
import mabbob
import numpy as np
import populations
from common import Lines, Row, deadline, markdown, write_csv
from populations import Population
from ways import raced

from polarbear.config.configuration import load
from polarbear.inference import ModelOptions, infer, relations
from polarbear.racing.rules import Rules
from polarbear.rankings import rank
from polarbear.rankings.choice_sets import ChoiceSets, count_choice_sets

LIMIT = 200
BY = "CSA"
WHO = "XNES"
DRAWS = 4000
EXACT = ModelOptions(model="dirichlet", dependence="independent", draws=DRAWS)
PATHFINDER = EXACT.model_copy(update={"engine": "stan", "method": "pathfinder"})


def compared(seed: int, people: Population, rules: Rules) -> Row:
    """One race, and the probabilities from its rankings by either sampler."""
    names = people.names
    unit = people.unit
    values = people.sample(seed, LIMIT)
    replayed = raced(mabbob.way_of("paper", rules), values, names, people.times, unit, seed)
    out = [e.instances for e in replayed.state.eliminated if e.algorithm == WHO]
    n_seen = out[0] if out else len(replayed.present)
    sets = count_choice_sets(rank(values[:n_seen], replayed.present[:n_seen]))
    exact = dominance(sets, unit, EXACT, 2 * seed)
    other_seed = dominance(sets, unit, EXACT, 2 * seed + 1)
    pathfinder = dominance(sets, unit, PATHFINDER, 2 * seed)
    by = names.index(BY)
    who = names.index(WHO)
    return {
        "instances": n_seen,
        f"{WHO} is out": bool(out),
        "least sure, exact": float(exact[:, by, who].min()),
        "least sure, Pathfinder": float(pathfinder[:, by, who].min()),
        **apart("exact again", exact, other_seed),
        **apart("Pathfinder", exact, pathfinder),
    }


def dominance(sets: ChoiceSets, unit: np.ndarray, options: ModelOptions, seed: int) -> np.ndarray:
    """The probability that a's rating is above b's: [time, a, b]."""
    return relations.pointwise(infer(sets, unit, options, seed, threads=1), threads=1).dominance


def apart(name: str, exact: np.ndarray, other: np.ndarray) -> Row:
    """The differences of probabilities from the exact ones, over all pairs and times."""
    a, b = np.triu_indices(exact.shape[1], 1)
    off = np.abs(exact - other)[:, a, b]
    return {f"{name}, off by": float(off.mean()), f"{name}, at most": float(off.max())}


def written(rows: list[Row], alpha: float) -> str:
    least = {name: f"least sure, {name}" for name in ("exact", "Pathfinder")}
    eliminated = [row for row in rows if row[f"{WHO} is out"]]
    sure = {name: sum(row[key] >= alpha for row in eliminated) for name, key in least.items()}
    off = {
        name: f"{np.mean([row[f'{name}, off by'] for row in rows]):.4f} on average, "
        f"{max(row[f'{name}, at most'] for row in rows):.3f} at most"
        for name in ("exact again", "Pathfinder")
    }
    return (
        f"{len(rows)} races by the paper's rules; {WHO} is out within {LIMIT} instances in "
        f"{len(eliminated)}. In the rounds in which it went, from draws of other seeds, "
        f"{sure['exact']} by the exact sampler and {sure['Pathfinder']} by Pathfinder are at least "
        f"{alpha:g} sure at every time. Probabilities of all pairs at all times differ from the "
        f"exact ones by {off['Pathfinder']}; exact ones from each other by "
        f"{off['exact again']}.\n\n" + markdown(rows)
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--population", type=Path, required=True, help="a store; only read")
    parser.add_argument("--seeds", type=int, default=7)
    parser.add_argument("--minutes", type=float, help="begin no further race after so many")
    parser.add_argument("--out", type=Path, default=common.RESULTS / "pathfinder")
    args = parser.parse_args()
    people = populations.read(args.population)
    rules = load(mabbob.CONFIG).race
    lines = Lines(args.out / "races.jsonl", ("seed",))
    n_left = lines.complete(
        ({"seed": seed} for seed in range(args.seeds)),
        lambda task: compared(task["seed"], people, rules),
        deadline(args.minutes),
    )
    rows = sorted(lines.rows, key=lambda row: row["seed"])
    write_csv(args.out / "races.csv", rows)
    text = written(rows, rules.alpha)
    (args.out / "result.md").write_text(f"# Pathfinder\n\n## Races\n\n{text}\n")
    print(text)
    if n_left:
        print(f"{n_left} races are left: the same command goes on", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
