"""Flipped bits in a store's files: each is refused, or reads as the data that was written."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path
from typing import Any

from polarbear.errors import StoreDamagedError
from polarbear.store.catalog import Catalog

REFUSED, SAME, DIFFERENT = "refused", "the same data", "DIFFERENT DATA"
NOT_DATA = ("lock",)


def flipped_bits(store: Path, count: int, seed: int) -> Counter[tuple[str, str]]:
    """Flip bits one by one; count the results by kind of file.

    Every kind of file gets the same share, any bit of a file is as likely as any other.
    """
    rng = random.Random(seed)
    kinds: dict[str, list[Path]] = {}
    for path in sorted(store.rglob("*")):
        if path.is_file() and path.name not in NOT_DATA:
            kinds.setdefault(kind_of(path, store), []).append(path)
    results: Counter[tuple[str, str]] = Counter()
    for number in range(count):
        kind = sorted(kinds)[number % len(kinds)]
        path = rng.choice(kinds[kind])
        results[kind, after_flip(store, path, rng)] += 1
    return results


def kind_of(path: Path, store: Path) -> str:
    """Parts of a table, or files of one name but for their numbers."""
    first = path.stem.split("-")[0] if path.parent.name in ("rounds", "rankings") else ""
    return str(path.relative_to(store).parent / first) if path.parent != store else path.name


def after_flip(store: Path, path: Path, rng: random.Random) -> str:
    """Flip one bit of a file, read it, and put it back as it was."""
    whole = path.read_bytes()
    wanted = read(store, path)
    damaged = bytearray(whole)
    damaged[rng.randrange(len(whole))] ^= 1 << rng.randrange(8)
    path.write_bytes(damaged)
    try:
        return SAME if read(store, path) == wanted else DIFFERENT
    except StoreDamagedError:
        return REFUSED
    finally:
        path.write_bytes(whole)


def read(store: Path, path: Path) -> Any:
    """What a command would read from this file."""
    catalog = Catalog(store)
    return catalog.manifest if path.parent == store else catalog.read(str(path.relative_to(store)))
