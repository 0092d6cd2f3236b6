"""Posteriors on disk, one file each, and the rankings that they were inferred from."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from polarbear.store import parquet, tables
from polarbear.store.catalog import Catalog, table_file
from polarbear.store.rounds import Races, Rounds
from polarbear.store.set_aside import SetAside

FOLDER = "posteriors"
EVIDENCE = ("derived", "choice-sets")


class Posteriors:
    """The folder ``posteriors/`` of a store, as seen from the current or from a past race."""

    def __init__(self, catalog: Catalog, rounds: Rounds, races: Races, past: bool) -> None:
        self._catalog, self._rounds, self._races, self._past = catalog, rounds, races, past

    def add_rankings(self, key: str, rankings: pa.Table) -> None:
        """Store the rankings that a posterior was inferred from."""
        self._add_evidence("derived", key, rankings)

    def add_choice_sets(self, key: str, choice_sets: pa.Table) -> None:
        """Store the sufficient statistics of the rankings for Plackett-Luce."""
        self._add_evidence("choice-sets", key, choice_sets)

    def _add_evidence(self, kind: str, key: str, table: pa.Table) -> None:
        stem = f"rankings/{kind}-{key}"
        if self._catalog.find(stem) is None:
            self._catalog.commit([table_file(stem, table)])

    def add(self, key: str, draws: pa.Table, facts: Mapping[str, Any]) -> None:
        """Store a posterior under its key; one with the same key is replaced."""
        old = self._catalog.find(f"{FOLDER}/{key}")
        # Draws hardly compress; lz4 is the fastest to read.
        file = table_file(f"{FOLDER}/{key}", parquet.with_facts(draws, facts), compression="lz4")
        self._catalog.commit([file], [] if old is None else [old])

    def read(self, key: str) -> tuple[pa.Table, dict[str, Any]] | None:
        """A posterior with the facts about it; None if there is none with this key."""
        found = self._catalog.read_current(f"{FOLDER}/{key}")
        if found is None:
            return None
        facts, schema = parquet.facts_of(*found), tables.POSTERIOR
        if facts.get("head_to_head"):
            schema = schema.append(tables.POSTERIOR_WINS)
        return parquet.from_bytes(*found, schema), facts

    def facts(self, key: str) -> dict[str, Any]:
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
