"""The configuration's folder as an archive that is sent to other machines."""

from __future__ import annotations

import hashlib
import io
import os
import tarfile
from collections.abc import Iterator
from pathlib import Path

from polarbear.errors import ClusterError
from polarbear.wording import size

MAX_ARCHIVE_BYTES = 64 * 2**20  # more than code needs, and more than a scheduler should hold
EXCLUDED_NAMES = {"__pycache__", "node_modules"}
EXCLUDING_FILES = ("polarbear.json", "pyvenv.cfg")  # in stores and virtual environments


def pack(folder: Path) -> bytes:
    """Archive a folder without hidden files, caches, stores and virtual environments.

    The bytes depend on names, contents and permissions only, not on times and owners.
    """
    total, buffer = 0, io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for path in _files(folder):
            total += path.stat().st_size
            if total > MAX_ARCHIVE_BYTES:
                raise ClusterError(
                    f"{folder} contains more than {size(MAX_ARCHIVE_BYTES)}, too much to be "
                    "shipped with `code: shipped`; keep data elsewhere, or use a folder that all "
                    "machines share, with `code: shared`"
                )
            entry = tarfile.TarInfo(path.relative_to(folder).as_posix())
            entry.size, entry.mode = path.stat().st_size, path.stat().st_mode & 0o755
            with path.open("rb") as file:
                archive.addfile(entry, file)
    return buffer.getvalue()


def unpack(archive: bytes, place: Path) -> Path:
    """Unpack an archive once into a folder below ``place`` that is named by its hash."""
    folder = place / f"polarbear-{hashlib.sha256(archive).hexdigest()[:16]}"
    if not folder.exists():
        aside = folder.with_name(f"{folder.name}.{os.getpid()}")
        with tarfile.open(fileobj=io.BytesIO(archive)) as files:
            if hasattr(tarfile, "data_filter"):
                files.extractall(aside, filter="data")
            else:  # before Python 3.11.4
                files.extractall(aside)
        aside.mkdir(exist_ok=True)  # if the archive is empty
        aside.rename(folder)
    return folder


def _files(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.iterdir()):
        if path.name.startswith(".") or path.name in EXCLUDED_NAMES:
            continue
        if path.is_dir():
            if not any((path / name).exists() for name in EXCLUDING_FILES):
                yield from _files(path)
        elif path.is_file():
            yield path
