"""The folder that holds everything: the only reader and writer of it.

    polarbear.json      format version, tool version, configuration and its hash
    instances/          Parquet parts, one folder a table (tables.py)
    runs/
    trajectories/
    rankings/           those that were imported as such; others follow from trajectories
    posteriors/         one file a posterior, named by what it answers
    rounds/             one checkpoint a round of a race, with what was believed then
    damaged/            what `polarbear repair` has set aside
    races/              the rounds of earlier races, whose decisions were taken anew
    set-aside.parquet   which runs do not count, if there are such
    provenance.json     what counts as made by the same, and whose seeds go by an earlier name
    lock                held by the one process that writes

A run's trajectory is written before the run itself, in a part of the same name, so a run that is
there has its trajectory.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from polarbear.config import KEEPS, contradictions, failures_in
from polarbear.errors import StoreMismatchError
from polarbear.execution.status import Status
from polarbear.numerics.arrays import Floats
from polarbear.problems.specs import PROBLEM
from polarbear.problems.weights import WEIGHT, weight_of
from polarbear.store import files, manifest, progress, tables
from polarbear.store.aside import SET_ASIDE
from polarbear.store.early import EARLY
from polarbear.store.from_plain import table_from
from polarbear.store.holdings import Holdings
from polarbear.store.lock import locked
from polarbear.store.numbers import ends, numbers
from polarbear.store.provenance import Provenance
from polarbear.store.run_rows import run_facts, run_key
from polarbear.wording import counted

if TYPE_CHECKING:
    import polars as pl

    from polarbear.config import PlainConfig
    from polarbear.execution.outcome import Outcome
    from polarbear.problems.base import Instance
    from polarbear.rankings import GridValues

MERGE_ABOVE = 48  # so many small parts are merged
SMALL_PART = 8 * 2**20  # bytes of trajectories


class Store(Holdings, Provenance):
    """A store on disk. Reading needs nothing; writing happens inside ``writing()``."""

    @classmethod
    def open(cls, path: Path) -> Store:
        """An existing store, or an error that says what the folder is instead."""
        return cls(path, manifest.read(path))

    @classmethod
    def create(cls, path: Path, config: PlainConfig) -> Store:
        """A new store in a folder that is empty or not there yet; what another made is opened.

        The manifest comes last: without it, the folder is as good as empty. Of two who create at
        once, one holds the lock, and the other opens what the first has made, or is told of it.
        """
        manifest.check_free(path)
        files.make_folder(path)
        with locked(path / "lock"):
            if manifest.is_in(path) and not manifest.is_lost(path):
                return cls.open(path)
            for name in tables.ALL:
                files.make_folder(path / name)
            return cls(path, manifest.write(path, config))

    @classmethod
    def open_or_create(cls, path: Path, config: PlainConfig) -> Store:
        there = manifest.is_in(path) and not manifest.is_lost(path)
        return cls.open(path) if there else cls.create(path, config)

    @property
    def config(self) -> PlainConfig:
        """The configuration of everything stored, in its plain form."""
        return self.manifest["config"]  # type: ignore[no-any-return]

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Be the one writer, after clearing away what a killed one left."""
        from polarbear.store import renaming  # which nobody needs who reads

        with locked(self.path / "lock"):
            files.remove_leftovers(self.path)
            files.remove_leftovers(self.path / EARLY)
            progress.clear(self.path)
            for name in tables.ALL:
                files.make_folder(self.path / name)
                files.remove_leftovers(self.path / name)
            for orphan in self._stems("trajectories") - self._stems("runs"):
                files.remove(self.path / "trajectories" / f"{orphan}.parquet")
            renaming.finish(self)
            yield

    def adopt(
        self,
        wanted: PlainConfig,
        uses_grid: bool = False,
        redefined: Collection[str] = (),
        dropped: Collection[str] = (),
    ) -> None:
        """Take in a configuration that extends the stored one; refuse one that contradicts it.

        ``redefined`` names algorithms that may mean something else from now on, since no run counts
        that would be made untrue; those ``dropped`` are no longer known.
        """
        self.check_extends(wanted, uses_grid, redefined)
        known = {n: entry for n, entry in self.config["algorithms"].items() if n not in dropped}
        merged = {**wanted, "algorithms": {**known, **wanted["algorithms"]}}
        if merged != self.config:
            self.write_config(merged)

    def check_extends(
        self, wanted: PlainConfig, uses_grid: bool = False, redefined: Collection[str] = ()
    ) -> None:
        """Refuse a configuration that contradicts the stored one."""
        found = contradictions(self.config, wanted, uses_grid, redefined)
        if found:
            listing = "\n".join(f"  {line}" for line in found)
            raise StoreMismatchError(
                f"the configuration contradicts what is stored in {self.path}:\n{listing}\n"
                "Undo the change, or choose another folder with --store."
            )

    def write_config(self, config: PlainConfig) -> None:
        """Keep a configuration, and what is known about the store, as ``polarbear.json``."""
        self.manifest = manifest.write(self.path, config, self.manifest.get("created"))

    def _stems(self, table: str) -> set[str]:
        return {path.stem for path in files.part_paths(self.path / table)}

    # --- instances ---------------------------------------------------------------------------

    def problems(self) -> dict[str, str]:
        """The problem of each instance that is one of several runs of a problem."""
        specs = self.rows_of_instances().tuples("instance", "spec")
        return {name: json.loads(spec)[PROBLEM] for name, spec in specs if f'"{PROBLEM}"' in spec}

    def weights(self) -> dict[str, float]:
        """How many instances each counts as, of those for which it is not one."""
        said = self.config["instances"].get("weights", {})
        found = {}
        for instance, spec in self.rows_of_instances().tuples("instance", "spec"):
            own = json.loads(spec)[WEIGHT] if f'"{WEIGHT}"' in spec else None
            weight = weight_of(instance, said) if own is None else own
            if weight != 1:
                found[instance] = weight
        return found

    def count_compared_instances(self) -> int:
        """On how many instances there are runs or imported rankings."""
        found: set[str] = set()
        all_count = self.until is None and not (self.path / SET_ASIDE).exists()
        if not all_count:
            found.update(self.rows_of_all_runs()["instance"])
        for name in ("runs", "rankings") if all_count else ("rankings",):
            for part in files.read_parts(self.path / name, tables.ALL[name], ["instance"]):
                found.update(part["instance"].to_pylist())
        return len(found)

    def add_instances(self, instances: Sequence[Instance], suite: str) -> None:
        """Keep the specs of instances; one that is known must still be the same."""
        stored = dict(self.rows_of_instances().tuples("instance", "spec"))
        new = []
        for instance in instances:
            spec = json.dumps(dict(instance.spec), sort_keys=True)
            if instance.id not in stored:
                row = {"instance": instance.id, "index": instance.index, "suite": suite}
                new.append({**row, "spec": spec})
            elif stored[instance.id] != spec:
                raise StoreMismatchError(
                    f"instance {instance.id} is stored in {self.path} as {stored[instance.id]}, "
                    f"but is now drawn as {spec}: another version of PolarBear or of its packages "
                    "made it. Use that version, or choose another folder with --store."
                )
        if new:
            table = table_from(new, tables.INSTANCES)
            files.write_part(self.path / "instances", files.new_stem(), table)

    # --- runs and trajectories ---------------------------------------------------------------

    def add_runs(self, outcomes: Iterable[Outcome], workers: int) -> None:
        """Store runs with their trajectories: all of these, or none."""
        runs, trajectories = [], []
        for outcome in outcomes:
            key = run_key(outcome)
            runs.append({**key, **run_facts(outcome, workers)})
            trajectories.append(
                {
                    **{name: key[name] for name in ("run", "algorithm", "instance")},
                    "t": outcome.times,
                    "y": outcome.values,
                }
            )
        if runs:
            stem = files.new_stem()
            self._write_part("trajectories", stem, trajectories)
            self._write_part("runs", stem, runs)

    def _write_part(self, table: str, stem: str, rows: list[dict[str, Any]]) -> None:
        made = table_from(rows, tables.ALL[table])
        files.write_part(self.path / table, stem, made, tables.ROW_GROUPS.get(table))

    def merge_parts(self, at_the_end: bool = False) -> None:
        """Fold many small parts into few large ones; readers are never left without a row.

        At the end of a race two are many, if each is so small that as many as would be folded
        anyway are small together; whoever reads it opens fewer files then.
        """
        most, small = (1, SMALL_PART // MERGE_ABOVE) if at_the_end else (MERGE_ABOVE, SMALL_PART)
        runs = self._smaller("trajectories", small) & self._stems("runs")
        instances = self._smaller("instances", small if at_the_end else None)
        self._merge(runs, ("trajectories", "runs"), most)
        self._merge(instances, ("instances",), most)

    def _smaller(self, table: str, size: int | None) -> set[str]:
        """The parts of a table that have fewer bytes than this, or all of them."""
        parts = files.part_paths(self.path / table)
        return {path.stem for path in parts if size is None or path.stat().st_size < size}

    def _merge(self, stems: set[str], together: tuple[str, ...], most: int) -> None:
        """Fold the parts of these names into one if they are more than ``most``; of tables that go
        together, the last counts."""
        small = sorted(stems)
        if len(small) <= most:
            return
        merged = files.new_stem()
        for table in together:
            rows = files.concatenated(self.path / table, small, tables.ALL[table])
            files.write_part(self.path / table, merged, rows, tables.ROW_GROUPS.get(table))
        for table in reversed(together):
            files.remove_all([self.path / table / f"{stem}.parquet" for stem in small])

    def trajectories(
        self, algorithms: Sequence[str] | None = None
    ) -> Iterator[tuple[dict[str, Any], Floats, Floats]]:
        """Each run that counts, with the times and values of its improvements."""
        runs, names = self.rows_of_runs(), set(algorithms or ())
        every = algorithms is None or names.issuperset(runs["algorithm"])
        if not every:
            runs = runs.where([name in names for name in runs["algorithm"]])
        wanted = {run["run"]: run for run in runs.records()}
        folder, columns = self.path / "trajectories", ["run", "t", "y"]
        groups = None if every else ("algorithm", names)
        for part in files.read_parts(folder, tables.TRAJECTORIES, columns, groups):
            names = part["run"].combine_chunks().to_pylist()
            t, y = (part[name].combine_chunks() for name in ("t", "y"))
            places = ends(t)
            times, values = numbers(t.values, np.float64), numbers(y.values, np.float64)
            for position, name in enumerate(names):
                run = wanted.pop(name, None)  # popped, so that a row that stands twice counts once
                if run is not None:
                    here = slice(places[position], places[position + 1])
                    yield run, times[here], values[here]
        if wanted:
            lacking = counted(len(wanted), "run")
            raise files.damaged(folder, f"it lacks {lacking} that {self.path}/runs has")

    def add_rankings(self, rankings: pl.DataFrame) -> None:
        """Store rankings that nobody has trajectories of."""
        table = rankings.select(tables.RANKINGS.names).to_arrow().cast(tables.RANKINGS)
        files.write_part(self.path / "rankings", files.new_stem(), table)

    # --- values on a grid --------------------------------------------------------------------

    def on_grid(self, times: Floats, algorithms: Sequence[str] | None = None) -> GridValues:
        """The best-so-far values of all runs that count, at each time of a grid.

        Where an instance has an imported ranking, the positions in it stand in for the values.
        """
        from polarbear.rankings import UNRECORDED, GridValues

        runs, rankings = self.rows_of_runs(), self.rows_of_rankings()
        names = tuple(algorithms if algorithms is not None else self.config["algorithms"])
        order = self.rows_of_instances()["instance"]
        present = {
            instance for name, instance in runs.tuples("algorithm", "instance") if name in names
        }
        present |= set(rankings["instance"])
        # Instances that a damaged part took with it come last, until they are drawn again.
        order += sorted(present.difference(order))
        instances = tuple(instance for instance in order if instance in present)
        row = {instance: position for position, instance in enumerate(instances)}
        column = {name: position for position, name in enumerate(names)}
        values = np.full((len(instances), len(names), len(times)), np.nan)
        failed = failures_in(self.config).ranks
        for run, t, y in self.trajectories(names):
            if run["instance"] not in row:  # somebody stored it while we were reading
                continue
            found = best_so_far(t, y, run["status"], run["reached"], times, failed)
            values[row[run["instance"]], column[run["algorithm"]]] = found
        at = {float(t): position for position, t in enumerate(times)}
        for instance, t, ranked, positions in rankings.tuples(*tables.RANKINGS.names):
            for name, position in zip(ranked, positions, strict=True):
                if t in at and name in column:
                    values[row[instance], column[name], at[t]] = min(position, UNRECORDED)
        return GridValues(instances, names, np.asarray(times), values)


def is_store(path: Path) -> bool:
    """Whether a folder is a store, of whichever version."""
    return manifest.is_in(path)


def best_so_far(
    t: Floats, y: Floats, status: str, reached: float, times: Floats, failed: str = KEEPS
) -> Floats:
    """A run's values on a grid: +inf before its first, NaN where it is absent.

    ``failed`` says how a failed run is ranked from there on: it keeps its best, is last or absent.
    """
    found = np.concatenate([[np.inf], y])[np.searchsorted(t, times, side="right")]
    if status in (Status.BUDGET, Status.LOST):
        found[times > reached] = np.nan  # stopped by no fault of its own: absent, not last
    elif failed != KEEPS and Status(status).failed:
        found[times > reached] = np.inf if failed == "last" else np.nan
    return found
