"""Posteriors on disk, one file each, and the rankings that they were inferred from."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from itertools import groupby
from types import MappingProxyType

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from polarbear.inference import ModelOptions, Posterior
from polarbear.inference.fit import Deviation, Fit
from polarbear.inference.model_options import AS_STORED
from polarbear.inference.posterior_diagnostics import Diagnostics
from polarbear.rankings import ABSENT, BELOW, ChoiceSets, GridValues
from polarbear.store import parquet, tables
from polarbear.store.catalog import Catalog, table_file
from polarbear.store.file_io import JsonObject
from polarbear.store.parquet import table_of
from polarbear.store.rounds import Races, Rounds
from polarbear.store.set_aside import SetAside

FOLDER = "posteriors"
EVIDENCE = ("derived", "choice-sets")  # names of rankings, and of their sufficient statistics


class Posteriors:
    """The folder ``posteriors/`` of a store, as seen from the current or from a past race."""

    def __init__(self, catalog: Catalog, rounds: Rounds, races: Races, past: bool) -> None:
        self._catalog, self._rounds, self._races, self._past = catalog, rounds, races, past

    def add_evidence(self, key: str, rankings: pa.Table, choice_sets: pa.Table | None) -> None:
        """Store the rankings that a posterior was inferred from and, if given, their statistics."""
        for kind, table in zip(EVIDENCE, (rankings, choice_sets), strict=True):
            stem = f"rankings/{kind}-{key}"
            if table is not None and self._catalog.find(stem) is None:
                self._catalog.commit([table_file(stem, table)])

    def add(self, key: str, draws: pa.Table, facts: JsonObject) -> None:
        """Store a posterior under its key; one with the same key is replaced."""
        old = self._catalog.find(f"{FOLDER}/{key}")
        # Draws hardly compress; lz4 is the fastest to read.
        file = table_file(f"{FOLDER}/{key}", parquet.with_facts(draws, facts), compression="lz4")
        self._catalog.commit([file], [] if old is None else [old])

    def read(self, key: str) -> tuple[pa.Table, JsonObject] | None:
        """A posterior with the facts about it; None if there is none with this key."""
        found = self._catalog.read_current(f"{FOLDER}/{key}")
        if found is None:
            return None
        facts, schema = parquet.facts_of(*found), tables.POSTERIOR
        if facts.get("head_to_head"):
            schema = schema.append(tables.POSTERIOR_WINS)
        return parquet.from_bytes(*found, schema), facts

    def facts(self, key: str) -> JsonObject:
        """The facts about a posterior that is in the store."""
        found = self._catalog.read_current(f"{FOLDER}/{key}")
        if found is None:
            raise KeyError(key)
        return parquet.facts_of(*found)

    def stored(self) -> list[str]:
        """The keys of the posteriors of this race or of `infer`, oldest first."""
        keys, last = self._all(), self._rounds.last()
        mine = last.posterior if last is not None else None
        if self._past:
            return [key for key in keys if key == mine]
        if all(key == mine for key in keys):
            return keys
        rounds = Rounds(self._catalog)
        others = {*self._races.posteriors(), *(rounds.read(n).posterior for n in rounds.numbers())}
        return [key for key in keys if key == mine or key not in others]

    def _all(self) -> list[str]:
        names = self._catalog.names(f"{FOLDER}/")
        return [name.removeprefix(f"{FOLDER}/").rpartition("-")[0] for name in names]

    def last_round_with_draws(self) -> int | None:
        """The newest round whose posterior is in the store."""
        kept = self._all()
        rounds = reversed(self._rounds.numbers())
        return next((n for n in rounds if self._rounds.read(n).posterior in kept), None)

    def remove_superseded(self) -> None:
        """Remove the posteriors of earlier rounds of this race, with their rankings."""
        last, kept = self._rounds.last(), self._all()
        if last is None or kept == [last.posterior]:
            return
        spared = {last.posterior, *self._races.posteriors()}
        rounds = {self._rounds.read(number).posterior for number in self._rounds.numbers()}
        self.remove([key for key in kept if key in rounds - spared])

    def remove(self, keys: list[str]) -> None:
        """Remove posteriors, and rankings that no other posterior was inferred from."""
        if not keys:
            return
        evidence = {key: self._evidence_of(key) for key in self._all()}
        needed = {evidence[key] for key in evidence if key not in keys}
        stems = [f"{FOLDER}/{key}" for key in keys]
        if None not in needed:
            unneeded = {evidence.get(key) for key in keys} - {*needed, None}
            stems += [f"rankings/{kind}-{one}" for one in unneeded for kind in EVIDENCE]
        found = [self._catalog.find(stem) for stem in stems]
        self._catalog.commit(remove=[name for name in found if name is not None])

    def _evidence_of(self, key: str) -> str | None:
        """The key of the rankings of a posterior, without reading its draws; None if unreadable."""
        name = self._catalog.find(f"{FOLDER}/{key}")
        try:
            metadata = pq.read_schema(self._catalog.path / str(name)).metadata
            return str(json.loads(metadata[parquet.FACTS])["evidence"])
        except (OSError, pa.ArrowException, KeyError, TypeError, ValueError):
            return None

    def runs_changed_since(self, key: str) -> bool:
        """Whether runs were set aside or taken back after a posterior was stored."""
        name = self._catalog.find(f"{FOLDER}/{key}")
        return name is not None and SetAside(self._catalog).is_newer_than(name)


@dataclass(frozen=True)
class KeptPosterior:
    """The axes of a kept posterior, and the number of problems behind it."""

    model: str
    algorithms: tuple[str, ...]
    times: tuple[float, ...]
    instances: int


def kept_posterior(facts: JsonObject) -> KeptPosterior:
    """The axes of a posterior from the facts that are stored with its draws."""
    return KeptPosterior(
        facts["options"]["model"],
        tuple(facts["algorithms"]),
        tuple(facts["times"]),
        facts["instances"],
    )


def posterior_to_table(
    posterior: Posterior, grid: GridValues, problems: int, evidence_key: str
) -> tuple[pa.Table, JsonObject]:
    """A posterior as the store keeps it: its draws, and everything else as plain facts.

    ``problems`` is the number of problems behind it.
    """
    size = posterior.n_draws
    flat = posterior.theta.astype(np.float32, copy=False).reshape(size, -1)
    hyper = np.stack([*posterior.hyper.values()], 1) if posterior.hyper else np.empty((size, 0))
    chain = np.repeat(np.arange(posterior.chains, dtype=np.int16), size // posterior.chains)
    columns = [
        _column(np.arange(size, dtype=np.int32)),
        _column(chain),
        _lists(flat),
        _lists(hyper.astype(np.float64)),
    ]
    table = pa.Table.from_arrays(columns, schema=tables.POSTERIOR)
    if posterior.wins is not None:
        wins = posterior.wins.astype(np.float32, copy=False).reshape(size, -1)
        table = table.append_column(tables.POSTERIOR_WINS, _lists(wins))
    facts = {
        "algorithms": list(grid.algorithms),
        "times": grid.times.tolist(),
        "instances": problems,
        "unit_times": posterior.unit_times.tolist(),
        "chains": posterior.chains,
        "hyper": list(posterior.hyper),
        "options": posterior.options.model_dump(mode="json"),
        "engine": posterior.engine,
        "method": posterior.method,
        "seed": posterior.seed,
        "seconds": posterior.seconds,
        "joint": posterior.joint,
        "notes": list(posterior.notes),
        "evidence_weight": posterior.evidence_weight,
        "diagnostics": asdict(posterior.diagnostics),
        "evidence": evidence_key,
        "head_to_head": posterior.wins is not None,
        "shared": None if posterior.shared is None else _run_lengths(posterior.shared),
        "fit": None if posterior.fit is None else asdict(posterior.fit),
    }
    return table, facts


def posterior_from_table(table: pa.Table, facts: JsonObject, as_kept: bool = False) -> Posterior:
    """A posterior read back from the store; ``as_kept`` leaves theta in single precision."""
    size, times, n = len(table), len(facts["times"]), len(facts["algorithms"])
    kind = np.float32 if as_kept else np.float64
    theta = _matrix(table["theta"]).astype(kind, copy=False)
    hyper = _matrix(table["hyper"])
    wins = None
    if "wins" in table.column_names:
        wins = _matrix(table["wins"]).reshape(size, times, -1)
    return Posterior(
        theta=theta.reshape(size, times, n),
        chains=facts["chains"],
        unit_times=np.array(facts["unit_times"]),
        options=ModelOptions.model_validate(facts["options"], context=AS_STORED),
        engine=facts["engine"],
        method=facts["method"],
        seed=facts["seed"],
        seconds=facts["seconds"],
        diagnostics=Diagnostics(**facts["diagnostics"]),
        joint=facts["joint"],
        hyper=MappingProxyType({name: hyper[:, i] for i, name in enumerate(facts["hyper"])}),
        notes=tuple(facts["notes"]),
        evidence_weight=facts["evidence_weight"],
        wins=wins,
        fit=_fit(facts.get("fit")),
        shared=_from_run_lengths(facts["shared"]),
    )


def _column(values: np.ndarray) -> pa.Array:
    return pl.Series(values).to_arrow()  # pa.array would load pandas, if it is installed


def _lists(matrix: np.ndarray) -> pa.ListArray:
    """A matrix as a column of lists, one per row."""
    size, width = matrix.shape
    offsets = np.arange(size + 1, dtype=np.int32) * np.int32(width)
    return pa.ListArray.from_arrays(_column(offsets), _column(matrix.ravel()))


def _matrix(lists: pa.ChunkedArray) -> np.ndarray:
    """A column of lists of the same length as a matrix."""
    values = pl.from_arrow(lists.combine_chunks().flatten())
    assert isinstance(values, pl.Series), "an array is one column"
    return values.to_numpy().reshape(len(lists), -1)


def _run_lengths(shared: np.ndarray) -> list[list[list[int]]]:
    """Counts[time, pair] as [count, number of times] runs for each pair: they seldom change."""
    return [[[int(count), len(list(run))] for count, run in groupby(column)] for column in shared.T]


def _from_run_lengths(runs: list[list[list[int]]] | None) -> np.ndarray | None:
    """Counts[time, pair] from their runs."""
    if runs is None:
        return None
    return np.array([[n for n, times in pair for _ in range(times)] for pair in runs]).T


def _fit(plain: JsonObject | None) -> Fit | None:
    if plain is None:
        return None
    worst = tuple(Deviation(**deviation) for deviation in plain["worst"])
    return Fit(plain["fits"], plain["p_value"], worst)


def rankings_table(grid: GridValues, positions: np.ndarray) -> pa.Table:
    """The rankings as a stored table: one row for each instance and time with two or more."""
    rows = positions.swapaxes(1, 2).reshape(-1, len(grid.algorithms))
    ranked = (rows != ABSENT).sum(axis=1) > 1
    rows = rows[ranked]
    present = rows != ABSENT
    ends = np.concatenate([[0], np.cumsum(present.sum(axis=1))])
    instance, time = np.divmod(np.flatnonzero(ranked), len(grid.times))
    algorithms, instances = (
        pl.Series(n, dtype=pl.String) for n in (grid.algorithms, grid.instances)
    )
    names = algorithms.gather(np.nonzero(present)[1]).to_arrow().cast(pa.string())
    places = _column(np.where(rows == BELOW, np.inf, rows)[present])
    offsets = _column(ends.astype(np.int32))
    columns = [
        instances.gather(instance).to_arrow().cast(pa.string()),
        _column(grid.times[time]),
        pa.ListArray.from_arrays(offsets, names),
        pa.ListArray.from_arrays(offsets, places),
    ]
    return pa.Table.from_arrays(columns, schema=tables.RANKINGS)


def choice_sets_table(grid: GridValues, sets: ChoiceSets) -> pa.Table:
    """The choice sets as a stored table; the count of a set of one is its number of wins."""
    names, times = grid.algorithms, grid.times
    rows = [
        {"t": float(times[t]), "choice": [name], "count": float(sets.wins[t, i])}
        for t in range(sets.n_times)
        for i, name in enumerate(names)
    ]
    for t, mask, count in zip(sets.set_times(), sets.masks, sets.counts, strict=True):
        members = [name for i, name in enumerate(names) if int(mask) >> i & 1]
        rows.append({"t": float(times[t]), "choice": members, "count": float(count)})
    return table_of(rows, tables.CHOICE_SETS)
