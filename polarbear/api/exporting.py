"""Writes the contents of a store in the formats of other tools."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from polarbear.formats import EXPORTS
from polarbear.formats.store_export import ExportResult, export_store
from polarbear.settings.options import Source, validate
from polarbear.store import Store as StoreOnDisk


def export(
    disk: StoreOnDisk,
    format: str,
    to: Path,
    algorithms: Sequence[str] | None,
    options: Mapping[str, Any],
    force: bool,
) -> ExportResult:
    """Write a store in one of the export formats."""
    chosen = validate(EXPORTS[format], options, Source(format))
    return export_store(disk, format, chosen, to, algorithms, force)


def refusal(format: str) -> str:
    """The reason why a format is not available, or an empty string."""
    return "" if format in EXPORTS else EXPORTS.refusal(format)
