"""A new name for an algorithm, in all files of a store or in none."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl
import pyarrow as pa

from polarbear.store import parquet
from polarbear.store.catalog import File, table_file
from polarbear.store.rounds import Rounds
from polarbear.store.runs import run_id

if TYPE_CHECKING:
    from polarbear.config import PlainConfig
    from polarbear.store.store import Store


def rename(store: Store, old: str, new: str) -> None:
    """Rename an algorithm; the caller holds the store's lock and has checked both names."""
    catalog = store.catalog
    before = [name for name in catalog.manifest.files if name.endswith(".parquet")]
    ids, remove = _new_ids(store, old, new), list[str]()

    def changed() -> Iterator[File]:
        for name in before:  # in their order: the newest posterior stays the newest
            data = catalog.read(name)
            table = _renamed_table(parquet.any_from_bytes(catalog.path / name, data), ids, old, new)
            if table is None:
                yield name, data
            else:
                remove.append(name)
                stem = name.rpartition("-")[0]
                yield table_file(stem, table, "lz4" if name.startswith("posteriors/") else "zstd")
        yield from _rounds(store.rounds, old, new)
        for number in store.races.numbers():
            yield from _rounds(store.races.rounds(number), old, new)
            about = store.races.about(number)
            yield replace(about, config=_renamed_config(about.config, old, new)).file()
        yield store.provenance.read().renamed(old, new).file()

    catalog.commit(changed(), remove, _renamed_config(store.config, old, new))


def _rounds(rounds: Rounds, old: str, new: str) -> Iterator[File]:
    for number in rounds.numbers():
        yield rounds.checkpoint(rounds.read(number).renamed(old, new))


def _renamed_config(config: PlainConfig, old: str, new: str) -> PlainConfig:
    entries = config["algorithms"].items()
    return {**config, "algorithms": {new if n == old else n: entry for n, entry in entries}}


def _renamed_table(table: pa.Table, ids: dict[str, str], old: str, new: str) -> pa.Table | None:
    """A table with the new name in its columns and metadata; None if it has no old one."""
    facts = (table.schema.metadata or {}).get(parquet.FACTS)
    if facts is not None:  # a posterior
        known = json.loads(facts)
        if old not in known["algorithms"]:
            return None
        names = [new if name == old else name for name in known["algorithms"]]
        return parquet.with_facts(table, {**known, "algorithms": names})
    before = parquet.frame_of(table.schema, [table])
    after = before.with_columns(
        [
            *(pl.col(c).replace(old, new) for c in ("algorithm", "a", "b") if _has(before, c)),
            *(
                pl.col(c).list.eval(pl.element().replace(old, new))
                for c in ("algorithm", "choice")
                if _has(before, c, pl.List(pl.String))
            ),
            *(pl.col(c).replace(ids) for c in ("run",) if _has(before, c)),
        ]
    )
    return None if after.equals(before) else after.to_arrow().cast(table.schema)


def _has(frame: pl.DataFrame, column: str, kind: pl.DataType | None = None) -> bool:
    return frame.schema.get(column) == (kind or pl.String())


def _new_ids(store: Store, old: str, new: str) -> dict[str, str]:
    """The ids of runs follow from the names of their algorithms."""
    columns = ("algorithm", "instance", "attempt")
    tables = (store.every_run(), store.speculative.table(), store.set_aside.runs())
    return {
        run_id(old, instance, attempt): run_id(new, instance, attempt)
        for table in tables
        for name, instance, attempt in table.select(columns).iter_rows()
        if name == old
    }
