"""The effect of modcma's release: MA-BBOB at full size, by several releases.

A store for each release, made by `polarbear run configs/mabbob.yaml --instances N --store STORE`
in an environment that has it; compared are the instances that all stores have. On each of them
the runs of all releases have the same seed, from which each release draws differently.

    python studies/releases.py 1.2.0=STORE 1.1.0=STORE

Reported are the duels that decide the paper's Pareto set, by each release, and for each algorithm
the share of instances on which a release is better than the next one named: a half if nothing
changed.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import bound
import common
import mabbob_truth as truth_of
import populations
from common import Row, markdown, write_csv
from populations import Population

MIN_ROUNDS = (("CSA", "XNES"), ("TPA", "CSA"), ("LPXNES", "CSA"))
SIGNIFICANT = 0.01  # level of a binomial test, which is divided by the number of tests


@dataclass(frozen=True)
class Release:
    name: str
    people: Population
    instances: tuple[str, ...]

    def on(self, instances: list[str]) -> Population:
        """The population of these instances alone, in this order."""
        rows = [self.instances.index(name) for name in instances]
        return Population(
            self.people.names, self.people.times, self.people.unit, self.people.values[rows]
        )


def read(argument: str) -> Release:
    name, _, store = argument.partition("=")
    people, instances = populations.read_with_names(Path(store))
    return Release(name, people, instances)


def telling(name: str, people: Population, kind: str = "release") -> list[Row]:
    """The duels that decide the paper's Pareto set, at the times shown of the population."""
    rows = []
    duels = {pair: truth_of.ahead(people, *pair) for pair in MIN_ROUNDS}
    floor = (people.values <= 10 * people.values.min()).mean(axis=(0, 1))
    for t in truth_of.SHOWN:
        k = truth_of.nearest(people, t)
        rows.append(
            {
                kind: name,
                "t": float(people.times[k]),
                "first most often": truth_of.leader(people, t),
                **{f"{a} beats {b}": float(won[k]) for (a, b), won in duels.items()},
                "runs at the floor": float(floor[k]),
            }
        )
    return rows


def between(first: tuple[str, Population], second: tuple[str, Population]) -> list[Row]:
    """The number of instances on which the first release's run is ahead or behind, without ties."""
    from scipy.stats import binomtest

    name, people = first
    other_name, other = second
    rows = []
    for i, algorithm in enumerate(people.names):
        for t in truth_of.SHOWN:
            k = truth_of.nearest(people, t)
            better = int((people.values[:, i, k] < other.values[:, i, k]).sum())
            worse = int((people.values[:, i, k] > other.values[:, i, k]).sum())
            chance = binomtest(better, better + worse).pvalue if better + worse else 1.0
            rows.append(
                {
                    "algorithm": algorithm,
                    "t": float(people.times[k]),
                    "ahead": name,
                    "of": other_name,
                    "on": better,
                    "behind on": worse,
                    "p": float(chance),
                }
            )
    return rows


def written(
    releases: list[Release], folder: Path, kind: str = "release", with_first: bool = False
) -> str:
    """Write tables to a folder and return them as text.

    Each release is compared with the next, or with the first if ``with_first``.
    """
    in_all = set.intersection(*(set(release.instances) for release in releases))
    instances = [name for name in releases[0].instances if name in in_all]
    people = {release.name: release.on(instances) for release in releases}
    duel_rows = []
    for name, population in people.items():
        duel_rows += telling(name, population, kind)
    first, *others = people.items()
    pairs = [(other, first) for other in others] if with_first else list(pairwise(people.items()))
    changed = [row for pair in pairs for row in between(*pair)]
    write_csv(folder / "duels.csv", duel_rows)
    write_csv(folder / "changed.csv", changed)
    lines = [
        f"{len(instances)} instances, all algorithms on each by each {kind}.",
        "",
    ]
    for name, population in people.items():
        pareto = [population.names[i] for i in bound.duels_in(population.values).pareto]
        crossing = truth_of.crossing(population, "CSA", "XNES")
        lines.append(
            f"- modcma {name}: the Pareto set by duels is {', '.join(pareto)}; XNES is ahead of "
            f"CSA for good from {crossing:.3g}"
        )
    corrected_level = SIGNIFICANT / len(changed)
    apart = [row for row in changed if row["p"] < corrected_level]
    lines += [
        f"- of {len(changed)} comparisons of an algorithm with itself by the "
        f"{'first' if with_first else 'next'} {kind}, at the times below, {len(apart)} differ at "
        f"{SIGNIFICANT:g} corrected for their number" + (f": {_said(apart)}" if apart else "")
    ]
    return "\n".join([*lines, "", markdown(duel_rows)])


def _said(apart: list[Row]) -> str:
    """Each algorithm that differs: between which of them, when, and by how much."""
    told = []
    keys = dict.fromkeys((row["algorithm"], row["ahead"], row["of"]) for row in apart)
    for name, first, second in keys:
        key = (name, first, second)
        rows = [row for row in apart if (row["algorithm"], row["ahead"], row["of"]) == key]
        times = ", ".join(f"{row['t']:.0f}" for row in rows)
        shares = [row["on"] / (row["on"] + row["behind on"]) for row in rows]
        told.append(
            f"{name} at {times}, {first} ahead of {second} on {min(shares):.0%} to "
            f"{max(shares):.0%} of instances on which they differ"
        )
    return "; ".join(told)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("stores", nargs="+", metavar="RELEASE=STORE")
    parser.add_argument("--out", type=Path, default=common.RESULTS / "releases")
    args = parser.parse_args()
    if len(args.stores) < 2 or not all("=" in argument for argument in args.stores):
        parser.error("name two releases or more, each as RELEASE=STORE")
    text = written([read(argument) for argument in args.stores], args.out)
    (args.out / "result.md").write_text(f"# Releases of modcma\n\n## Duels\n\n{text}\n")
    print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
