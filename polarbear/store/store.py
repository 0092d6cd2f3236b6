"""The folder that holds everything: the only reader and writer of it.

    polarbear.json      format version, tool version, configuration and its hash
    instances/          Parquet parts, one folder a table (tables.py)
    runs/
    trajectories/
    rankings/           those that were imported as such; others follow from trajectories
    posteriors/         one file a posterior, named by what it answers
    rounds/             one checkpoint a round of a race, with what was believed then
    lock                held by the one process that writes

A run's trajectory is written before the run itself, in a part of the same name, so a run that is
there has its trajectory.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from polarbear import __version__
from polarbear.config import PlainConfig, contradictions
from polarbear.errors import NotAStoreError, StoreError, StoreMismatchError, StoreVersionError
from polarbear.execution.host import Host
from polarbear.execution.outcome import Outcome, Status
from polarbear.numerics.arrays import Floats
from polarbear.problems.base import PROBLEM, Instance
from polarbear.rankings import UNRECORDED, GridValues
from polarbear.store import files, tables
from polarbear.store.lock import locked
from polarbear.store.posteriors import Posteriors
from polarbear.store.rounds import Rounds
from polarbear.store.run_rows import run_facts, run_key
from polarbear.store.stated import flaw_in_config, link_out

FORMAT = 1
MANIFEST = "polarbear.json"
MERGE_ABOVE = 48  # so many small parts are merged
SMALL_PART = 8 * 2**20  # bytes of trajectories
ROW_GROUPS = {"trajectories": "algorithm", "runs": None}  # what readers often want some of


class Store(Posteriors, Rounds):
    """A store on disk. Reading needs nothing; writing happens inside ``writing()``."""

    def __init__(self, path: Path, manifest: Mapping[str, Any]) -> None:
        self.path = path
        self.manifest = manifest

    @classmethod
    def open(cls, path: Path) -> Store:
        """An existing store, or an error that says what the folder is instead."""
        file = path / MANIFEST
        link = link_out(path)
        if link is not None:
            raise StoreError(
                f"{link} is a link that leads out of the store, which nothing that PolarBear wrote "
                "does; replace it by what it stands for, if you know where it came from"
            )
        try:
            manifest = json.loads(file.read_text(encoding="utf-8"))
            version = manifest["format"]
        except (FileNotFoundError, NotADirectoryError):
            what = "is not a PolarBear store" if path.exists() else "does not exist"
            raise NotAStoreError(
                f"{path} {what}; `polarbear run CONFIG --store {path}` makes one"
            ) from None
        except OSError as error:
            raise StoreError(f"cannot read {file}: {error.strerror}") from None
        except (ValueError, KeyError, TypeError, RecursionError):
            raise NotAStoreError(f"{file} is not what PolarBear writes there") from None
        if version != FORMAT:
            raise StoreVersionError(
                f"{path} has format {version}, written by PolarBear {manifest.get('tool')}; "
                f"PolarBear {__version__} reads format {FORMAT}: use the version that wrote it"
            )
        flaw = flaw_in_config(manifest.get("config"))
        if flaw:
            raise NotAStoreError(f"{file} is not what PolarBear writes there: {flaw}")
        return cls(path, manifest)

    @classmethod
    def create(cls, path: Path, config: PlainConfig) -> Store:
        """A new store in a folder that is empty or not there yet."""
        if path.exists() and (not path.is_dir() or any(path.iterdir())):
            raise NotAStoreError(
                f"{path} exists and is not a PolarBear store; choose another folder with --store"
            )
        files.make_folder(path)
        for name in tables.ALL:
            files.make_folder(path / name)
        store = cls(path, {})
        store._write_manifest(config)
        return store

    @classmethod
    def open_or_create(cls, path: Path, config: PlainConfig) -> Store:
        return cls.open(path) if (path / MANIFEST).exists() else cls.create(path, config)

    @property
    def config(self) -> PlainConfig:
        """The configuration of everything stored, in its plain form."""
        return self.manifest["config"]  # type: ignore[no-any-return]

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Be the one writer, after clearing away what a killed one left."""
        with locked(self.path / "lock"):
            files.remove_leftovers(self.path)
            for name in tables.ALL:
                files.make_folder(self.path / name)
                files.remove_leftovers(self.path / name)
            with files.explained(self.path):
                for orphan in self._stems("trajectories") - self._stems("runs"):
                    (self.path / "trajectories" / f"{orphan}.parquet").unlink(missing_ok=True)
            yield

    def adopt(self, wanted: PlainConfig, uses_grid: bool = False) -> None:
        """Take in a configuration that extends the stored one; refuse one that contradicts it."""
        stored = self.config
        found = contradictions(stored, wanted, uses_grid)
        if found:
            listing = "\n".join(f"  {line}" for line in found)
            raise StoreMismatchError(
                f"the configuration contradicts what is stored in {self.path}:\n{listing}\n"
                "Undo the change, or choose another folder with --store."
            )
        merged = {**wanted, "algorithms": {**stored["algorithms"], **wanted["algorithms"]}}
        if merged != stored:
            self._write_manifest(merged)

    def _write_manifest(self, config: PlainConfig) -> None:
        text = json.dumps(config, sort_keys=True)
        created = self.manifest.get("created") or datetime.now(UTC).isoformat(timespec="seconds")
        manifest = {
            "format": FORMAT,
            "tool": __version__,
            "created": created,
            "config_hash": hashlib.sha256(text.encode()).hexdigest(),
            "config": config,
        }
        files.write_whole(self.path / MANIFEST, json.dumps(manifest, indent=2).encode() + b"\n")
        self.manifest = manifest

    def _stems(self, table: str) -> set[str]:
        return {path.stem for path in files.part_paths(self.path / table)}

    def _read(self, table: str) -> pl.DataFrame:
        schema = tables.ALL[table]
        found = list(files.read_parts(self.path / table, schema))
        return pl.from_arrow(pa.concat_tables([schema.empty_table(), *found]))  # type: ignore[return-value]

    # --- instances ---------------------------------------------------------------------------

    def instances(self) -> pl.DataFrame:
        """One row an instance, in the order of the stream."""
        return self._read("instances").unique("instance").sort("index", "instance")

    def problems(self) -> dict[str, str]:
        """The problem of each instance that is one of several runs of a problem."""
        seeded = self.instances().filter(pl.col("spec").str.contains(f'"{PROBLEM}"', literal=True))
        specs = seeded.select("instance", "spec").iter_rows()
        return {instance: json.loads(spec)[PROBLEM] for instance, spec in specs}

    def count_compared_instances(self) -> int:
        """On how many instances there are runs or imported rankings."""
        found: set[str] = set()
        for name in ("runs", "rankings"):
            for part in files.read_parts(self.path / name, tables.ALL[name], ["instance"]):
                found.update(part["instance"].unique().to_pylist())
        return len(found)

    def add_instances(self, instances: Sequence[Instance], suite: str) -> None:
        """Keep the specs of instances; one that is known must still be the same."""
        stored = dict(self.instances().select("instance", "spec").iter_rows())
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
            table = pa.Table.from_pylist(new, tables.INSTANCES)
            files.write_part(self.path / "instances", files.new_stem(), table)

    # --- runs and trajectories ---------------------------------------------------------------

    def all_runs(self) -> pl.DataFrame:
        """One row a run, those that were run again included."""
        return self._read("runs").unique("run").sort("algorithm", "instance", "attempt")

    def runs(self) -> pl.DataFrame:
        """One row for each algorithm on each instance: the run that counts."""
        return self.all_runs().unique(["algorithm", "instance"], keep="last", maintain_order=True)

    def add_runs(self, outcomes: Iterable[Outcome], host: Host, load: float, workers: int) -> None:
        """Store runs with their trajectories: all of these, or none."""
        runs, trajectories = [], []
        for outcome in outcomes:
            key = run_key(outcome)
            runs.append({**key, **run_facts(outcome, host, load, workers)})
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
        made = pa.Table.from_pylist(rows, tables.ALL[table])
        files.write_part(self.path / table, stem, made, ROW_GROUPS[table])

    def merge_parts(self) -> None:
        """Fold many small parts into few large ones; readers are never left without a row."""
        size = {
            path.stem: path.stat().st_size for path in files.part_paths(self.path / "trajectories")
        }
        small = [stem for stem in sorted(self._stems("runs")) if size.get(stem, 0) < SMALL_PART]
        if len(small) <= MERGE_ABOVE:
            return
        merged = files.new_stem()
        for table in ("trajectories", "runs"):
            rows = files.concatenated(self.path / table, small, tables.ALL[table])
            files.write_part(self.path / table, merged, rows, ROW_GROUPS[table])
        with files.explained(self.path):
            for table in ("runs", "trajectories"):
                for stem in small:
                    (self.path / table / f"{stem}.parquet").unlink()

    def trajectories(
        self, algorithms: Sequence[str] | None = None
    ) -> Iterator[tuple[dict[str, Any], Floats, Floats]]:
        """Each run that counts, with the times and values of its improvements."""
        runs = self.runs()
        if algorithms is not None:
            runs = runs.filter(pl.col("algorithm").is_in(list(algorithms)))
        wanted = {row["run"]: row for row in runs.iter_rows(named=True)}
        folder, columns = self.path / "trajectories", ["run", "t", "y"]
        only = None if algorithms is None else pc.field("algorithm").isin(list(algorithms))
        for part in files.read_parts(folder, tables.TRAJECTORIES, columns, only):
            names = part["run"].combine_chunks().to_pylist()
            t, y = (part[name].combine_chunks() for name in ("t", "y"))
            ends = t.offsets.to_numpy()
            times, values = t.values.to_numpy(), y.values.to_numpy()
            for position, name in enumerate(names):
                run = wanted.pop(name, None)  # popped, so that a row that stands twice counts once
                if run is not None:
                    here = slice(ends[position], ends[position + 1])
                    yield run, times[here], values[here]
        if wanted:
            raise StoreError(
                f"{self.path}/trajectories lacks {len(wanted)} of the runs in {self.path}/runs"
            )

    def rankings(self) -> pl.DataFrame:
        """Rankings that were imported as such: one row for each instance and time."""
        return self._read("rankings").unique(["instance", "t"]).sort("instance", "t")

    def add_rankings(self, rankings: pl.DataFrame) -> None:
        """Store rankings that nobody has trajectories of."""
        table = rankings.select(tables.RANKINGS.names).to_arrow().cast(tables.RANKINGS)
        files.write_part(self.path / "rankings", files.new_stem(), table)

    # --- values on a grid --------------------------------------------------------------------

    def on_grid(self, times: Floats, algorithms: Sequence[str] | None = None) -> GridValues:
        """The best-so-far values of all runs that count, at each time of a grid.

        Where an instance has an imported ranking, the positions in it stand in for the values.
        """
        runs, rankings = self.runs(), self.rankings()
        names = tuple(algorithms if algorithms is not None else self.config["algorithms"])
        order = self.instances()["instance"].to_list()
        present = set(runs.filter(pl.col("algorithm").is_in(list(names)))["instance"])
        present |= set(rankings["instance"])
        instances = tuple(instance for instance in order if instance in present)
        if len(instances) < len(present):
            raise StoreError(
                f"{self.path}/instances lacks {len(present) - len(instances)} of the instances "
                "that were run or ranked"
            )
        row = {instance: position for position, instance in enumerate(instances)}
        column = {name: position for position, name in enumerate(names)}
        values = np.full((len(instances), len(names), len(times)), np.nan)
        for run, t, y in self.trajectories(names):
            found = best_so_far(t, y, run["status"], run["reached"], times)
            values[row[run["instance"]], column[run["algorithm"]]] = found
        at = {float(t): position for position, t in enumerate(times)}
        for instance, t, ranked, positions in rankings.iter_rows():
            for name, position in zip(ranked, positions, strict=True):
                if t in at and name in column:
                    values[row[instance], column[name], at[t]] = min(position, UNRECORDED)
        return GridValues(instances, names, np.asarray(times), values)


def best_so_far(t: Floats, y: Floats, status: str, reached: float, times: Floats) -> Floats:
    """A run's values on a grid: +inf before its first, NaN where it is absent."""
    found = np.concatenate([[np.inf], y])[np.searchsorted(t, times, side="right")]
    if status == Status.BUDGET:
        found[times > reached] = np.nan  # stopped on purpose: absent, not last
    return found
