"""The folder that holds a race or a set of runs; docs/reference/store.md lists its files."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC
from pathlib import Path

import numpy as np
import polars as pl

from polarbear.config.stored_settings import StoredSettings
from polarbear.errors import ReportError, StoreMismatchError
from polarbear.execution.outcome import RunKey, Status
from polarbear.numerics.arrays import Floats
from polarbear.problems.base import Instance
from polarbear.problems.specs import PROBLEM
from polarbear.problems.weights import WEIGHT, weight_of
from polarbear.rankings import UNRECORDED, GridValues
from polarbear.rankings.archives import with_fronts
from polarbear.rankings.outcomes import with_violations
from polarbear.settings import contract
from polarbear.store import file_io, manifest, tables
from polarbear.store.catalog import Catalog, File, Rows, joined, part_file
from polarbear.store.forests import Forests
from polarbear.store.generations import Generations
from polarbear.store.judgements import Judgements
from polarbear.store.posteriors import Posteriors
from polarbear.store.rounds import FOLDER, Races, Rounds, folder_of
from polarbear.store.run_values import (
    StoredTrajectory,
    composed,
    final_outcomes,
    outcomes_on_grid,
    values_on_grid,
)
from polarbear.store.runs import (
    FinishedRun,
    Provenance,
    SetAside,
    SpeculativeTable,
    StoredRun,
    trajectories_in,
)
from polarbear.store.writer import clear_progress, locked
from polarbear.wording import counted

MERGE_ABOVE = 48  # number of small parts from which on they are merged
NO_VALUES = "with several objectives outcomes are archives of points, which have no single value"
SMALL_PART_BYTES = 8 * 2**20  # of trajectories
CONTRACT = "contract"
KEY = ["algorithm", "instance", CONTRACT]  # the columns that distinguish runs


class StoreOnDisk:
    """A store on disk, or a view of it at the end of a past race.

    Any process may read; writing happens inside ``writing()``. With ``frozen``, a table stays as it
    was when it was first read.
    """

    def __init__(
        self,
        catalog: Catalog,
        past: int | None = None,
        last_round: int | None = None,
        frozen: bool = False,
    ) -> None:
        self.path = catalog.path
        self.catalog = catalog
        self.past = past
        self._frozen = frozen
        self.races = Races(catalog)
        self._about = None if past is None else self.races.about(past)
        folder = FOLDER if past is None else folder_of(past)
        self.rounds = Rounds(catalog, folder, last_round)
        self.forests = Forests(catalog)
        self.posteriors = Posteriors(catalog, self.rounds, self.races, past is not None)
        self.provenance = Provenance(catalog)
        self.judgements = Judgements(catalog)
        self.generations = Generations(catalog)
        self.set_aside = SetAside(catalog)
        self.speculative = SpeculativeTable(catalog)
        self._tables: dict[str, tuple[dict[str, pl.DataFrame], pl.DataFrame]] = {}
        # Of a frozen store: the runs that count, and the parts of trajectories that were read.
        self._runs: pl.DataFrame | None = None
        self._trajectories: dict[str, pl.DataFrame] = {}

    @classmethod
    def open(cls, path: Path) -> StoreOnDisk:
        """An existing store, or an error that says what the folder is instead."""
        manifest.check_nothing_leads_out(path)
        catalog = Catalog(path)
        manifest.settings_of(path, catalog.manifest)
        return cls(catalog)

    @classmethod
    def create(cls, path: Path, settings: StoredSettings) -> StoreOnDisk:
        """A store that exists, or a new one in an empty or missing folder.

        ``polarbear.json`` is written last: without it, the folder counts as empty. If two processes
        create a store at once, the one without the lock opens the result or names the other.
        """
        if manifest.has_config(path):
            return cls.open(path)
        manifest.check_free(path)
        file_io.make_folder(path)
        with locked(path / "lock"):
            catalog = Catalog(path)
            if manifest.has_config(path):
                return cls.open(path)
            if manifest.is_store(path):  # it has lost its configuration
                catalog.create(replace(catalog.manifest, config=settings))
            else:
                catalog.create(manifest.new(settings))
            return cls(catalog)

    @property
    def settings(self) -> StoredSettings:
        """The configuration of everything stored, read once per version of polarbear.json."""
        if self._about is not None:
            return self._about.config
        return manifest.settings_of(self.path, self.catalog.manifest)

    @property
    def maximise(self) -> bool:
        """Whether larger values are better; stored values are negated then."""
        return self.settings.instances.maximise

    @property
    def sign(self) -> int:
        """The factor between stored values and those of the problems."""
        return -1 if self.maximise else 1

    @property
    def n_objectives(self) -> int:
        """The number of objectives; with several, outcomes are archives of points."""
        return self.settings.instances.objectives

    # --- views -------------------------------------------------------------------------------

    def frozen(self) -> StoreOnDisk:
        """The same store for a reader: a table stays as it was when it was first read."""
        return StoreOnDisk(self.catalog, self.past, frozen=True)

    def at_race(self, number: int) -> StoreOnDisk:
        """The store at the end of a past race; the store itself for the current race."""
        self.races.check(number)
        return self if number == self.races.current else StoreOnDisk(self.catalog, number)

    def with_draws(self) -> StoreOnDisk:
        """The store after the newest round whose draws are stored; unchanged if there is none."""
        number = self.posteriors.last_round_with_draws()
        return self if number is None else StoreOnDisk(self.catalog, self.past, number)

    # --- writing -----------------------------------------------------------------------------

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Hold the lock, after finishing an interrupted change."""
        with locked(self.path / "lock") as lock, self.catalog.guarded_by(lock):
            clear_progress(self.path)
            self.catalog.recover()
            yield

    def adopt(
        self,
        settings: StoredSettings,
        uses_grid: bool = False,
        redefined: Collection[str] = (),
        dropped: Collection[str] = (),
    ) -> None:
        """Store a configuration that extends the stored one; refuse one that contradicts it.

        ``redefined`` names algorithms whose options may change, since no run of them counts;
        ``dropped`` names algorithms that are removed.
        """
        self.check_extends(settings, uses_grid, redefined)
        stored = self.settings.algorithms
        kept = {name: algorithm for name, algorithm in stored.items() if name not in dropped}
        merged = settings.with_algorithms({**kept, **settings.algorithms})
        if merged != self.settings:
            self.catalog.commit(settings=merged)

    def check_extends(
        self, settings: StoredSettings, uses_grid: bool = False, redefined: Collection[str] = ()
    ) -> None:
        """Refuse a configuration that contradicts the stored one."""
        from polarbear.config.contradictions import contradictions  # for stores that exist

        lines = contradictions(self.settings, settings, uses_grid, redefined)
        if lines:
            listing = "\n".join(f"  {line}" for line in lines)
            raise StoreMismatchError(
                f"the configuration contradicts what is stored in {self.path}:\n{listing}\n"
                "Undo the change, or choose another folder with --store."
            )

    def add_instances(self, instances: Sequence[Instance], suite: str) -> None:
        """Store the specs of instances; a known instance must be unchanged."""
        stored = dict(self._specs())
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
            self.catalog.commit([part_file("instances", new)])

    def add_runs(self, finished_runs: Iterable[FinishedRun]) -> None:
        """Store runs with their trajectories: all of these, or none."""
        runs = []
        trajectories = []
        for finished in finished_runs:
            run = finished.run
            runs.append(run._asdict())
            key = {"run": run.run, "algorithm": run.algorithm, "instance": run.instance}
            trajectories.append({**key, **finished.columns()})
        if runs:
            self.add_tables_of_runs(runs, trajectories)

    def add_tables_of_runs(self, runs: Rows, trajectories: Rows) -> None:
        """Store runs with their trajectories, as rows of these tables: all of these, or none."""
        trajectories_part = part_file("trajectories", trajectories)
        runs_part = part_file("runs", runs)
        self.catalog.commit([trajectories_part, runs_part])

    def add_rankings(self, rankings: pl.DataFrame) -> None:
        """Store rankings that have no trajectories."""
        self.catalog.commit([part_file("rankings", rankings)])

    def add_features(self, features: pl.DataFrame) -> None:
        """Store features of instances: a row with another value replaces the stored one."""
        stored = self.features()
        rows = features.select(stored.columns).cast(stored.schema)
        new = rows.join(stored, on=stored.columns, how="anti", nulls_equal=True)
        if new.is_empty():
            return
        key = ["instance", "name"]
        kept = stored.join(new, on=key, how="anti", maintain_order="left")
        if len(kept) == len(stored):
            self.catalog.commit([part_file("features", new)])
        else:
            parts = self.catalog.names("features/part-")
            self.catalog.commit([part_file("features", pl.concat([kept, new]))], parts)

    def copy_runs(self, source: StoreOnDisk, runs: Collection[str]) -> None:
        """Copy these runs from another store, and all its instances that this store lacks."""
        stored_ids = self.instances()["instance"].implode()
        new = source.instances().filter(~pl.col("instance").is_in(stored_ids))
        if len(new):
            self.catalog.commit([part_file("instances", new)])
        self.add_features(
            source.features().join(self.features(), on=["instance", "name"], how="anti")
        )
        run_ids = pl.Series(sorted(runs), dtype=pl.String).implode()

        def copied_parts() -> Iterator[File]:
            for table in ("trajectories", "runs"):
                for _, part in source.catalog.read_parts(table):
                    rows = part.filter(pl.col("run").is_in(run_ids))
                    if len(rows):
                        yield part_file(table, rows)

        self.catalog.commit(copied_parts())

    def merge_parts(self, at_the_end: bool = False) -> None:
        """Merge many small parts of a table into one.

        At the end of a race two small parts are merged already, so that readers open fewer files.
        """
        max_parts = 1 if at_the_end else MERGE_ABOVE
        small_bytes = SMALL_PART_BYTES // MERGE_ABOVE if at_the_end else SMALL_PART_BYTES
        for table in ("instances", "runs", "trajectories", "features"):
            parts = [
                name
                for name in self.catalog.names(f"{table}/part-")
                if self.catalog.stat(name).st_size < small_bytes
            ]
            if len(parts) > max_parts:
                rows = [self.catalog.read_table(name, tables.ALL[table]) for name in parts]
                self.catalog.commit([part_file(table, pl.concat(rows))], parts)

    # --- reading -----------------------------------------------------------------------------

    def _table(self, name: str) -> pl.DataFrame:
        """A table as it is now; parts that were read before are not read again."""
        cached_parts: dict[str, pl.DataFrame] = {}
        if name in self._tables:
            cached_parts, table = self._tables[name]
            if self._frozen or list(cached_parts) == self.catalog.names(f"{name}/part-"):
                return table
        parts = dict(self.catalog.read_parts(name, cached=cached_parts))
        table = joined(name, parts.values())
        self._tables[name] = parts, table
        return table

    def instances(self) -> pl.DataFrame:
        """One row per instance, in the order of the stream."""
        return self._table("instances")

    def every_run(self) -> pl.DataFrame:
        """One row per run, including runs that were set aside."""
        return self._table("runs")

    def all_runs(self) -> pl.DataFrame:
        """One row per run that was not set aside, including earlier attempts."""
        is_configured = pl.col("algorithm").is_in(list(self.settings.algorithms))
        runs = self.every_run().filter(is_configured)
        aside = self.set_aside.runs()
        if self._about is not None:
            end = self._about.ended.astimezone(UTC)
            runs = runs.filter(pl.col("started") <= end)
            aside = aside.filter(pl.col("since") <= end)
        if aside.is_empty():
            return runs
        return runs.join(aside, on="run", how="anti", maintain_order="left")

    def runs(self) -> pl.DataFrame:
        """One row for each run that counts: the last attempt of an algorithm on an instance.

        A contract algorithm has one for each of its budgets.
        """
        if self._runs is not None:
            return self._runs
        runs = self.keyed(self.all_runs())
        runs = runs.unique(KEY, keep="last", maintain_order=True).drop(CONTRACT)
        if self._frozen:
            self._runs = runs
        return runs

    def compared_runs(self) -> pl.DataFrame:
        """One row for each algorithm on each instance, with how far it was run.

        Of a contract algorithm it is the row of its longest run, which reached the end of the grid
        if no contract time lacks a run, and otherwise the last time before the first that does.
        """
        runs = self.runs()
        grid = self.settings.budget.times
        rows = [runs.filter(~pl.col("algorithm").is_in(list(self.settings.contracts)))]
        for name, contract_times in self.settings.contracts.items():
            own_runs = runs.filter(pl.col("algorithm") == name).sort("instance", "budget")
            for _, on_instance in own_runs.group_by("instance", maintain_order=True):
                has_run = np.isin(contract_times, on_instance["budget"].to_numpy())
                reached = pl.lit(contract.reached(contract_times, has_run, grid))
                status = pl.lit(Status.BUDGET.value)
                rows.append(on_instance[-1:].with_columns(reached=reached, status=status))
        return pl.concat(rows)

    def keyed(self, runs: pl.DataFrame) -> pl.DataFrame:
        """Runs with the columns of their ``KEY``: the contract is a budget, 0 where none is."""
        is_contract = pl.col("algorithm").is_in(list(self.settings.contracts))
        budget = pl.when(is_contract).then(pl.col("budget")).otherwise(0.0)
        return runs.with_columns(budget.alias(CONTRACT))

    def key_of(self, run: StoredRun) -> RunKey:
        """What distinguishes a run from others."""
        budget = run.budget if run.algorithm in self.settings.contracts else None
        return RunKey(run.algorithm, run.instance, budget)

    def rankings(self) -> pl.DataFrame:
        """Imported rankings: one row for each instance and time."""
        return self._table("rankings")

    def features(self) -> pl.DataFrame:
        """Features that were given or computed: one row for each instance and name."""
        return self._table("features")

    @property
    def has_violations(self) -> bool:
        """Whether a run has found an infeasible value."""
        parts = self.catalog.read_parts("trajectories", ["run", "violation"])
        return any(frame["violation"].count() for _, frame in parts)

    def trajectories(
        self, algorithms: Sequence[str] | None = None
    ) -> Iterator[tuple[StoredRun, Floats, Floats]]:
        """Each algorithm on each instance, with its feasible values and the times of these.

        They are the values of its improvements, or of its changes if the last value counts.
        """
        if self.n_objectives > 1:
            raise ReportError(NO_VALUES)
        for run, improvements in self.improvements(algorithms):
            feasible = improvements.feasible()
            yield run, feasible.times, feasible.values

    def improvements(self, algorithms: Sequence[str] | None = None) -> Iterator[StoredTrajectory]:
        """Each algorithm on each instance, with its outcomes, also infeasible ones.

        The runs of a contract algorithm on an instance are one trajectory here.
        """
        of_contracts: defaultdict[tuple[str, str], list[StoredTrajectory]] = defaultdict(list)
        contracts = self.settings.contracts
        for run, improvements in self.run_improvements(algorithms):
            if run.algorithm in contracts:
                of_contracts[run.algorithm, run.instance].append((run, improvements))
            else:
                yield run, improvements
        grid = self.settings.budget.times
        failed = self.settings.failures.ranks
        for (name, _), runs in of_contracts.items():
            yield composed(runs, contracts[name], grid, failed)

    def run_improvements(
        self, algorithms: Sequence[str] | None = None
    ) -> Iterator[StoredTrajectory]:
        """Each run that counts, with its outcomes, also infeasible ones."""
        runs = self.runs()
        if algorithms is not None:
            runs = runs.filter(pl.col("algorithm").is_in(list(algorithms)))
        for rows in self._with_trajectories(runs):
            yield from trajectories_in(rows)

    def _with_trajectories(self, runs: pl.DataFrame) -> Iterator[pl.DataFrame]:
        """These runs with the columns of their trajectories, a part of the table at a time."""
        columns = ["run", "t", *tables.value_columns(self.n_objectives), "violation"]
        remaining = runs
        for name, part in self.catalog.read_parts("trajectories", columns, self._trajectories):
            if self._frozen:
                self._trajectories[name] = part
            rows = part
            if not part["run"].is_in(remaining["run"].implode()).all():
                rows = part.filter(pl.col("run").is_in(remaining["run"].implode()))
            if rows["run"].n_unique() < len(rows):  # a row that occurs twice counts once
                rows = rows.unique("run", keep="first", maintain_order=True)
            if len(rows):
                facts = rows.select("run").join(remaining, on="run", maintain_order="left")
                remaining = remaining.join(rows.select("run"), on="run", how="anti")
                yield facts.hstack(rows.drop("run"))
        if len(remaining):
            lacking = counted(len(remaining), "run")
            raise file_io.damaged(
                self.path / "trajectories", f"it lacks {lacking} that {self.path}/runs has"
            )

    def problems(self) -> dict[str, str]:
        """The problem of each instance that is one of several instances of a problem."""
        return {name: spec[PROBLEM] for name, spec in self.specs().items() if PROBLEM in spec}

    def weights(self) -> dict[str, float]:
        """The weights of instances that are not 1."""
        configured = self.settings.instances.weights
        weights = {
            instance: spec[WEIGHT] if WEIGHT in spec else weight_of(instance, configured)
            for instance, spec in self.specs().items()
        }
        return {instance: weight for instance, weight in weights.items() if weight != 1}

    def _specs(self) -> Iterable[tuple[str, str]]:
        return self.instances().select("instance", "spec").iter_rows()

    def specs(self) -> dict[str, file_io.JsonObject]:
        """The specification of each instance."""
        return {name: json.loads(spec) for name, spec in self._specs()}

    def count_compared_instances(self) -> int:
        """The number of instances with runs or imported rankings."""
        return len({*self.all_runs()["instance"].unique(), *self.rankings()["instance"].unique()})

    def on_grid(self, times: Floats, algorithms: Sequence[str] | None = None) -> GridValues:
        """The best-so-far outcomes of all runs that count, at each time of a grid.

        If an instance has an imported ranking, the positions in it replace the values.
        """
        runs = self.runs()
        rankings = self.rankings()
        failed = self.settings.failures.ranks
        names = tuple(self.settings.algorithms if algorithms is None else algorithms)
        order = self.instances()["instance"].to_list()
        present = set(runs.filter(pl.col("algorithm").is_in(names))["instance"])
        present |= set(rankings["instance"])
        # Instances that were in a damaged part come last, until they are drawn again.
        order += sorted(present.difference(order))
        instances = tuple(instance for instance in order if instance in present)
        row = {instance: position for position, instance in enumerate(instances)}
        column = {name: position for position, name in enumerate(names)}
        values = np.full((len(instances), len(names), len(times)), np.nan)
        violations: dict[tuple[int, int], Floats] = {}
        fronts: dict[tuple[int, int], np.ndarray] = {}
        of_contracts: defaultdict[tuple[int, int], list[StoredTrajectory]] = defaultdict(list)
        is_contract = pl.col("algorithm").is_in(list(self.settings.contracts))
        for part in self._with_trajectories(runs.filter(pl.col("algorithm").is_in(names))):
            rows = part.filter(~is_contract) if self.settings.contracts else part
            cells = [row[name] for name in rows["instance"]]
            columns = [column[name] for name in rows["algorithm"]]
            if self.n_objectives == 1:
                values[cells, columns] = values_on_grid(rows, times, failed)
                rows = rows.filter(pl.col("violation").is_not_null())
            for run, improvements in trajectories_in(rows):
                cell = (row[run.instance], column[run.algorithm])
                on_grid = outcomes_on_grid(run, improvements, times, failed)
                values[cell] = on_grid.values
                if on_grid.violations is not None:
                    violations[cell] = on_grid.violations
                if on_grid.fronts is not None:
                    fronts[cell] = on_grid.fronts
            for run, improvements in trajectories_in(part.filter(is_contract)):
                of_contracts[row[run.instance], column[run.algorithm]].append((run, improvements))
        for cell, contract_runs in of_contracts.items():
            contract_times = self.settings.contracts[names[cell[1]]]
            finals = final_outcomes(contract_runs, contract_times, failed)
            values[cell] = contract.on_grid(contract_times, finals.values, times)
            if finals.violations is not None:
                violations[cell] = contract.on_grid(contract_times, finals.violations, times)
        time_index = {float(t): position for position, t in enumerate(times)}
        for instance, t, ranked, positions in rankings.iter_rows():
            for name, position in zip(ranked, positions, strict=True):
                if t in time_index and name in column:
                    values[row[instance], column[name], time_index[t]] = min(position, UNRECORDED)
        return GridValues(
            instances,
            names,
            np.asarray(times),
            values,
            with_violations(values, violations),
            None if self.n_objectives == 1 else with_fronts(values, fronts, self.n_objectives),
        )
