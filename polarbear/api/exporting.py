"""What a store holds, written as others read it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from polarbear.api.showing import Shown, dressed
from polarbear.formats import EXPORTS
from polarbear.formats.store_export import ExportResult, export_store
from polarbear.settings.options import Source, validate
from polarbear.store import Store as StoreOnDisk
from polarbear.wording import counted


@dataclass(frozen=True, repr=False)
class Exported(Shown, ExportResult):
    """What a call of `export` wrote, and where."""

    def _in_a_line(self) -> str:
        return f"{self.what} in {counted(len(self.written), 'file')} at {self.to}"


def export(
    disk: StoreOnDisk,
    format: str,
    to: Path,
    algorithms: Sequence[str] | None,
    options: Mapping[str, Any],
    force: bool,
) -> Exported:
    """Write a store in one of the formats that others read."""
    asked = validate(EXPORTS[format], options, Source(format))
    return dressed(Exported, export_store(disk, format, asked, to, algorithms, force))


def refusal(format: str) -> str:
    """Why there is no such format, or an empty string."""
    return "" if format in EXPORTS else EXPORTS.refusal(format)
