"""The file ``progress`` of a store: how a race that is under way goes, for whoever asks.

It is there while a race runs, and written about once a second. It is not synced and not vouched
for: a race that was killed leaves it behind, which the lock that nobody holds gives away.
"""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from polarbear.store import files
from polarbear.store.lock import holder_facts

PROGRESS = "progress"
LAYOUT = 1  # of what it says


class Told(NamedTuple):
    """What the file says, and whether whoever wrote it is still at it."""

    alive: bool
    facts: Mapping[str, Any]


def tell(store: Path, facts: Mapping[str, Any]) -> None:
    """Write how things go; what cannot be written is not worth ending a race for."""
    aside = store / f"{files.ASIDE}{PROGRESS}"
    with suppress(OSError):
        aside.write_text(json.dumps({**_myself(), **facts}))
        aside.replace(store / PROGRESS)


def told(store: Path) -> Told | None:
    """What the last race to write there said; None where none is under way and none was killed."""
    try:
        facts = json.loads((store / PROGRESS).read_text())
    except (OSError, ValueError):
        return None
    if not isinstance(facts, dict) or not _is_ours(facts):
        return None
    now = holder_facts(store / "lock")
    alive = now is not None and (now.get("pid"), now.get("host")) == (facts["pid"], facts["host"])
    return Told(alive, facts)


def _is_ours(facts: Mapping[str, Any]) -> bool:
    """Whether this version of PolarBear can have written it; a store may come from anybody."""
    if facts.get("layout") != LAYOUT or not isinstance(facts.get("written"), float):
        return False
    host = facts.get("host")
    numbers = all(isinstance(facts.get(key), int) for key in ("pid", "round"))
    return numbers and isinstance(host, str) and host.isprintable()


def clear(store: Path) -> None:
    """Take the file away; by whoever holds the lock."""
    with suppress(OSError):
        (store / PROGRESS).unlink(missing_ok=True)


def _myself() -> dict[str, Any]:
    return {"layout": LAYOUT, "pid": os.getpid(), "host": socket.gethostname()}
