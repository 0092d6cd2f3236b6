"""Posteriors on disk, one file each, and the rankings that they were inferred from."""

from __future__ import annotations

from dataclasses import asdict
from itertools import groupby
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from polarbear.errors import StoreDamagedError
from polarbear.inference import ModelOptions, Posterior
from polarbear.inference.fit import Deviation, Fit
from polarbear.inference.model_options import AS_STORED
from polarbear.inference.posterior_draws import Diagnostics
from polarbear.rankings import ABSENT, BELOW, GridValues
from polarbear.store import parquet, tables
from polarbear.store.catalog import Catalog, table_file
from polarbear.store.file_io import JsonObject
from polarbear.store.rounds import Races, Rounds
from polarbear.store.set_aside import SetAside

if TYPE_CHECKING:
    import pyarrow as pa

FOLDER = "posteriors"
PLAIN_FIELDS = ("chains", "engine", "method", "seed", "seconds", "joint", "evidence_weight")
RANKINGS = "rankings/derived-"  # the rankings that posteriors were inferred from


class Posteriors:
    """The folder ``posteriors/`` of a store, as seen from the current or from a past race."""

    def __init__(self, catalog: Catalog, rounds: Rounds, races: Races, past: bool) -> None:
        self._catalog, self._rounds, self._races, self._past = catalog, rounds, races, past

    def add(self, key: str, draws: pl.DataFrame, facts: JsonObject, rankings: pl.DataFrame) -> None:
        """Store a posterior, and the rankings that it was inferred from.

        A posterior with the same key is replaced.
        """
        old = self._catalog.find(f"{FOLDER}/{key}")
        files = [table_file(f"{FOLDER}/{key}", draws, _schema(facts), facts)]
        stem = f"{RANKINGS}{facts['evidence']}"
        if self._catalog.find(stem) is None:
            files.insert(0, table_file(stem, rankings, tables.RANKINGS))
        self._catalog.commit(files, [] if old is None else [old])

    def read(self, key: str) -> tuple[pl.DataFrame, JsonObject] | None:
        """A posterior with the facts about it; None if there is none with this key."""
        found = self._catalog.read_current(f"{FOLDER}/{key}")
        if found is None:
            return None
        facts = parquet.facts_of(*found)
        return parquet.from_bytes(*found, _schema(facts)), facts

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
            stems += [f"{RANKINGS}{one}" for one in unneeded]
        found = [self._catalog.find(stem) for stem in stems]
        self._catalog.commit(remove=[name for name in found if name is not None])

    def _evidence_of(self, key: str) -> str | None:
        """The key of the rankings of a posterior; None if it cannot be read."""
        try:
            return str(self.facts(key)["evidence"])
        except (StoreDamagedError, KeyError):
            return None

    def runs_changed_since(self, key: str) -> bool:
        """Whether runs were set aside or taken back after a posterior was stored."""
        name = self._catalog.find(f"{FOLDER}/{key}")
        return name is not None and SetAside(self._catalog).is_newer_than(name)


