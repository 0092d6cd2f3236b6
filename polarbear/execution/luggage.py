"""The configuration's folder as it travels to other machines: packed, hashed, unpacked there."""

from __future__ import annotations

import hashlib
import io
import os
import tarfile
from collections.abc import Iterator
from pathlib import Path

from polarbear.errors import ClusterError
from polarbear.wording import size

LARGEST = 64 * 2**20  # bytes: more than code is, and more than a scheduler should hold
STAY = {"__pycache__", "node_modules"}
# A folder with one of these is a store or an environment of Python's, and stays where it is.
STAYING = ("polarbear.json", "pyvenv.cfg")


def packed(folder: Path) -> bytes:
    """All files below a folder but hidden ones, caches, stores and environments, as one archive.

    The same files give the same bytes, whenever they were written and by whom.
    """
    total, buffer = 0, io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for path in _files(folder):
            total += path.stat().st_size
            if total > LARGEST:
                raise ClusterError(
                    f"{folder} holds more than {size(LARGEST)}, too much to be shipped with "
                    "`code: shipped`; keep data elsewhere, or use a folder that all machines "
                    "share, with `code: shared`"
                )
            entry = tarfile.TarInfo(path.relative_to(folder).as_posix())
            entry.size, entry.mode = path.stat().st_size, path.stat().st_mode & 0o755
            with path.open("rb") as file:
                archive.addfile(entry, file)
    return buffer.getvalue()


def unpacked(archive: bytes, place: Path) -> Path:
    """The folder of an archive below ``place``, named by its hash and made once."""
    folder = place / f"polarbear-{hashlib.sha256(archive).hexdigest()[:16]}"
    if not folder.exists():
        aside = folder.with_name(f"{folder.name}.{os.getpid()}")
        with tarfile.open(fileobj=io.BytesIO(archive)) as files:
            if hasattr(tarfile, "data_filter"):
                files.extractall(aside, filter="data")
            else:  # before Python 3.11.4
                files.extractall(aside)
        aside.mkdir(exist_ok=True)  # where there was nothing to pack
        aside.rename(folder)
    return folder


def _files(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.iterdir()):
        if path.name.startswith(".") or path.name in STAY:
            continue
        if path.is_dir():
            if not any((path / name).exists() for name in STAYING):
                yield from _files(path)
        elif path.is_file():
            yield path
