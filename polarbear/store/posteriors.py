"""Posteriors on disk, one file each: draws in its columns, everything else in its metadata.

The rankings that they were inferred from are stored beside them, for direct readers.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
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
from polarbear.store import file_io, tables
from polarbear.store.catalog import Catalog, decoded, facts_of, table_file
from polarbear.store.rounds import Races, Rounds
from polarbear.store.runs import SET_ASIDE

if TYPE_CHECKING:
    import pyarrow as pa

FOLDER = "posteriors"
RANKINGS = "rankings/derived-"
PLAIN_FIELDS = (
    *("chains", "engine", "method", "seed", "seconds", "joint", "evidence_weight", "notes"),
    *("diagnostics", "fit"),
)


@dataclass(frozen=True)
class PosteriorFacts:
    """The metadata of a posterior: fields of `Posterior`, and names of the axes of its draws.

    ``instances`` is the number of problems behind it, ``evidence`` the key of its data, and
    ``hyper`` has the names of the hyperparameters.
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

    def __post_init__(self) -> None:
        pairs = len(self.algorithms) * (len(self.algorithms) - 1) // 2
        shape = [pairs] * len(self.times)
        if self.shared is not None and [len(row) for row in self.shared] != shape:
            raise ValueError("shared does not have a number for each pair at each time")


class Posteriors:
    """The folder ``posteriors/`` of a store, as seen from the current or from a past race."""

    def __init__(self, catalog: Catalog, rounds: Rounds, races: Races, past: bool) -> None:
        self._catalog, self._rounds, self._races, self._past = catalog, rounds, races, past

    def add(
        self,
        key: str,
        posterior: Posterior,
        grid: GridValues,
        problems: int,
        evidence: str,
        positions: np.ndarray,
    ) -> None:
        """Store a posterior, which replaces one with the same key, and its rankings."""
        draws, facts = _to_table(posterior, grid, problems, evidence)
        schema = _schema(facts.head_to_head)
        files = [table_file(f"{FOLDER}/{key}", draws, schema, asdict(facts))]
        rankings = f"{RANKINGS}{evidence}"
        if self._catalog.find(rankings) is None:
            files.insert(0, table_file(rankings, _rankings(grid, positions), tables.RANKINGS))
        self._catalog.commit(files, self._catalog.names(f"{FOLDER}/{key}-"))

    def read(self, key: str, as_kept: bool = False) -> tuple[Posterior, PosteriorFacts] | None:
        """A posterior with the facts about it; None if there is none with this key.

        ``as_kept`` leaves theta in single precision.
        """
        found = self._catalog.read_current(f"{FOLDER}/{key}")
        if found is None:
            return None
        facts = read_facts(*found)
        draws = decoded(*found, _schema(facts.head_to_head))
        with file_io.decoding(found[0]):
            return _from_table(draws, facts, as_kept), facts

    def facts(self, key: str) -> PosteriorFacts:
        """The facts about a posterior that is in the store."""
        found = self._catalog.read_current(f"{FOLDER}/{key}")
        if found is None:
            raise KeyError(key)
        return read_facts(*found)

    def stored(self) -> list[str]:
        """The keys of the posteriors of this race or of `infer`, oldest first."""
        keys, last = self._all(), self._rounds.last()
        mine = last.posterior if last is not None else None
        if self._past:
            return [key for key in keys if key == mine]
        if all(key == mine for key in keys):
            return keys
        others = {*self._races.posteriors(), *Rounds(self._catalog).posteriors()}
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
        if last is not None and kept != [last.posterior]:
            spared = {last.posterior, *self._races.posteriors()}
            self.remove([key for key in kept if key in self._rounds.posteriors() - spared])

    def remove(self, keys: list[str]) -> None:
        """Remove posteriors, and rankings that no other posterior was inferred from."""
        stems = [f"{FOLDER}/{key}" for key in keys]
        try:
            evidence = {key: self.facts(key).evidence for key in self._all()}
            needed = {evidence[key] for key in evidence if key not in keys}
            stems += [f"{RANKINGS}{one}" for one in {*evidence.values()} - needed]
        except StoreDamagedError:  # a posterior that cannot be read may need any rankings
            pass
        self._catalog.commit(
            remove=[name for stem in stems for name in self._catalog.names(f"{stem}-")]
        )

    def runs_changed_since(self, key: str) -> bool:
        """Whether runs were set aside or taken back after a posterior was stored."""
        mine, aside = self._catalog.find(f"{FOLDER}/{key}"), self._catalog.find(SET_ASIDE)
        listed = list(self._catalog.manifest.files)
        return bool(mine and aside) and listed.index(str(aside)) > listed.index(str(mine))


def read_facts(path: Path, data: bytes) -> PosteriorFacts:
    """The facts in the file of a posterior."""
    return file_io.record(path, PosteriorFacts, facts_of(path, data))


def _to_table(
    posterior: Posterior, grid: GridValues, problems: int, evidence: str
) -> tuple[pl.DataFrame, PosteriorFacts]:
    """The draws of a posterior, and the facts about it."""
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
    facts = PosteriorFacts(
        algorithms=list(grid.algorithms),
        times=grid.times.tolist(),
        instances=problems,
        unit_times=posterior.unit_times.tolist(),
        hyper=list(posterior.hyper),
        options=posterior.options.model_dump(mode="json"),
        evidence=evidence,
        head_to_head=posterior.wins is not None,
        shared=None if posterior.shared is None else posterior.shared.tolist(),
        **{name: getattr(posterior, name) for name in PLAIN_FIELDS},
    )
    return pl.DataFrame(columns), facts


def _from_table(draws: pl.DataFrame, facts: PosteriorFacts, as_kept: bool) -> Posterior:
    shape = len(draws), len(facts.times), len(facts.algorithms)
    kind = np.float32 if as_kept else np.float64
    hyper = _matrix(draws["hyper"]) if facts.hyper else np.empty((len(draws), 0))
    return Posterior(
        theta=_matrix(draws["theta"]).astype(kind, copy=False).reshape(shape),
        unit_times=np.array(facts.unit_times),
        options=ModelOptions.model_validate(facts.options, context=AS_STORED),
        hyper=MappingProxyType({name: hyper[:, i] for i, name in enumerate(facts.hyper)}),
        wins=_matrix(draws["wins"]).reshape(*shape[:2], -1) if facts.head_to_head else None,
        shared=None if facts.shared is None else np.array(facts.shared),
        **{name: getattr(facts, name) for name in PLAIN_FIELDS},
    )


def _schema(head_to_head: bool) -> pa.Schema:
    schema = tables.POSTERIOR
    return schema.append(tables.POSTERIOR_WINS) if head_to_head else schema


def _lists(draws: np.ndarray, kind: type[np.floating[Any]]) -> pl.Series:
    """An array as a column of lists, one per draw."""
    matrix = draws.astype(kind, copy=False).reshape(len(draws), -1)
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