def posterior_to_table(
    posterior: Posterior, grid: GridValues, problems: int, evidence_key: str
) -> tuple[pl.DataFrame, JsonObject]:
    """A posterior as the store keeps it: its draws, and everything else as plain facts.

    ``problems`` is the number of problems behind it.
    """
    size = posterior.n_draws
    hyper = np.stack([*posterior.hyper.values()], 1) if posterior.hyper else np.empty((size, 0))
    columns = {
        "draw": np.arange(size, dtype=np.int32),
        "chain": np.repeat(np.arange(posterior.chains, dtype=np.int16), size // posterior.chains),
        "theta": _lists(posterior.theta, np.float32),
        "hyper": _lists(hyper, np.float64),
    }
    if posterior.wins is not None:
        columns["wins"] = _lists(posterior.wins, np.float32)
    facts = {
        "algorithms": list(grid.algorithms),
        "times": grid.times.tolist(),
        "instances": problems,
        "unit_times": posterior.unit_times.tolist(),
        "hyper": list(posterior.hyper),
        "options": posterior.options.model_dump(mode="json"),
        **{name: getattr(posterior, name) for name in PLAIN_FIELDS},
        "notes": list(posterior.notes),
        "diagnostics": asdict(posterior.diagnostics),
        "evidence": evidence_key,
        "head_to_head": posterior.wins is not None,
        "shared": None if posterior.shared is None else _run_lengths(posterior.shared),
        "fit": None if posterior.fit is None else asdict(posterior.fit),
    }
    return pl.DataFrame(columns), facts


def posterior_from_table(
    draws: pl.DataFrame, facts: JsonObject, as_kept: bool = False
) -> Posterior:
    """A posterior read back from the store; ``as_kept`` leaves theta in single precision."""
    shape = len(draws), len(facts["times"]), len(facts["algorithms"])
    kind = np.float32 if as_kept else np.float64
    hyper = _matrix(draws["hyper"]) if facts["hyper"] else np.empty((len(draws), 0))
    fit = facts["fit"]
    return Posterior(
        theta=_matrix(draws["theta"]).astype(kind, copy=False).reshape(shape),
        unit_times=np.array(facts["unit_times"]),
        options=ModelOptions.model_validate(facts["options"], context=AS_STORED),
        diagnostics=Diagnostics(**facts["diagnostics"]),
        hyper=MappingProxyType({name: hyper[:, i] for i, name in enumerate(facts["hyper"])}),
        notes=tuple(facts["notes"]),
        wins=_matrix(draws["wins"]).reshape(*shape[:2], -1) if facts["head_to_head"] else None,
        fit=fit and Fit(**{**fit, "worst": tuple(Deviation(**one) for one in fit["worst"])}),
        shared=_from_run_lengths(facts["shared"]),
        **{name: facts[name] for name in PLAIN_FIELDS},
    )


def _schema(facts: JsonObject) -> pa.Schema:
    schema = tables.POSTERIOR
    return schema.append(tables.POSTERIOR_WINS) if facts.get("head_to_head") else schema


def _lists(draws: np.ndarray, kind: type[np.floating[Any]]) -> pl.Series:
    """An array as a column of lists, one per draw."""
    matrix = draws.astype(kind, copy=False).reshape(len(draws), -1)
    if not matrix.shape[1]:
        return pl.Series([[]] * len(matrix), dtype=pl.List(pl.Float64))
    return pl.Series(matrix).arr.to_list()


def _matrix(lists: pl.Series) -> np.ndarray:
    """A column of lists of the same length as a matrix."""
    return lists.explode().to_numpy().reshape(len(lists), -1)


def _run_lengths(shared: np.ndarray) -> list[list[list[int]]]:
    """Counts[time, pair] as [count, number of times] runs for each pair: they seldom change."""
    return [[[int(count), len(list(run))] for count, run in groupby(column)] for column in shared.T]


def _from_run_lengths(runs: list[list[list[int]]] | None) -> np.ndarray | None:
    """Counts[time, pair] from their runs."""
    if runs is None:
        return None
    return np.array([[n for n, times in pair for _ in range(times)] for pair in runs]).T


def rankings_table(grid: GridValues, positions: np.ndarray) -> pl.DataFrame:
    """The rankings as a stored table: one row for each instance and time with two or more."""
    present = positions.swapaxes(1, 2) != ABSENT
    present &= present.sum(axis=2, keepdims=True) > 1
    instance, time, algorithm = np.nonzero(present)
    places = positions[instance, algorithm, time]
    entries = pl.DataFrame(
        {
            "instance": pl.Series(grid.instances, dtype=pl.String).gather(instance),
            "t": grid.times[time],
            "algorithm": pl.Series(grid.algorithms, dtype=pl.String).gather(algorithm),
            "position": np.where(places == BELOW, np.inf, places),
        }
    )
    return entries.group_by("instance", "t", maintain_order=True).agg("algorithm", "position")
