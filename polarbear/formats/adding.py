"""From an import to a store: what was not there yet is added, on a grid that fits the data."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from polarbear.errors import ImportFailedError, StoreMismatchError
from polarbear.formats.base import Complaint, Imported
from polarbear.problems.base import Instance
from polarbear.problems.specs import OPTIMUM
from polarbear.problems.weights import WEIGHT
from polarbear.settings.grid import EVALUATIONS, Budget
from polarbear.settings.names import LONGEST_INSTANCE, LONGEST_NAME, checked_name
from polarbear.settings.options import Source, validate
from polarbear.store import Store

Spacing = Literal["log", "linear"]


@dataclass(frozen=True)
class GridWanted:
    """The times at which imported runs are compared: the data's range, unless ends are given."""

    axis: str | None = None
    points: int = 30
    spacing: Spacing = "log"
    first: float | None = None
    last: float | None = None


@dataclass(frozen=True)
class ImportResult:
    """What an import came to; fields are the keys of `polarbear import --json`.

    ``present`` counts what was in the store already, ``instances`` those of the source.
    """

    store: str
    kind: Literal["runs", "rankings"]
    added: int
    present: int
    algorithms: tuple[str, ...]
    instances: int
    rejected: tuple[Complaint, ...]
    notes: tuple[str, ...]


def add_imported(path: Path, found: Imported, grid: GridWanted | None = None) -> ImportResult:
    """Add an import to the store in a folder, which is made if it is not there."""
    _check_names(found)
    config = {
        "seed": 0,
        "algorithms": {name: {"use": "imported"} for name in found.algorithms},
        "instances": {"suite": "imported", "maximise": found.maximise},
        "budget": budget_for(found, grid or GridWanted()).model_dump(mode="json", by_alias=True),
        "execution": {},
    }
    store = Store.open_or_create(path, config)
    with store.writing():
        store.adopt(config)
        store.add_instances(list(_as_known(store, found.instances)), "imported")
        added = _add(store, found)
    total = len(found.outcomes) if found.rankings is None else len(found.rankings)
    return ImportResult(
        store=str(store.path),
        kind="runs" if found.rankings is None else "rankings",
        added=added,
        present=total - added,
        algorithms=found.algorithms,
        instances=len(found.instances),
        rejected=found.complaints,
        notes=found.notes,
    )


def _check_names(found: Imported) -> None:
    """Nobody's name may be what cannot be shown, whichever format let it through."""
    ids = [instance.id for instance in found.instances]
    for names, longest in ((found.algorithms, LONGEST_NAME), (ids, LONGEST_INSTANCE)):
        for name in names:
            try:
                checked_name(name, longest)
            except ValueError as error:
                raise ImportFailedError(f"{error}; rename it where it comes from") from None


def _as_known(store: Store, instances: tuple[Instance, ...]) -> Iterator[Instance]:
    """Instances as they are stored already: what another source told of them stays true.

    Only if it told the best possible value, and this one has another or none, do the two not go
    together: one of them may hold distances to the optimum, and the other values.
    """
    stored = dict(store.instances().select("instance", "spec").iter_rows())
    for instance in instances:
        spec = json.loads(stored[instance.id]) if instance.id in stored else None
        if spec is None or "imported" not in spec:
            yield instance
            continue
        if OPTIMUM in spec and spec[OPTIMUM] != instance.spec.get(OPTIMUM):
            raise StoreMismatchError(
                f"the best possible value of {instance.id} is {spec[OPTIMUM]:g} in {store.path}, "
                f"but {instance.spec.get(OPTIMUM, 'not known')} in what is to be added: values "
                "may be distances in one only. Choose another folder with --store."
            )
        before, now = spec.get(WEIGHT, 1.0), instance.spec.get(WEIGHT)
        if now is not None and now != before:
            raise StoreMismatchError(
                f"the weight of {instance.id} is {before:g} in {store.path}, but {now:g} in what "
                "is to be added; make them the same, or choose another folder with --store"
            )
        yield Instance(instance.index, instance.id, spec)


def budget_for(found: Imported, wanted: GridWanted) -> Budget:
    """The grid: the rankings' or the source's own, or as asked for within the range of the data."""
    grid: Any
    if found.rankings is not None:
        grid = sorted(set(found.rankings["t"]))
    elif found.grid is not None and replace(wanted, axis=None) == GridWanted():
        grid = found.grid
    else:
        start, stop = wanted.first or found.times[0], wanted.last or found.times[1]
        if start <= 0:
            start = _first_positive(found)
        points = 1 if start == stop else wanted.points
        grid = {"spacing": wanted.spacing, "from": start, "to": stop, "points": points}
    data = {"axis": wanted.axis or found.axis or EVALUATIONS, "grid": grid}
    return validate(Budget, data, Source("the grid"))


def _first_positive(found: Imported) -> float:
    """The first time above 0 that anything is known of; a grid needs one."""
    times = [t for one in found.outcomes for t in (*one.times.tolist(), one.reached) if t > 0]
    if not times:
        raise ImportFailedError(
            "every t of the source is 0, and algorithms are compared at times above 0"
        )
    return float(min(times))


def _add(store: Store, found: Imported) -> int:
    """Store what is not there yet; how many runs or rankings that were."""
    if found.rankings is not None:
        there = set(store.rankings().select("instance", "t").rows())
        new = [key not in there for key in found.rankings.select("instance", "t").rows()]
        fresh = found.rankings.filter(new)
        if len(fresh):
            store.add_rankings(fresh)
        return len(fresh)
    known = set(store.runs().select("algorithm", "instance").rows())
    outcomes = [
        outcome
        for outcome in found.outcomes
        if (outcome.task.algorithm.name, outcome.task.instance.id) not in known
    ]
    store.add_runs(outcomes, workers=0)
    return len(outcomes)
