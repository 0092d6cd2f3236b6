"""Differences between stores in the share of duels won, with 95 % intervals.

An algorithm's number is the share of its duels with the other common algorithms that it wins, with
equal weights for all opponents. Unlike a share of firsts it does not depend on which other
algorithms a store has. A difference uses the draws of both posteriors, taken as independent.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
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
    """Of each pair, then of each algorithm: the share of duels won[store][draw, moment].

    A single common algorithm has no duels; it is only compared with itself.
    """
    if len(names) == 1:
        return
    totals = {name: [np.zeros(1) for _ in sides] for name in names}
    for a, b in combinations(names, 2):
        won = [side.wins(a, b, places) for side, places in zip(sides, moments.places, strict=True)]
        for place, draws in enumerate(won):
            totals[a][place] = totals[a][place] + draws
            totals[b][place] = totals[b][place] + 1 - draws
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


def stretches(found: Compared) -> list[str]:
    """Neighbouring times at which one of a pair wins more in another store, the widest first.

    At each of them the 95 % interval of the difference excludes zero.
    """
    pair = ["store", "algorithm", "against"]
    rows = found.differences.drop_nulls(["against", "at"])
    from_other = rows.with_columns(
        algorithm="against",
        against="algorithm",
        first=1 - pl.col("first"),
        other=1 - pl.col("other"),
        difference=-pl.col("difference"),
        low=-pl.col("high"),
        high=-pl.col("low"),
    )
    more = pl.col("low") > 0
    widest = pl.all().sort_by("difference").last()
    shown = (
        pl.concat([rows, from_other])
        .with_columns(place=pl.int_range(pl.len()).over(pair), stretch=more.rle_id().over(pair))
        .filter(more)
        .group_by(*pair, "stretch", maintain_order=True)
        .agg(widest, begin=pl.col("place").min(), end=pl.col("place").max())
        .sort("difference", descending=True, maintain_order=True)
    )
    return [_stretch_words(row, found) for row in shown.iter_rows(named=True)]


def _stretch_words(row: dict[str, Any], found: Compared) -> str:
    moments, begin, end = found.moments, row["begin"], row["end"]
    if begin == 0 and end == len(moments.at) - 1 and end > 0:
        when = "At all times"
    elif begin != end:
        when = f"From {moments.short(begin)} to {moments.said(end)}"
    else:
        when = f"At {moments.said(begin)}"
    at = "" if begin == end else f" at {moments.short(row['place'])}"
    return (
        f"{when} {row['algorithm']} beats {row['against']} more often in {row['store']}:{at} on "
        f"{percent_cell(row['other'])} of instances, in {found.sides[0].name} on "
        f"{percent_cell(row['first'])} (difference {points(row['low'])} to {points(row['high'])})"
    )
