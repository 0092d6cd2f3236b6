"""Facts about a whole population: shares of first places, duels, ties, ratings.

Algorithms that tie for the first place on an instance share it.
"""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import bound
import numpy as np
from common import Row, markdown, write_csv
from populations import Population
from ways import Way, drawn

from polarbear.inference import ModelOptions
from polarbear.racing.rules import Rules

SHOWN = (100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 30_000, 40_000, 50_000, 60_000)


def first_places(people: Population) -> np.ndarray:
    """Share of instances on which each is the best: [time, algorithm]."""
    best = people.values == people.values.min(axis=1, keepdims=True)
    return np.asarray((best / best.sum(axis=1, keepdims=True)).mean(axis=0).T)


def last_of_cma(people: Population) -> np.ndarray:
    """Share of instances on which each is the last but for random search: [time, algorithm]."""
    values = np.where(np.array(people.names)[:, None] == "RS", -np.inf, people.values)
    worst = values == values.max(axis=1, keepdims=True)
    return np.asarray((worst / worst.sum(axis=1, keepdims=True)).mean(axis=0).T)


def nearest(people: Population, t: float) -> int:
    return int(np.abs(np.log(people.times / t)).argmin())


def leader(people: Population, t: float) -> str:
    return people.names[int(first_places(people)[nearest(people, t)].argmax())]


def ahead(people: Population, a: str, b: str) -> np.ndarray:
    """Share of their duels that a wins at each time, ties being half."""
    i = people.names.index(a)
    j = people.names.index(b)
    won = bound.duels_in(people.values).won
    ties = 1 - won[:, i, j] - won[:, j, i]
    return np.asarray(won[:, i, j] + ties / 2)


def clearly_beaten(people: Population, rope: float) -> list[str]:
    """Algorithms that lose more than 0.5 + rope of the duels with one other at every time."""
    names = people.names
    return [
        loser
        for loser in names
        if any((ahead(people, by, loser) > 0.5 + rope).all() for by in names if by != loser)
    ]


def crossing(people: Population, early: str, late: str) -> float:
    """The time from which ``late`` is ahead for good; infinite if it is not at the end."""
    behind = np.flatnonzero(ahead(people, early, late) >= 0.5)
    if len(behind) == 0:
        return float(people.times[0])
    if behind[-1] == len(people.times) - 1:
        return float("inf")
    return float(people.times[behind[-1] + 1])


def rated(people: Population) -> np.ndarray:
    """Posterior means of Plackett-Luce ratings from the whole population: [time, algorithm]."""
    strategy = Way.of("ratings", ModelOptions(model="dirichlet"), Rules())
    posterior = drawn(
        strategy, people.values, np.ones(people.values.shape, dtype=bool), people.unit, 1
    )
    return np.asarray(posterior.mean())


def over_time(people: Population) -> list[Row]:
    """First places, ratings, two telling duels, and ties, at every fourth time and those shown."""
    first = first_places(people)
    ratings = rated(people)
    last = last_of_cma(people)
    csa_xnes = ahead(people, "CSA", "XNES")
    tpa_csa = ahead(people, "TPA", "CSA")
    pairs = list(combinations(range(len(people.names)), 2))
    tied = np.mean([people.values[:, a] == people.values[:, b] for a, b in pairs], axis=(0, 1))
    floor = people.values.min()
    low = (people.values <= 10 * floor).mean(axis=(0, 1))
    indices = sorted({*range(0, len(people.times), 4), *(nearest(people, t) for t in SHOWN)})
    return [
        {
            "t": float(people.times[k]),
            **{f"first {name}": float(first[k, i]) for i, name in enumerate(people.names)},
            **{f"rating {name}": float(ratings[k, i]) for i, name in enumerate(people.names)},
            "CSA last": float(last[k, people.names.index("CSA")]),
            "XNES last": float(last[k, people.names.index("XNES")]),
            "CSA beats XNES": float(csa_xnes[k]),
            "TPA beats CSA": float(tpa_csa[k]),
            "tied pairs": float(tied[k]),
            "runs at the floor": float(low[k]),
        }
        for k in indices
    ]


def draw(rows: list[Row], names: tuple[str, ...], path: Path) -> None:
    """First places, ratings and duels beside each other."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 3, figsize=(11, 3.2), layout="constrained")
    t = [row["t"] for row in rows]
    for axis, kind in zip(axes, ("first", "rating"), strict=False):
        for name in names:
            axis.plot(t, [row[f"{kind} {name}"] for row in rows], label=name)
        axis.set_title({"first": "share of first places", "rating": "Plackett-Luce rating"}[kind])
    axes[0].legend(fontsize=7)
    for duel in ("CSA beats XNES", "TPA beats CSA", "tied pairs", "runs at the floor"):
        axes[2].plot(t, [row[duel] for row in rows], label=duel)
    axes[2].axhline(0.5, color="grey", linewidth=0.5)
    axes[2].legend(fontsize=7)
    for axis in axes:
        axis.set_xscale("log")
        axis.set_xlabel("evaluations")
    figure.savefig(path, dpi=110)
    plt.close(figure)


def written(people: Population, folder: Path) -> str:
    """The population's tables and figure in a folder, and the short table."""
    rows = over_time(people)
    write_csv(folder / "truth.csv", rows)
    draw(rows, people.names, folder / "truth.png")
    short_rows = [
        {
            "t": row["t"],
            "first most often": leader(people, row["t"]),
            "highest rating": max(people.names, key=lambda name, r=row: r[f"rating {name}"]),
            **{key: row[key] for key in list(row)[-6:]},
        }
        for row in rows
        if any(nearest(people, t) == nearest(people, row["t"]) for t in SHOWN)
    ]
    duels = bound.duels_in(people.values)
    pareto = ", ".join(people.names[i] for i in duels.pareto)
    out = "; ".join(
        f"{people.names[i]} is beaten at every time by "
        + ", ".join(people.names[j] for j in np.flatnonzero(duels.better[:, i]))
        for i in range(len(people.names))
        if i not in duels.pareto
    )
    return (
        f"{len(people.values)} instances, all algorithms on each. The Pareto set by duels is "
        f"{pareto}; {out or 'nobody is dominated'}.\n\n{markdown(short_rows)}"
    )
