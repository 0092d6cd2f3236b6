"""Posteriors on disk, one file each, named by what it answers, and the evidence behind them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyarrow as pa

from polarbear.store import files, tables


class Posteriors:
    """The folder ``posteriors/`` of a store, and what its posteriors were inferred from."""

    path: Path

    def add_derived(self, key: str, rankings: pa.Table) -> None:
        """Keep the rankings that a posterior was inferred from."""
        self._keep_evidence(f"derived-{key}", rankings)

    def add_choice_sets(self, key: str, choice_sets: pa.Table) -> None:
        """Keep what they boil down to for Plackett-Luce."""
        self._keep_evidence(f"choice-sets-{key}", choice_sets)

    def _keep_evidence(self, name: str, table: pa.Table) -> None:
        path = self.path / "rankings" / f"{name}.parquet"
        if not path.exists():
            files.write_table(path, table)

    def add_posterior(self, key: str, draws: pa.Table, facts: Mapping[str, Any]) -> None:
        """Keep a posterior under the key of what it answers."""
        files.make_folder(self.path / "posteriors")
        text = json.dumps(facts).encode()
        table = draws.replace_schema_metadata({files.FACTS: text})
        # Draws hardly compress; what matters is that `select` has them at once.
        files.write_table(self.path / "posteriors" / f"{key}.parquet", table, compression="lz4")

    def posterior(self, key: str) -> tuple[pa.Table, dict[str, Any]] | None:
        """A posterior kept earlier, with the facts about it."""
        path = self.path / "posteriors" / f"{key}.parquet"
        try:
            return files.read_with_facts(path, _schema)
        except FileNotFoundError:
            return None

    def drop_posterior(self, key: str) -> None:
        """Forget a posterior that another has taken the place of, and what it was inferred from."""
        evidence = self._evidence_of(key)
        files.remove(self.path / "posteriors" / f"{key}.parquet")
        others = {self._evidence_of(other) for other in Posteriors.posterior_keys(self)}
        if evidence is not None and not others & {evidence, None}:
            for kind in ("derived", "choice-sets"):
                files.remove(self.path / "rankings" / f"{kind}-{evidence}.parquet")

    def _evidence_of(self, key: str) -> str | None:
        """The key of what a posterior was inferred from; None where its file does not tell."""
        facts = self.glance_at_posterior(key)
        return None if facts is None else facts.get("evidence")

    def posterior_keys(self) -> list[str]:
        """What posteriors are kept."""
        return sorted(path.stem for path in (self.path / "posteriors").glob("*.parquet"))

    def posterior_facts(self, key: str) -> dict[str, Any]:
        """What is known about a kept posterior, without its draws."""
        return files.facts_of(self.path / "posteriors" / f"{key}.parquet")

    def glance_at_posterior(self, key: str) -> dict[str, Any] | None:
        """The same unverified, since the draws are not read; None where it cannot be read."""
        return files.facts_at_a_glance(self.path / "posteriors" / f"{key}.parquet")

    def newest_posteriors(self) -> list[str]:
        """What posteriors are kept, the one kept last first."""
        kept = []
        for path in (self.path / "posteriors").glob("*.parquet"):
            with suppress(FileNotFoundError):  # a race has just put another in its place
                kept.append((-path.stat().st_mtime_ns, path.stem))
        return [key for _, key in sorted(kept)]


def _schema(facts: Mapping[str, Any]) -> pa.Schema:
    """Of what columns a posterior is, by the facts beside its draws."""
    schema = tables.POSTERIOR
    return schema.append(tables.POSTERIOR_WINS) if facts.get("head_to_head") else schema
