"""Differences between stores in the share of duels won, with 95 % intervals.

An algorithm's number is the share of its duels with the other common algorithms that it wins, with
equal weights for all opponents. Unlike a share of firsts it does not depend on which other
algorithms a store has. A difference uses the draws of both posteriors, taken as independent.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, groupby
from typing import Any

import numpy as np
import polars as pl

from polarbear.report.stores.sides import Moments, Side, common_algorithms, matched
from polarbear.wording import percent_cell, points

TAIL = 0.025
TEXTS = ("store", "algorithm", "against")
LEVELS = dict.fromkeys(TEXTS, pl.String) | dict.fromkeys(
    ("at", "t", "mean", "low", "high"), pl.Float64
)
DIFFERENCES = dict.fromkeys(TEXTS, pl.String) | dict.fromkeys(
    ("at", "first", "other", "difference", "low", "high", "p_more"), pl.Float64
)


@dataclass(frozen=True)
class Compared:
    """Stores side by side.

    ``levels``: for each store, algorithm and moment the share of duels won, and its interval;
    ``against`` is the opponent, null for all common ones together. ``differences``: that of each
    other store minus that of the first, ``p_more`` how probable it is that it is above zero; ``at``
    is null for the mean over all moments.
    """

    sides: tuple[Side, ...]
    algorithms: tuple[str, ...]
    moments: Moments
    levels: pl.DataFrame
    differences: pl.DataFrame

    def over_time(self, pairs: bool) -> pl.DataFrame:
        """Differences of means over all moments: of pairs, or of algorithms."""
        of_pairs = pl.col("against").is_not_null()
        return self.differences.filter(pl.col("at").is_null(), of_pairs if pairs else ~of_pairs)


def compared(sides: Sequence[Side], align: str = "auto") -> Compared:
    """Compare stores with the first of them."""
    names = common_algorithms(sides)
    moments = matched(sides, align)
    levels: list[tuple[object, ...]] = []
    rows: list[tuple[object, ...]] = []
    for algorithm, against, won in _duels(sides, names, moments):
        for side, draws, places in zip(sides, won, moments.places, strict=True):
            low, high = np.quantile(draws, [TAIL, 1 - TAIL], axis=0)
            own = side.basis.times[places]
            levels += [
                (side.name, algorithm, against, *numbers)
                for numbers in zip(
                    *(x.tolist() for x in (moments.at, own, draws.mean(axis=0), low, high)),
                    strict=True,
                )
            ]
        first = won[0]
        for side, draws in zip(sides[1:], won[1:], strict=True):
            rows += [
                (side.name, algorithm, against, *numbers)
                for numbers in _differences(first, draws, moments.at)
            ]
    return Compared(
        tuple(sides),
        names,
        moments,
        pl.DataFrame(levels, schema=LEVELS, orient="row"),
        pl.DataFrame(rows, schema=DIFFERENCES, orient="row"),
    )


def _duels(
    sides: Sequence[Side], names: Sequence[str], moments: Moments
) -> Iterator[tuple[str, str | None, list[np.ndarray]]]:
    """Of each pair, then of each algorithm: the share of duels won[store][draw, moment]."""
    totals = {name: [np.zeros(0) for _ in sides] for name in names}
    for a, b in combinations(names, 2):
        won = [side.wins(a, b, places) for side, places in zip(sides, moments.places, strict=True)]
        for place, draws in enumerate(won):
            for name, mine in ((a, draws), (b, 1 - draws)):
                held = totals[name][place]
                totals[name][place] = mine if not held.size else held + mine
        yield a, b, won
    for name in names:
        yield name, None, [total / (len(names) - 1) for total in totals[name]]


def _differences(
    first: np.ndarray, other: np.ndarray, at: np.ndarray
) -> list[tuple[float | None, ...]]:
    """One row for the mean over all moments, and one for each of them."""
    size = min(len(first), len(other))
    # Draws of one chain follow each other in both; spread evenly, all chains have their share.
    one, two = (draws[np.arange(size) * len(draws) // size] for draws in (first, other))
    moments: list[float | None] = [None, *at.tolist()]
    before, after = (np.column_stack([x.mean(axis=1), x]) for x in (one, two))
    change = after - before
    low, high = np.quantile(change, [TAIL, 1 - TAIL], axis=0)
    more = (change > 0).mean(axis=0) + 0.5 * (change == 0).mean(axis=0)
    columns = (before.mean(axis=0), after.mean(axis=0), change.mean(axis=0), low, high, more)
    return list(zip(moments, *(column.tolist() for column in columns), strict=True))


@dataclass(frozen=True)
class Stretch:
    """Neighbouring moments at which one of a pair wins more of their duels in another store.

    ``widest`` is the row of the moment with the largest difference, seen from the algorithm that
    wins more.
    """

    winner: str
    loser: str
    store: str
    first: int
    last: int
    widest: dict[str, Any]

    def words(self, found: Compared) -> str:
        moments, base = found.moments, found.sides[0].name
        if self.first == 0 and self.last == len(moments.at) - 1 and self.last > 0:
            when = "At all times"
        elif self.first != self.last:
            when = f"From {moments.short(self.first)} to {moments.said(self.last)}"
        else:
            when = f"At {moments.said(self.first)}"
        row = self.widest
        place = int((moments.at == row["at"]).argmax())
        at = "" if self.first == self.last else f" at {moments.short(place)}"
        low, high = points(row["low"]), points(row["high"])
        return (
            f"{when} {self.winner} beats {self.loser} more often in {self.store}:{at} on "
            f"{percent_cell(row['other'])} of instances, in {base} on "
            f"{percent_cell(row['first'])} (difference {low} to {high})"
        )


def stretches(found: Compared) -> list[Stretch]:
    """All stretches whose moments each have a 95 % interval without zero, the widest first."""
    made = []
    rows = found.differences.drop_nulls(["against", "at"])
    for (store, a, b), own in rows.group_by("store", "algorithm", "against", maintain_order=True):
        facts = own.to_dicts()
        sign = [int(row["low"] > 0) - int(row["high"] < 0) for row in facts]
        for side, run in groupby(range(len(facts)), sign.__getitem__):
            places = list(run)
            if side == 0:
                continue
            winner, loser = (a, b) if side > 0 else (b, a)
            seen = [facts[i] if side > 0 else _turned(facts[i]) for i in places]
            widest = max(seen, key=lambda row: float(row["difference"]))
            made.append(Stretch(str(winner), str(loser), str(store), places[0], places[-1], widest))
    return sorted(made, key=lambda one: -float(one.widest["difference"]))


def _turned(row: dict[str, Any]) -> dict[str, Any]:
    """The same duels from the side of the other of the pair."""
    return row | {
        "first": 1 - row["first"],
        "other": 1 - row["other"],
        "difference": -row["difference"],
        "low": -row["high"],
        "high": -row["low"],
    }
