"""Changes to stores that no command makes, for tests."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from polarbear.store import tables
from polarbear.store.catalog import Catalog, part_file
from polarbear.store.parquet import frame_of

Row = dict[str, Any]


def rewrite(store: Path, table: str, change: Callable[[Row], Row | None]) -> None:
    """Change the rows of a table, or leave some out."""
    catalog, schema = Catalog(store), tables.ALL[table]
    parts = dict(catalog.read_parts(table))
    rows = [new for row in frame_of(schema, parts.values()).to_dicts() if (new := change(row))]
    catalog.commit([part_file(table, rows)], parts)


def remove_rounds(store: Path) -> None:
    catalog = Catalog(store)
    catalog.commit(remove=catalog.names("rounds/"))


def copy_rounds(source: Path, target: Path) -> None:
    theirs = Catalog(source)
    Catalog(target).commit([(name, theirs.read(name)) for name in theirs.names("rounds/")])
