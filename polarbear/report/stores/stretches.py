"""Stretches of time in which a pair's duels go otherwise in another store, in words."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import Any

from polarbear.report.stores.differences import Compared
from polarbear.wording import percent_cell, points


@dataclass(frozen=True)
class Stretch:
    """Neighbouring moments at which one of a pair wins more of their duels in another store.

    ``widest`` is the row of the moment at which the difference is the largest, told from the side
    of who wins more.
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
