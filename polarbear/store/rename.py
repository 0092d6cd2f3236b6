"""A new name for an algorithm, in all files of a store or in none."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from polarbear.store.catalog import Content, File, content_of, table_file
from polarbear.store.rounds import Rounds
from polarbear.store.runs import run_id

if TYPE_CHECKING:
    from polarbear.config.stored_settings import StoredSettings
    from polarbear.store.store import StoreOnDisk


def rename(store: StoreOnDisk, old: str, new: str) -> None:
    """Rename an algorithm; the caller holds the store's lock and has checked both names."""
    catalog = store.catalog
    before = [name for name in catalog.manifest.files if name.endswith(".parquet")]
    ids, remove = _new_ids(store, old, new), list[str]()

    def changed() -> Iterator[File]:
        for name in before:  # in their order: the newest posterior stays the newest
            data = catalog.read(name)
            renamed = _renamed_content(content_of(catalog.path / name, data), ids, old, new)
            if renamed is None:
                yield name, data
            else:
                remove.append(name)
                yield table_file(name.rpartition("-")[0], *renamed)
        yield from _rounds(store.rounds, old, new)
        for number in store.races.numbers():
            yield from _rounds(store.races.rounds(number), old, new)
            about = store.races.about(number)
            yield replace(about, config=_renamed_settings(about.config, old, new)).file()
        yield store.provenance.read().renamed(old, new).file()

    catalog.commit(changed(), remove, _renamed_settings(store.settings, old, new))


def _rounds(rounds: Rounds, old: str, new: str) -> Iterator[File]:
    for number in rounds.numbers():
        yield rounds.checkpoint(rounds.read(number).renamed(old, new))


def _renamed_settings(settings: StoredSettings, old: str, new: str) -> StoredSettings:
    algorithms = settings.algorithms.items()
    return settings.with_algorithms({new if name == old else name: one for name, one in algorithms})


def _renamed_content(content: Content, ids: dict[str, str], old: str, new: str) -> Content | None:
    """A table with the new name in its columns and facts; None if it has no old one."""
    before, schema, facts = content
    if facts is not None:  # a posterior
        names = [new if name == old else name for name in facts["algorithms"]]
        changed = before, schema, {**facts, "algorithms": names}
        return None if names == facts["algorithms"] else changed
    columns = [
        pl.col(name).replace(ids)
        if name == "run"
        else pl.col(name).replace(old, new)
        if kind == pl.String
        else pl.col(name).list.eval(pl.element().replace(old, new))
        for name, kind in before.schema.items()
        if name in ("run", "a", "b", "algorithm")
    ]
    after = before.with_columns(columns)
    return None if after.equals(before) else (after, schema, None)


def _new_ids(store: StoreOnDisk, old: str, new: str) -> dict[str, str]:
    """The ids of runs follow from the names of their algorithms."""
    columns = ("algorithm", "instance", "attempt")
    tables = (store.every_run(), store.speculative.table(), store.set_aside.runs())
    return {
        run_id(old, instance, attempt): run_id(new, instance, attempt)
        for table in tables
        for name, instance, attempt in table.select(columns).iter_rows()
        if name == old
    }
