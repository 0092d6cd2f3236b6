"""Writes a store in another format: completely, or not at all."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from polarbear.errors import ExportFailedError
from polarbear.formats.base import Export
from polarbear.plain import Record
from polarbear.settings.options import unknown
from polarbear.store import Store, file_io
from polarbear.wording import counted

MAX_FILE_NAME_BYTES = 120  # of the 255 that most systems allow


@dataclass(frozen=True, repr=False)
class ExportResult(Record):
    """The result of an export; fields are the keys of `polarbear export --json`."""

    store: str
    format: str
    to: str
    algorithms: tuple[str, ...]
    what: str
    written: tuple[str, ...]
    notes: tuple[str, ...]

    def one_line(self) -> str:
        return f"{self.what} in {counted(len(self.written), 'file')} at {self.to}"


def export_store(
    store: Store,
    name: str,
    export: Export,
    place: Path,
    algorithms: Sequence[str] | None = None,
    force: bool = False,
) -> ExportResult:
    """Write a store to a place; existing files are replaced only with ``force``."""
    chosen = _checked_algorithms(store, algorithms)
    if not force:
        _check_free(place)
    try:
        with file_io.folder_aside(place) as temporary:
            written = export.write(store, chosen, temporary / place.name)
            made = sorted(path for path in temporary.rglob("*") if path.is_file())
            goals = [place.parent / path.relative_to(temporary) for path in made]
            if not force:
                for goal in goals:
                    _check_free(goal)
            for path, goal in zip(made, goals, strict=True):
                goal.parent.mkdir(parents=True, exist_ok=True)
                path.replace(goal)
    except OSError as error:
        raise ExportFailedError(f"cannot write {place}: {error.strerror or error}") from None
    return ExportResult(
        store=str(store.path),
        format=name,
        to=str(place),
        algorithms=chosen,
        what=written.what,
        written=tuple(map(str, goals)),
        notes=written.notes,
    )


def _checked_algorithms(store: Store, algorithms: Sequence[str] | None) -> tuple[str, ...]:
    known = tuple(store.config["algorithms"])
    for name in algorithms or ():
        if name not in known:
            raise ExportFailedError(f"{unknown('algorithm', name, known)} (in {store.path})")
    return tuple(name for name in known if algorithms is None or name in algorithms)


def _check_free(path: Path) -> None:
    if path.is_dir() and not any(path.iterdir()):
        return
    if path.exists() or path.is_symlink():
        raise ExportFailedError(f"{path} exists already: choose another place, or add --force")


def file_name(text: str) -> str:
    """A file name that every system allows, short enough for a prefix and a suffix."""
    made = re.sub(r"[^\w.+-]+", "_", text).strip("._")
    return made.encode()[:MAX_FILE_NAME_BYTES].decode(errors="ignore") or "_"


def file_names(names: Sequence[str]) -> dict[str, str]:
    """A file name for each name, all different even on systems that ignore case."""
    found: dict[str, str] = {}
    taken: set[str] = set()
    for name in names:
        base = made = file_name(name)
        number = 1
        while made.lower() in taken:
            number += 1
            made = f"{base}-{number}"
        taken.add(made.lower())
        found[name] = made
    return found
