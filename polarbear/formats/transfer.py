"""From an import to a store, and from a store to an export, which is written completely or not."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import polars as pl

from polarbear.config.stored_settings import StoredSettings
from polarbear.errors import ExportFailedError, ImportFailedError, StoreMismatchError
from polarbear.execution.outcome import Outcome
from polarbear.formats.base import Export, Imported, Rejection
from polarbear.formats.imported_runs import ImportedRuns
from polarbear.problems.base import Instance
from polarbear.problems.specs import OPTIMUM
from polarbear.problems.weights import WEIGHT
from polarbear.records import Record
from polarbear.settings.defaults import GRID_POINTS
from polarbear.settings.enumerations import Spacing
from polarbear.settings.grid import EVALUATIONS, Budget
from polarbear.settings.names import LONGEST_INSTANCE, LONGEST_NAME, checked_name
from polarbear.settings.options import Source, unknown, validate
from polarbear.store import StoreOnDisk, file_io, is_store
from polarbear.store.runs import FinishedRun
from polarbear.wording import counted, joined

MAX_TIMES_OF_DATA = 100  # up to which the times of the data are the default grid
MAX_FILE_NAME_BYTES = 120  # Most systems allow 255, which leaves space for a prefix and a suffix.


@dataclass(frozen=True)
class GridOptions:
    """The grid for imported runs; it spans the times of the data unless ends are given.

    ``points`` and ``spacing`` are None if they were not given.
    """

    axis: str | None = None
    points: int | None = None
    spacing: str | None = None
    first: float | None = None
    last: float | None = None

    @property
    def is_default(self) -> bool:
        """Whether nothing but the axis was given."""
        return replace(self, axis=None) == GridOptions()


@dataclass(frozen=True, repr=False)
class ImportResult(Record):
    """The result of an import; fields are the keys of `polarbear import --json`.

    ``present`` is the number of runs or rankings that were in the store before the import;
    ``instances`` is the number of instances in the source.
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


def add_imported(path: Path, imported: Imported, grid: GridOptions | None = None) -> ImportResult:
    """Add an import to the store in a folder, which is created if it does not exist."""
    _check_names(imported)
    budget = budget_for(imported, grid or GridOptions(), _listed_times(path))
    plain = {
        "seed": 0,
        "trajectory": imported.trajectory,
        "algorithms": {name: {"use": "imported"} for name in imported.algorithms},
        "instances": {
            "suite": "imported",
            "maximise": imported.maximise,
            **({"objectives": imported.n_objectives} if imported.n_objectives > 1 else {}),
        },
        "budget": budget.model_dump(mode="json", by_alias=True),
        "execution": {},
    }
    settings = StoredSettings.from_plain(plain)
    store = StoreOnDisk.create(path, settings)
    with store.writing():
        store.adopt(settings)
        store.add_instances(list(_reconciled(store, imported.instances)), "imported")
        if imported.features is not None:
            store.add_features(imported.features)
        if imported.rankings is None:
            n_all = len(imported.outcomes)
            n_new = _add_new_runs(store, imported.outcomes)
        else:
            n_all = len(imported.rankings)
            n_new = _add_new_rankings(store, imported.rankings)
    return ImportResult(
        store=str(store.path),
        kind="runs" if imported.rankings is None else "rankings",
        added=n_new,
        present=n_all - n_new,
        algorithms=imported.algorithms,
        instances=len(imported.instances),
        rejected=imported.rejected,
        notes=imported.notes,
    )


def _add_new_runs(store: StoreOnDisk, outcomes: Sequence[Outcome]) -> int:
    """Add the runs that the store does not have yet, and return their number."""
    stored = store.runs().select("algorithm", "instance")
    if isinstance(outcomes, ImportedRuns):
        new_runs = outcomes.without(stored)
        if new_runs:
            store.add_tables_of_runs(*new_runs.tables())
        return len(new_runs)
    stored_keys = {*stored.rows()}
    new_outcomes = [
        outcome
        for outcome in outcomes
        if (outcome.task.algorithm.name, outcome.task.instance.id) not in stored_keys
    ]
    store.add_runs([FinishedRun.of(outcome, workers=0) for outcome in new_outcomes])
    return len(new_outcomes)


def _add_new_rankings(store: StoreOnDisk, rankings: pl.DataFrame) -> int:
    """Add the rankings that the store does not have yet, and return their number."""
    stored = set(store.rankings().select("instance", "t").rows())
    is_new = [key not in stored for key in rankings.select("instance", "t").rows()]
    if any(is_new):
        store.add_rankings(rankings.filter(is_new))
    return sum(is_new)


def _listed_times(path: Path) -> tuple[float, ...]:
    """The times of the grid of an existing store, if they are those of data; otherwise none."""
    if not is_store(path):
        return ()
    grid = StoreOnDisk.open(path).settings.budget.grid
    return grid if isinstance(grid, tuple) else ()


