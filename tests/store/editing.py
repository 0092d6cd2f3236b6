"""Changes to stores that no command makes, for tests."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from polarbear.store.catalog import Catalog, part_file

Row = dict[str, Any]


def rewrite(store: Path, table: str, change: Callable[[Row], Row | None]) -> None:
    """Change the rows of a table, or leave some out; their order is reversed in any case."""
    catalog = Catalog(store)
    parts = dict(catalog.read_parts(table))
    rows = [row for part in parts.values() for row in part.reverse().to_dicts()]
    rows = [new for row in rows if (new := change(row))]
    catalog.commit([part_file(table, rows)], parts)


def remove_rounds(store: Path) -> None:
    catalog = Catalog(store)
    catalog.commit(remove=catalog.names("rounds/"))


def copy_rounds(source: Path, target: Path) -> None:
    theirs = Catalog(source)
    Catalog(target).commit([(name, theirs.read(name)) for name in theirs.names("rounds/")])
