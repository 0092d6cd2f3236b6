"""A new name for an algorithm, in all files of a store or in none."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from polarbear.execution.outcome import RunKey
from polarbear.store.catalog import Content, File, content_of, table_file
from polarbear.store.rounds import Rounds
from polarbear.store.runs import run_id

if TYPE_CHECKING:
    from polarbear.config.stored_settings import StoredSettings
    from polarbear.store.store import StoreOnDisk


def rename(store: StoreOnDisk, old: str, new: str) -> None:
    """Rename an algorithm; the caller holds the store's lock and has checked both names."""
    catalog = store.catalog
    tables = [name for name in catalog.manifest.files if name.endswith(".parquet")]
    ids = _new_ids(store, old, new)
    replaced: list[str] = []

    def changed_files() -> Iterator[File]:
        for name in tables:  # in this order, so that the newest posterior stays the newest
            data = catalog.read(name)
            renamed = _renamed_content(content_of(catalog.path / name, data), ids, old, new)
            if renamed is None:
                yield name, data
            else:
                replaced.append(name)
                yield table_file(name.rpartition("-")[0], *renamed)
        yield from _rounds(store.rounds, old, new)
        for number in store.races.numbers():
            yield from _rounds(store.races.rounds(number), old, new)
            about = store.races.about(number)
            yield replace(about, config=_renamed_settings(about.config, old, new)).file()
        yield store.provenance.read().renamed(old, new).file()
        judgements = store.judgements.read()
        if judgements.judgements:
            yield judgements.renamed(old, new).file()
        for generation in store.generations.all():
            yield generation.renamed(old, new).file()

    catalog.commit(changed_files(), replaced, _renamed_settings(store.settings, old, new))


def _rounds(rounds: Rounds, old: str, new: str) -> Iterator[File]:
    for number in rounds.numbers():
        yield rounds.checkpoint(rounds.read(number).renamed(old, new))


def _renamed_settings(settings: StoredSettings, old: str, new: str) -> StoredSettings:
    algorithms = {
        new if name == old else name: algorithm for name, algorithm in settings.algorithms.items()
    }
    return settings.with_algorithms(algorithms)


def _renamed_content(content: Content, ids: dict[str, str], old: str, new: str) -> Content | None:
    """A table with the new name in its columns and facts; None if the old name is not in it."""
    before, schema, facts = content
    if facts is not None:  # a posterior
        names = [new if name == old else name for name in facts["algorithms"]]
        if names == facts["algorithms"]:
            return None
        return before, schema, {**facts, "algorithms": names}
    after = before.with_columns(
        _renamed_column(name, kind, ids, old, new)
        for name, kind in before.schema.items()
        if name in ("run", "a", "b", "algorithm")
    )
    return None if after.equals(before) else (after, schema, None)


def _renamed_column(
    name: str, kind: pl.DataType, ids: dict[str, str], old: str, new: str
) -> pl.Expr:
    """A column of ids of runs, of names, or of lists of names, with the new name."""
    column = pl.col(name)
    if name == "run":
        return column.replace(ids)
    if kind == pl.String:
        return column.replace(old, new)
    return column.list.eval(pl.element().replace(old, new))


def _new_ids(store: StoreOnDisk, old: str, new: str) -> dict[str, str]:
    """The ids of runs follow from the names of their algorithms."""
    columns = ("algorithm", "instance", "attempt")
    ids = {
        run_id(RunKey(old, instance), attempt): run_id(RunKey(new, instance), attempt)
        for name, instance, attempt in store.set_aside.runs().select(columns).iter_rows()
        if name == old
    }
    for table in (store.every_run(), store.speculative.table()):
        for name, instance, attempt, budget in table.select(*columns, "budget").iter_rows():
            # A run may have been made with a contract or without one.
            for contract in (None, budget) if name == old else ():
                old_id = run_id(RunKey(old, instance, contract), attempt)
                ids[old_id] = run_id(RunKey(new, instance, contract), attempt)
    return ids
