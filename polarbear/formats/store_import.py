"""Adds imported runs or rankings to a store, which is created on a grid that fits the data."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from polarbear.errors import ImportFailedError, StoreMismatchError
from polarbear.formats.base import Imported, Rejection
from polarbear.plain import Record
from polarbear.problems.base import Instance
from polarbear.problems.specs import OPTIMUM
from polarbear.problems.weights import WEIGHT
from polarbear.settings.grid import EVALUATIONS, Budget
from polarbear.settings.names import LONGEST_INSTANCE, LONGEST_NAME, checked_name
from polarbear.settings.options import Source, validate
from polarbear.store import Store
from polarbear.wording import counted

Spacing = Literal["log", "linear"]


@dataclass(frozen=True)
class GridOptions:
    """The grid for imported runs; it spans the times of the data unless ends are given."""

    axis: str | None = None
    points: int = 30
    spacing: Spacing = "log"
    first: float | None = None
    last: float | None = None


@dataclass(frozen=True, repr=False)
class ImportResult(Record):
    """The result of an import; fields are the keys of `polarbear import --json`.

    ``present`` counts runs or rankings that the store had before, ``instances`` those of the
    source.
    """

    store: str
    kind: Literal["runs", "rankings"]
    added: int
    present: int
    algorithms: tuple[str, ...]
    instances: int
    rejected: tuple[Rejection, ...]
    notes: tuple[str, ...]

    def one_line(self) -> str:
        one = self.kind.removesuffix("s")
        return f"{counted(self.added, one)} added, {self.present} present before"


def add_imported(path: Path, found: Imported, grid: GridOptions | None = None) -> ImportResult:
    """Add an import to the store in a folder, which is created if it does not exist."""
    _check_names(found)
    config = {
        "seed": 0,
        "algorithms": {name: {"use": "imported"} for name in found.algorithms},
        "instances": {"suite": "imported", "maximise": found.maximise},
        "budget": budget_for(found, grid or GridOptions()).model_dump(mode="json", by_alias=True),
        "execution": {},
    }
    store = Store.open_or_create(path, config)
    with store.writing():
        store.adopt(config)
        store.add_instances(list(_reconciled(store, found.instances)), "imported")
        added = _add_runs(store, found) if found.rankings is None else _add_rankings(store, found)
    total = len(found.outcomes) if found.rankings is None else len(found.rankings)
    return ImportResult(
        store=str(store.path),
        kind="runs" if found.rankings is None else "rankings",
        added=added,
        present=total - added,
        algorithms=found.algorithms,
        instances=len(found.instances),
        rejected=found.rejected,
        notes=found.notes,
    )


def budget_for(found: Imported, options: GridOptions) -> Budget:
    """The grid of the rankings or the source, or one by the options over the times of the data."""
    grid: Any
    if found.rankings is not None:
        grid = sorted(set(found.times))
    elif found.grid is not None and replace(options, axis=None) == GridOptions():
        grid = found.grid
    else:
        times = found.times
        start, stop = options.first or min(times), options.last or max(times)
        if start <= 0:
            start = min((t for t in times if t > 0), default=0.0)
        if start <= 0:
            raise ImportFailedError(
                "every t of the source is 0, but algorithms are compared at times above 0"
            )
        points = 1 if start == stop else options.points
        grid = {"spacing": options.spacing, "from": start, "to": stop, "points": points}
    data = {"axis": options.axis or found.axis or EVALUATIONS, "grid": grid}
    return validate(Budget, data, Source("the grid"))


def _check_names(found: Imported) -> None:
    """Refuse names that cannot be displayed, whichever format accepted them."""
    ids = [instance.id for instance in found.instances]
    for names, longest in ((found.algorithms, LONGEST_NAME), (ids, LONGEST_INSTANCE)):
        for name in names:
            try:
                checked_name(name, longest)
            except ValueError as error:
                raise ImportFailedError(f"{error}; rename it in the source") from None


def _reconciled(store: Store, instances: tuple[Instance, ...]) -> Iterator[Instance]:
    """Instances with the specs that the store has for them.

    A stored optimum has to be the same in the source: otherwise one of the two may have distances
    to the optimum and the other one values. The same holds for weights.
    """
    stored = store.specs()
    for instance in instances:
        spec = stored.get(instance.id, {})
        if "imported" not in spec:
            yield instance
            continue
        if OPTIMUM in spec and spec[OPTIMUM] != instance.spec.get(OPTIMUM):
            raise StoreMismatchError(
                f"the best possible value of {instance.id} is {spec[OPTIMUM]:g} in {store.path}, "
                f"but {instance.spec.get(OPTIMUM, 'unknown')} in the source: values may be "
                "distances in one only. Choose another folder with --store."
            )
        stored_weight, weight = spec.get(WEIGHT, 1.0), instance.spec.get(WEIGHT)
        if weight is not None and weight != stored_weight:
            raise StoreMismatchError(
                f"the weight of {instance.id} is {stored_weight:g} in {store.path}, but "
                f"{weight:g} in the source: make them equal, or choose another folder with --store"
            )
        yield Instance(instance.index, instance.id, spec)


def _add_runs(store: Store, found: Imported) -> int:
    known = set(store.runs().select("algorithm", "instance").rows())
    new = [
        outcome
        for outcome in found.outcomes
        if (outcome.task.algorithm.name, outcome.task.instance.id) not in known
    ]
    store.add_runs(new, workers=0)
    return len(new)


def _add_rankings(store: Store, found: Imported) -> int:
    assert found.rankings is not None
    known = set(store.rankings().select("instance", "t").rows())
    is_new = [key not in known for key in found.rankings.select("instance", "t").rows()]
    new = found.rankings.filter(is_new)
    if len(new):
        store.add_rankings(new)
    return len(new)