def budget_for(
    imported: Imported, options: GridOptions, known_times: Sequence[float] = ()
) -> Budget:
    """The grid of the rankings or the source, or one by the options over the times of the data.

    By default the times of the data are the grid, if they are few, so that no crossing between two
    of them is skipped; ``known_times`` are those of the data that a store has already.
    """
    grid: object
    if imported.rankings is not None:
        grid = sorted({*imported.times, *known_times})
    elif imported.grid is not None and options.is_default:
        grid = imported.grid
    else:
        times = sorted({t for t in imported.times if t > 0} | {*known_times})
        if not times:
            raise ImportFailedError(
                "every t of the source is 0, but algorithms are compared at times above 0"
            )
        if imported.last_time is not None:
            times = sorted({t for t in times if t < imported.last_time} | {imported.last_time})
        grid = times
        if not options.is_default or len(times) > MAX_TIMES_OF_DATA:
            grid = _spaced(times, options)
    axis = options.axis or imported.axis or EVALUATIONS
    return validate(Budget, {"axis": axis, "grid": grid}, Source("the grid"))


def _spaced(times: Sequence[float], options: GridOptions) -> dict[str, object]:
    """A grid by the options over sorted times of the data, as in a configuration."""
    start = options.first or times[0]
    stop = options.last or times[-1]
    return {
        "spacing": options.spacing or Spacing.LOG,
        "from": start,
        "to": stop,
        "points": 1 if start == stop else options.points or GRID_POINTS,
    }


def _check_names(imported: Imported) -> None:
    """Refuse names that cannot be displayed, whichever format accepted them."""
    ids = [instance.id for instance in imported.instances]
    for names, longest in ((imported.algorithms, LONGEST_NAME), (ids, LONGEST_INSTANCE)):
        for name in names:
            try:
                checked_name(name, longest)
            except ValueError as error:
                raise ImportFailedError(f"{error}; rename it in the source") from None


def _reconciled(store: StoreOnDisk, instances: tuple[Instance, ...]) -> Iterator[Instance]:
    """Instances with the specs that the store has for them.

    The optimum in the store and in the source must be equal: otherwise one of the two may have
    distances to the optimum and the other one values. Weights must be equal, too.
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
        stored_weight = spec.get(WEIGHT, 1.0)
        weight = instance.spec.get(WEIGHT)
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
    path: Path,
    algorithms: Sequence[str] | None = None,
    force: bool = False,
) -> ExportResult:
    """Write a store to a file or folder; existing files are replaced only with ``force``."""
    stored_algorithms = tuple(store.settings.algorithms)
    for algorithm in algorithms or ():
        if algorithm not in stored_algorithms:
            refusal = unknown("algorithm", algorithm, stored_algorithms)
            raise ExportFailedError(f"{refusal} (in {store.path})")
    if export.endings and path.suffix not in export.endings:
        endings = joined(export.endings, "or")
        raise ExportFailedError(f"expected a file name that ends in {endings}, found '{path.name}'")
    chosen = stored_algorithms
    if algorithms is not None:
        chosen = tuple(name for name in stored_algorithms if name in algorithms)
    if not force:
        _check_free(path)
    try:
        with file_io.folder_aside(path) as temporary:
            written = export.write(store, chosen, temporary / path.name)
            sources = sorted(file for file in temporary.rglob("*") if file.is_file())
            targets = [path.parent / file.relative_to(temporary) for file in sources]
            if not force:
                for target in targets:
                    _check_free(target)
            for source, target in zip(sources, targets, strict=True):
                target.parent.mkdir(parents=True, exist_ok=True)
                file_io.write_whole(target, source.read_bytes())
    except OSError as error:
        raise ExportFailedError(f"cannot write {path}: {error.strerror or error}") from None
    return ExportResult(
        store=str(store.path),
        format=name,
        to=str(path),
        algorithms=chosen,
        what=written.summary,
        written=tuple(map(str, targets)),
        notes=(*written.notes, *_notes_on_contracts(store, chosen, export)),
    )


def _notes_on_contracts(
    store: StoreOnDisk, algorithms: Sequence[str], export: Export
) -> tuple[str, ...]:
    """A note on contract algorithms, whose several runs no format of trajectories can carry."""
    contracts = [name for name in algorithms if name in store.settings.contracts]
    if not contracts or not export.writes_runs:
        return ()
    return (
        f"{joined(contracts)}: the runs with several budgets are one trajectory here, the final "
        "value of each at its budget, which may get worse; a reader that keeps the best so far "
        "overrates it",
    )


def _check_free(path: Path) -> None:
    if path.is_dir() and not any(path.iterdir()):
        return
    if path.exists() or path.is_symlink():
        raise ExportFailedError(f"{path} exists already: choose another place, or add --force")


def file_name(text: str) -> str:
    """A file name that every system allows, short enough for a prefix and a suffix."""
    name = re.sub(r"[^\w.+-]+", "_", text).strip("._")
    return name.encode()[:MAX_FILE_NAME_BYTES].decode(errors="ignore") or "_"


def file_names(names: Sequence[str]) -> dict[str, str]:
    """A file name for each name, all different even on systems that ignore case."""
    files: dict[str, str] = {}
    lower_case_files: set[str] = set()
    for name in names:
        file = file_name(name)
        number = 1
        while file.lower() in lower_case_files:
            number += 1
            file = f"{file_name(name)}-{number}"
        lower_case_files.add(file.lower())
        files[name] = file
    return files
