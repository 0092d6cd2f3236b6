"""Rankings as PrefLib keeps them: one file for each time, algorithms as alternatives."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from pydantic import Field

from polarbear.errors import ExportFailedError
from polarbear.exports.base import Export, Written
from polarbear.rankings import BELOW, rank
from polarbear.settings.grid import Budget
from polarbear.store import Store
from polarbear.wording import counted, typed_time

Order = tuple[tuple[int, ...], ...]  # alternatives from 1 on, best first, those that tie together


class PrefLib(Export):
    """A folder with the rankings at each time: .toc, or .toi where algorithms are absent."""

    tie_tolerance: float = Field(
        0.0, ge=0, description="how much worse than the best of them a value may be and still tie"
    )

    def write(self, store: Store, algorithms: tuple[str, ...], place: Path) -> Written:
        budget = Budget.model_validate(store.config["budget"])
        grid = store.on_grid(budget.times, algorithms)
        weights = store.weights()
        positions = rank(grid.values, ~np.isnan(grid.values), self.tie_tolerance)
        place.mkdir(parents=True)
        count = 0
        for k, t in enumerate(budget.times.tolist()):
            orders: dict[Order, list[str]] = {}
            for i, instance in enumerate(grid.instances):
                order = _order(positions[i, :, k])
                if (positions[i, :, k] >= 0).sum() > 1:
                    orders.setdefault(order, []).append(instance)
            if not orders:
                continue
            whole = all(sum(map(len, order)) == len(algorithms) for order in orders)
            stem, ending = f"{k + 1:04}", "toc" if whole else "toi"
            text = _text(f"{stem}.{ending}", t, budget.axis, algorithms, orders, weights)
            (place / f"{stem}.{ending}").write_text(text, encoding="utf-8")
            count += sum(map(len, orders.values()))
        if not count:
            raise ExportFailedError(f"{store.path} holds no ranking of two or more algorithms")
        cut = int((positions == BELOW).any(axis=1).sum())
        notes = []
        if cut:
            notes.append(
                f"{counted(cut, 'ranking')} recorded only the best: the others are left out, and "
                "are to be taken as below these (import with --set unranked=below)"
            )
        if weights:
            notes.append(
                "instances have weights, which stand in lines that only PolarBear reads: for "
                "others each counts as one voter"
            )
        what = f"{counted(count, 'ranking')} at {counted(len(budget.times), 'time')}"
        return Written(what, tuple(notes))


def _order(positions: np.ndarray) -> Order:
    present = np.flatnonzero((positions >= 0) & (positions != BELOW))
    groups: dict[int, list[int]] = {}
    for a in present.tolist():
        groups.setdefault(int(positions[a]), []).append(a + 1)
    return tuple(tuple(groups[position]) for position in sorted(groups))


def _text(
    name: str,
    t: float,
    axis: str,
    algorithms: Sequence[str],
    orders: dict[Order, list[str]],
    weights: Mapping[str, float],
) -> str:
    """PrefLib's header, then its votes. Readers skip the lines on times, voters and their weights,
    which are ours.

    Orders stand in PrefLib's own order: the most frequent first.
    """
    listed = sorted(orders.items(), key=lambda item: (-len(item[1]), item[0]))
    voters = sum(len(found) for found in orders.values())
    head = [
        f"FILE NAME: {name}",
        f"TITLE: rankings at {typed_time(t, axis)}",
        "DESCRIPTION: each voter is a problem instance, each alternative an algorithm",
        f"DATA TYPE: {name.rpartition('.')[2]}",
        "MODIFICATION TYPE: original",
        "RELATES TO: ",
        "RELATED FILES: ",
        "PUBLICATION DATE: ",
        "MODIFICATION DATE: ",
        f"POLARBEAR TIME: {t!r}",
        f"NUMBER ALTERNATIVES: {len(algorithms)}",
        f"NUMBER VOTERS: {voters}",
        f"NUMBER UNIQUE ORDERS: {len(orders)}",
        *(f"ALTERNATIVE NAME {a}: {name}" for a, name in enumerate(algorithms, 1)),
        *(
            f"POLARBEAR VOTERS {number}: {json.dumps(found, ensure_ascii=False)}"
            for number, (_, found) in enumerate(listed, 1)
        ),
        *(
            f"POLARBEAR WEIGHTS {number}: {json.dumps([weights.get(one, 1.0) for one in found])}"
            for number, (_, found) in enumerate(listed, 1)
            if weights
        ),
    ]
    votes = [f"{len(found)}: {', '.join(map(_group, order))}" for order, found in listed]
    return "\n".join([*(f"# {line}" for line in head), *votes, ""])


def _group(alternatives: tuple[int, ...]) -> str:
    inside = ", ".join(map(str, alternatives))
    return inside if len(alternatives) == 1 else f"{{{inside}}}"
