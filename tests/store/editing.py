"""Changes to stores that no command makes, for tests."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from polarbear.store import file_io
from polarbear.store.catalog import Catalog, part_file
from polarbear.store.manifest import NAME

Row = dict[str, Any]


def rewrite(store: Path, table: str, change: Callable[[Row], Row | None]) -> None:
    """Change the rows of a table, or remove those that become None, and reverse their order."""
    catalog = Catalog(store)
    parts = dict(catalog.read_parts(table))
    rows = [row for part in parts.values() for row in part.reverse().to_dicts()]
    changed_rows = [change(row) for row in rows]
    catalog.commit([part_file(table, [row for row in changed_rows if row])], parts)


def rewrite_manifest(store: Path, change: Callable[[Row], object]) -> None:
    """Change the facts of the manifest in place, and keep its checksum valid."""
    facts = json.loads((store / NAME).read_bytes())
    del facts["checksum"]
    change(facts)
    (store / NAME).write_bytes(file_io.to_json(facts))


def remove_rounds(store: Path) -> None:
    catalog = Catalog(store)
    catalog.commit(remove=catalog.names("rounds/"))


def copy_rounds(source: Path, target: Path) -> None:
    files = Catalog(source)
    Catalog(target).commit([(name, files.read(name)) for name in files.names("rounds/")])
