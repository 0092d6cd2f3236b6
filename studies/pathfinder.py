"""Does it matter that the paper draws by Pathfinder? Its race on MA-BBOB, where it decides on XNES.

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
BY, WHO = "CSA", "XNES"
DRAWS = 4000
EXACT = ModelOptions(model="dirichlet", dependence="independent", draws=DRAWS)
PATHFINDER = EXACT.model_copy(update={"engine": "stan", "method": "pathfinder"})


def compared(seed: int, people: Population, rules: Rules) -> Row:
    """One race, and what its rankings say by one sampler and the other."""
    names, unit = people.names, people.unit
    values = people.sample(seed, LIMIT)
    found = raced(mabbob.way_of("paper", rules), values, names, people.times, unit, seed)
    out = [e.instances for e in found.state.eliminated if e.algorithm == WHO]
    seen = out[0] if out else len(found.present)
    sets = count_choice_sets(rank(values[:seen], found.present[:seen]))
    exact, again = (dominance(sets, unit, EXACT, 2 * seed + k) for k in (0, 1))
    pathfinder = dominance(sets, unit, PATHFINDER, 2 * seed)
    pair = names.index(BY), names.index(WHO)
    return {
        "instances": seen,
        f"{WHO} is out": bool(out),
        **{
            f"least sure, {name}": float(table[:, *pair].min())
            for name, table in (("exact", exact), ("Pathfinder", pathfinder))
        },
        **apart("exact again", exact, again),
        **apart("Pathfinder", exact, pathfinder),
    }


def dominance(sets: ChoiceSets, unit: np.ndarray, options: ModelOptions, seed: int) -> np.ndarray:
    """How likely a's rating is above b's: [time, a, b]."""
    return relations.pointwise(infer(sets, unit, options, seed, threads=1), threads=1).dominance


def apart(name: str, one: np.ndarray, two: np.ndarray) -> Row:
    """How far probabilities are from the exact ones, over all pairs and times."""
    a, b = np.triu_indices(one.shape[1], 1)
    off = np.abs(one - two)[:, a, b]
    return {f"{name}, off by": float(off.mean()), f"{name}, at most": float(off.max())}


def written(rows: list[Row], alpha: float) -> str:
    least = {name: f"least sure, {name}" for name in ("exact", "Pathfinder")}
    gone = [row for row in rows if row[f"{WHO} is out"]]
    sure = {name: sum(row[key] >= alpha for row in gone) for name, key in least.items()}
    off = {
        name: f"{np.mean([row[f'{name}, off by'] for row in rows]):.4f} on average, "
        f"{max(row[f'{name}, at most'] for row in rows):.3f} at most"
        for name in ("exact again", "Pathfinder")
    }
    return (
        f"{len(rows)} races by the paper's rules; {WHO} is out within {LIMIT} instances in "
        f"{len(gone)}. In the rounds in which it went, from draws of other seeds, {sure['exact']} "
        f"by the exact sampler and {sure['Pathfinder']} by Pathfinder are at least {alpha:g} sure "
        f"at every time. Probabilities of all pairs at all times differ from the exact ones by "
        f"{off['Pathfinder']}; exact ones from each other by {off['exact again']}.\n\n"
        + markdown(rows)
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--population", type=Path, required=True, help="a store; only read")
    parser.add_argument("--seeds", type=int, default=7)
    parser.add_argument("--minutes", type=float, help="begin no further race after so many")
    parser.add_argument("--out", type=Path, default=common.RESULTS / "pathfinder")
    args = parser.parse_args()
    people, rules = populations.read(args.population), load(mabbob.CONFIG).race
    lines = Lines(args.out / "races.jsonl", ("seed",))
    left = lines.complete(
        ({"seed": seed} for seed in range(args.seeds)),
        lambda task: compared(task["seed"], people, rules),
        deadline(args.minutes),
    )
    rows = sorted(lines.rows, key=lambda row: row["seed"])
    write_csv(args.out / "races.csv", rows)
    text = written(rows, rules.alpha)
    (args.out / "result.md").write_text(f"# Pathfinder\n\n## Races\n\n{text}\n")
    print(text)
    if left:
        print(f"{left} races are left: the same command goes on", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
