"""Posteriors on disk, one file each: draws in its columns, everything else in its metadata.

The rankings that they were inferred from are stored beside them, for direct readers.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from polarbear.errors import StoreDamagedError
from polarbear.inference import ModelOptions, Posterior
from polarbear.inference.fit import Fit
from polarbear.inference.model_options import AS_STORED
from polarbear.inference.posterior_draws import Diagnostics
from polarbear.rankings import ABSENT, BELOW, GridValues
from polarbear.rankings.duels import DuelRecord
from polarbear.store import file_io, tables
from polarbear.store.catalog import Catalog, decoded, facts_of, table_file
from polarbear.store.rounds import Races, Rounds
from polarbear.store.runs import SET_ASIDE

if TYPE_CHECKING:
    import pyarrow as pa

FOLDER = "posteriors"
RANKINGS = "rankings/derived-"


@dataclass(frozen=True)
class StoredDuels:
    """The record of duels of a posterior, numbers of problems by time and pair.

    Fields are those of `DuelRecord`.
    """

    wins: list[list[float]]
    losses: list[list[float]]
    draws: list[list[float]]
    has_fractions: bool
    incomparable: list[list[float]] | None = None

    @classmethod
    def of(cls, record: DuelRecord | None) -> StoredDuels | None:
        if record is None:
            return None
        return cls(
            wins=record.wins.tolist(),
            losses=record.losses.tolist(),
            draws=record.draws.tolist(),
            has_fractions=record.has_fractions,
            incomparable=None if record.incomparable is None else record.incomparable.tolist(),
        )

    def have_lengths(self, expected_lengths: list[int]) -> bool:
        """Whether there is a row of the expected length for each time."""
        tables = [self.wins, self.losses, self.draws]
        if self.incomparable is not None:
            tables.append(self.incomparable)
        return all([len(row) for row in table] == expected_lengths for table in tables)

    def record(self, shared: np.ndarray, n_algorithms: int) -> DuelRecord:
        return DuelRecord(
            wins=np.array(self.wins),
            losses=np.array(self.losses),
            draws=np.array(self.draws),
            shared=shared,
            algorithms=n_algorithms,
            has_fractions=self.has_fractions,
            incomparable=None if self.incomparable is None else np.array(self.incomparable),
        )


@dataclass(frozen=True)
class PosteriorMetadata:
    """Everything about a posterior but its draws, as it stands in the metadata of its file.

    Fields are those of `Posterior`, as values of JSON. ``evidence`` is the key of the data that the
    posterior was inferred from, ``hyper`` has the names of the hyperparameters, ``fit`` is that by
    indices, ``duels`` the record of duels where the model counts them, and ``head_to_head`` says
    whether the file has draws of win probabilities.
    """

    algorithms: list[str]
    times: list[float]
    instances: int
    unit_times: list[float]
    hyper: list[str]
    options: dict[str, Any]
    chains: int
    engine: str
    method: str
    seed: int
    seconds: float
    joint: bool
    evidence_weight: float
    notes: tuple[str, ...]
    diagnostics: Diagnostics
    fit: Fit | None
    evidence: str
    head_to_head: bool
    shared: list[list[int]] | None
    duels: StoredDuels | None = None

    def __post_init__(self) -> None:
        n_pairs = len(self.algorithms) * (len(self.algorithms) - 1) // 2
        expected_lengths = [n_pairs] * len(self.times)
        if self.shared is not None and [len(row) for row in self.shared] != expected_lengths:
            raise ValueError("shared does not have a number for each pair at each time")
        if self.duels is not None and (
            self.shared is None or not self.duels.have_lengths(expected_lengths)
        ):
            raise ValueError("duels do not have a number for each pair at each time")


class Posteriors:
    """The folder ``posteriors/`` of a store, as seen from the current or from a past race."""

    def __init__(self, catalog: Catalog, rounds: Rounds, races: Races, past: bool) -> None:
        self._catalog = catalog
        self._rounds = rounds
        self._races = races
        self._past = past

    def add(
        self, posterior: Posterior, evidence_key: str, grid: GridValues, positions: np.ndarray
    ) -> None:
        """Store a posterior, which replaces one with the same key, and its rankings.

        ``positions`` are the rankings of the values on the ``grid``. Fronts have none.
        """
        metadata = _metadata_of(posterior, evidence_key)
        schema = _schema(metadata.head_to_head)
        name = f"{FOLDER}/{posterior.key}"
        files = [table_file(name, _table_of_draws(posterior), schema, _as_plain(metadata))]
        rankings_name = f"{RANKINGS}{evidence_key}"
        if grid.fronts is None and self._catalog.find(rankings_name) is None:
            rankings = _rankings(grid, positions)
            files.insert(0, table_file(rankings_name, rankings, tables.RANKINGS))
        self._catalog.commit(files, self._catalog.names(f"{name}-"))

    def read(self, key: str, single_precision: bool = False) -> Posterior | None:
        """A stored posterior; None if there is none with this key.

        Theta is stored in single precision; ``single_precision`` leaves it so.
        """
        stored_file = self._catalog.read_current(f"{FOLDER}/{key}")
        if stored_file is None:
            return None
        path, content = stored_file
        metadata = read_metadata(path, content)
        draws = decoded(path, content, _schema(metadata.head_to_head))
        with file_io.decoding(path):
            posterior = _posterior_from(draws, metadata, single_precision)
        return replace(posterior, key=key, axis=self._axis())

    def metadata(self, key: str) -> PosteriorMetadata:
        """The metadata of a posterior that is in the store."""
        stored_file = self._catalog.read_current(f"{FOLDER}/{key}")
        if stored_file is None:
            raise KeyError(key)
        return read_metadata(*stored_file)

    def _axis(self) -> str:
        """The axis of time of the store; empty in a store that lost its configuration."""
        config = self._catalog.manifest.config
        return "" if config is None else config.budget.axis

    def stored(self) -> list[str]:
        """The keys of the posteriors of this race or of `infer`, oldest first."""
        keys = self._all()
        last_round = self._rounds.last()
        key_of_race = last_round.posterior if last_round is not None else None
        if all(key == key_of_race for key in keys):
            return keys
        keys_of_race = {key_of_race, self._key_that_passed(keys)}
        if self._past:
            return [key for key in keys if key in keys_of_race]
        keys_of_rounds = {*self._races.posteriors(), *Rounds(self._catalog).posteriors()}
        return [key for key in keys if key in keys_of_race or key not in keys_of_rounds]

    def _key_that_passed(self, keys: list[str]) -> str | None:
        """The newest of these posteriors of rounds that passed its checks.

        None if that of the last round passed them, so that no earlier one is needed.
        """
        last_round = self._rounds.last()
        if last_round is None or not last_round.problems:
            return None
        for number in reversed(self._rounds.numbers()):
            record = self._rounds.read(number)
            if record.posterior in keys and not record.problems:
                return record.posterior
        return None

    def _all(self) -> list[str]:
        names = self._catalog.names(f"{FOLDER}/")
        return [name.removeprefix(f"{FOLDER}/").rpartition("-")[0] for name in names]

    def last_round_with_draws(self) -> int | None:
        """The newest round whose posterior is in the store."""
        keys = self._all()
        for number in reversed(self._rounds.numbers()):
            if self._rounds.read(number).posterior in keys:
                return number
        return None

    def remove_superseded(self) -> None:
        """Remove the posteriors of earlier rounds of this race, with their rankings.

        If the last one failed its checks, the newest that passed them is kept.
        """
        last_round = self._rounds.last()
        keys = self._all()
        if last_round is None or keys == [last_round.posterior]:
            return
        needed_keys = {
            last_round.posterior,
            self._key_that_passed(keys),
            *self._races.posteriors(),
        }
        superseded_keys = self._rounds.posteriors() - needed_keys
        self.remove([key for key in keys if key in superseded_keys])

    def remove(self, keys: list[str]) -> None:
        """Remove posteriors, and rankings that no other posterior was inferred from."""
        prefixes = [f"{FOLDER}/{key}-" for key in keys]
        try:
            evidence_of_key = {key: self.metadata(key).evidence for key in self._all()}
        except StoreDamagedError:
            pass  # A posterior that cannot be read may need any rankings.
        else:
            needed = {evidence_of_key[key] for key in evidence_of_key if key not in keys}
            unneeded = {*evidence_of_key.values()} - needed
            prefixes += [f"{RANKINGS}{evidence_key}-" for evidence_key in unneeded]
        names = [name for prefix in prefixes for name in self._catalog.names(prefix)]
        self._catalog.commit(remove=names)

    def runs_changed_since(self, key: str) -> bool:
        """Whether runs were set aside or taken back after a posterior was stored."""
        posterior_file = self._catalog.find(f"{FOLDER}/{key}")
        file_of_set_aside_runs = self._catalog.find(SET_ASIDE)
        if posterior_file is None or file_of_set_aside_runs is None:
            return False
        files = list(self._catalog.manifest.files)
        return files.index(str(file_of_set_aside_runs)) > files.index(str(posterior_file))


def read_metadata(path: Path, content: bytes) -> PosteriorMetadata:
    """The metadata in the file of a posterior."""
    return file_io.record(path, PosteriorMetadata, facts_of(path, content))


def _as_plain(metadata: PosteriorMetadata) -> dict[str, Any]:
    """The metadata as values of JSON."""
    plain = asdict(metadata)
    if metadata.duels is not None and metadata.duels.incomparable is None:
        del plain["duels"]["incomparable"]
    return plain


def _metadata_of(posterior: Posterior, evidence_key: str) -> PosteriorMetadata:
    return PosteriorMetadata(
        algorithms=list(posterior.algorithms),
        times=posterior.times.tolist(),
        instances=posterior.instances,
        unit_times=posterior.unit_times.tolist(),
        hyper=list(posterior.hyper),
        options=posterior.options.model_dump(mode="json"),
        chains=posterior.chains,
        engine=posterior.engine,
        method=posterior.method,
        seed=posterior.seed,
        seconds=posterior.seconds,
        joint=posterior.joint,
        evidence_weight=posterior.evidence_weight,
        notes=posterior.notes,
        diagnostics=posterior.diagnostics,
        fit=posterior.indexed_fit,
        evidence=evidence_key,
        head_to_head=posterior.wins is not None,
        shared=None if posterior.shared is None else posterior.shared.tolist(),
        duels=StoredDuels.of(posterior.duels),
    )


def _table_of_draws(posterior: Posterior) -> pl.DataFrame:
    """One row for each draw, with its values of theta, hyperparameters and win probabilities."""
    n_draws = posterior.draws
    chains = np.arange(posterior.chains, dtype=np.int16)
    if posterior.hyper:
        hyper = np.stack([*posterior.hyper.values()], axis=1)
    else:
        hyper = np.empty((n_draws, 0))
    columns = {
        "draw": np.arange(n_draws, dtype=np.int32),
        "chain": np.repeat(chains, n_draws // posterior.chains),
        "theta": _lists(posterior.theta, np.float32),
        "hyper": _lists(hyper, np.float64),
    }
    if posterior.wins is not None:
        columns["wins"] = _lists(posterior.wins, np.float32)
    return pl.DataFrame(columns)


def _posterior_from(
    draws: pl.DataFrame, metadata: PosteriorMetadata, single_precision: bool
) -> Posterior:
    """The posterior of a table of draws and its metadata."""
    n_times = len(metadata.times)
    precision = np.float32 if single_precision else np.float64
    theta = _matrix(draws["theta"]).astype(precision, copy=False)
    wins = None
    if metadata.head_to_head:
        wins = _matrix(draws["wins"]).reshape(len(draws), n_times, -1)
    hyper: dict[str, np.ndarray] = {}
    if metadata.hyper:
        hyper_draws = _matrix(draws["hyper"])
        hyper = {name: hyper_draws[:, i] for i, name in enumerate(metadata.hyper)}
    shared = None if metadata.shared is None else np.array(metadata.shared)
    duels = None
    if metadata.duels is not None and shared is not None:
        duels = metadata.duels.record(shared, len(metadata.algorithms))
    return Posterior(
        theta=theta.reshape(len(draws), n_times, len(metadata.algorithms)),
        algorithms=tuple(metadata.algorithms),
        times=np.array(metadata.times),
        unit_times=np.array(metadata.unit_times),
        chains=metadata.chains,
        options=ModelOptions.model_validate(metadata.options, context=AS_STORED),
        engine=metadata.engine,
        method=metadata.method,
        seed=metadata.seed,
        seconds=metadata.seconds,
        diagnostics=metadata.diagnostics,
        joint=metadata.joint,
        instances=metadata.instances,
        from_store=True,
        hyper=MappingProxyType(hyper),
        notes=metadata.notes,
        evidence_weight=metadata.evidence_weight,
        wins=wins,
        shared=shared,
        duels=duels,
        indexed_fit=metadata.fit,
    )


def _schema(head_to_head: bool) -> pa.Schema:
    if head_to_head:
        return tables.POSTERIOR.append(tables.POSTERIOR_WINS)
    return tables.POSTERIOR


def _lists(draws: np.ndarray, precision: type[np.floating[Any]]) -> pl.Series:
    """An array as a column of lists, one per draw."""
    matrix = draws.astype(precision, copy=False).reshape(len(draws), -1)
    if not matrix.shape[1]:
        return pl.Series([[]] * len(matrix), dtype=pl.List(pl.Float64))
    return pl.Series(matrix).arr.to_list()


def _matrix(lists: pl.Series) -> np.ndarray:
    """A column of lists of the same length as a matrix."""
    return lists.explode().to_numpy().reshape(len(lists), -1)


def _rankings(grid: GridValues, positions: np.ndarray) -> pl.DataFrame:
    """The rankings as a stored table: one row for each instance and time with two or more."""
    present = positions.swapaxes(1, 2) != ABSENT
    present &= present.sum(axis=2, keepdims=True) > 1
    instance, time, algorithm = np.nonzero(present)
    position = positions[instance, algorithm, time]
    entries = pl.DataFrame(
        {
            "instance": pl.Series(grid.instances, dtype=pl.String).gather(instance),
            "t": grid.times[time],
            "algorithm": pl.Series(grid.algorithms, dtype=pl.String).gather(algorithm),
            "position": np.where(position == BELOW, np.inf, position),
        }
    )
    return entries.group_by("instance", "t", maintain_order=True).agg("algorithm", "position")
