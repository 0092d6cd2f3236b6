"""From an import to a store, and from a store to an export, which is written completely or not."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from polarbear.errors import ExportFailedError, ImportFailedError, StoreMismatchError
from polarbear.formats.base import Export, Imported, Rejection
from polarbear.problems.base import Instance
from polarbear.problems.specs import OPTIMUM
from polarbear.problems.weights import WEIGHT
from polarbear.records import Record
from polarbear.settings.grid import EVALUATIONS, Budget
from polarbear.settings.names import LONGEST_INSTANCE, LONGEST_NAME, checked_name
from polarbear.settings.options import Source, unknown, validate
from polarbear.store import StoreOnDisk, file_io
from polarbear.wording import counted, joined

Spacing = Literal["log", "linear"]
MAX_FILE_NAME_BYTES = 120  # of the 255 that most systems allow


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
        present = f", {self.present} present before" if self.present else ""
        return (
            f"{counted(self.added, self.kind.removesuffix('s'))} of "
            f"{counted(len(self.algorithms), 'algorithm')} on "
            f"{counted(self.instances, 'instance')} added to {self.store}{present}"
        )


def add_imported(path: Path, found: Imported, grid: GridOptions | None = None) -> ImportResult:
    """Add an import to the store in a folder, which is created if it does not exist."""
    _check_names(found)
    config = {
        "seed": 0,
        "trajectory": found.trajectory,
        "algorithms": {name: {"use": "imported"} for name in found.algorithms},
        "instances": {"suite": "imported", "maximise": found.maximise},
        "budget": budget_for(found, grid or GridOptions()).model_dump(mode="json", by_alias=True),
        "execution": {},
    }
    store = StoreOnDisk.create(path, config)
    with store.writing():
        store.adopt(config)
        store.add_instances(list(_reconciled(store, found.instances)), "imported")
        if found.rankings is None:
            known = set(store.runs().select("algorithm", "instance").rows())
            tasks = [outcome.task for outcome in found.outcomes]
            is_new = [(task.algorithm.name, task.instance.id) not in known for task in tasks]
            new_runs = [run for run, new in zip(found.outcomes, is_new, strict=True) if new]
            store.add_runs(new_runs, workers=0)
        else:
            known = set(store.rankings().select("instance", "t").rows())
            is_new = [key not in known for key in found.rankings.select("instance", "t").rows()]
            if any(is_new):
                store.add_rankings(found.rankings.filter(is_new))
    return ImportResult(
        store=str(store.path),
        kind="runs" if found.rankings is None else "rankings",
        added=sum(is_new),
        present=len(is_new) - sum(is_new),
        algorithms=found.algorithms,
        instances=len(found.instances),
        rejected=found.rejected,
        notes=found.notes,
    )


def budget_for(found: Imported, options: GridOptions) -> Budget:
    """The grid of the rankings or the source, or one by the options over the times of the data."""
    grid: object
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


def _reconciled(store: StoreOnDisk, instances: tuple[Instance, ...]) -> Iterator[Instance]:
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


@dataclass(frozen=True, repr=False)
class ExportResult(Record):
    """The result of an export; fields are the keys of `polarbear export --json`."""

    store: str
    format: str
    to: str
    algorithms: tuple[str, ...]
    what: str
    written: tuple[str, ...]
    notes: tuple[str, ...]

    def one_line(self) -> str:
        return f"{self.what} written to {self.to}"


def export_store(
    store: StoreOnDisk,
    name: str,
    export: Export,
    place: Path,
    algorithms: Sequence[str] | None = None,
    force: bool = False,
) -> ExportResult:
    """Write a store to a place; existing files are replaced only with ``force``."""
    known = tuple(store.config["algorithms"])
    for wanted in algorithms or ():
        if wanted not in known:
            raise ExportFailedError(f"{unknown('algorithm', wanted, known)} (in {store.path})")
    if export.endings and place.suffix not in export.endings:
        endings = joined(export.endings, "or")
        raise ExportFailedError(
            f"expected a file name that ends in {endings}, found '{place.name}'"
        )
    chosen = tuple(one for one in known if algorithms is None or one in algorithms)
    if not force:
        _check_free(place)
    try:
        with file_io.folder_aside(place) as temporary:
            written = export.write(store, chosen, temporary / place.name)
            made = sorted(path for path in temporary.rglob("*") if path.is_file())
            goals = [place.parent / path.relative_to(temporary) for path in made]
            if not force:
                for goal in goals:
                    _check_free(goal)
            for path, goal in zip(made, goals, strict=True):
                goal.parent.mkdir(parents=True, exist_ok=True)
                file_io.write_whole(goal, path.read_bytes())
    except OSError as error:
        raise ExportFailedError(f"cannot write {place}: {error.strerror or error}") from None
    files = tuple(map(str, goals))
    return ExportResult(
        str(store.path), name, str(place), chosen, written.what, files, written.notes
    )


def _check_free(path: Path) -> None:
    if path.is_dir() and not any(path.iterdir()):
        return
    if path.exists() or path.is_symlink():
        raise ExportFailedError(f"{path} exists already: choose another place, or add --force")


def file_name(text: str) -> str:
    """A file name that every system allows, short enough for a prefix and a suffix."""
    made = re.sub(r"[^\w.+-]+", "_", text).strip("._")
    return made.encode()[:MAX_FILE_NAME_BYTES].decode(errors="ignore") or "_"


def file_names(names: Sequence[str]) -> dict[str, str]:
    """A file name for each name, all different even on systems that ignore case."""
    found: dict[str, str] = {}
    taken: set[str] = set()
    for name in names:
        base = made = file_name(name)
        number = 1
        while made.lower() in taken:
            number += 1
            made = f"{base}-{number}"
        taken.add(made.lower())
        found[name] = made
    return found
