"""The file ``progress`` of a store: the state of a race that is under way, for other processes.

It exists while a race runs, and is written about once a second. It is neither synced nor listed: a
race that was killed leaves it behind, which the free lock reveals.
"""

from __future__ import annotations

import json
import os
import socket
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from polarbear.store import file_io
from polarbear.store.lock import holder_facts

PROGRESS = "progress"
LAYOUT = 1  # version of the content


class LastProgress(NamedTuple):
    """The content of the file, and whether its writer is still running."""

    alive: bool
    facts: file_io.JsonObject


def write(store: Path, facts: file_io.JsonObject) -> None:
    """Write the progress; errors are ignored, since a race must not end because of them."""
    aside = store / f"{file_io.ASIDE}{PROGRESS}"
    me = {"layout": LAYOUT, "pid": os.getpid(), "host": socket.gethostname()}
    with suppress(OSError):
        aside.write_text(json.dumps({**me, **facts}))
        aside.replace(store / PROGRESS)


def read(store: Path) -> LastProgress | None:
    """The progress of the last race; None if none is under way and none was killed."""
    try:
        facts = json.loads((store / PROGRESS).read_text())
    except (OSError, ValueError):
        return None
    if not isinstance(facts, dict) or not _is_valid(facts):
        return None
    now = holder_facts(store / "lock")
    alive = now is not None and (now.get("pid"), now.get("host")) == (facts["pid"], facts["host"])
    return LastProgress(alive, facts)


def _is_valid(facts: file_io.JsonObject) -> bool:
    """Whether this version of PolarBear can have written it; a store may come from anywhere."""
    if facts.get("layout") != LAYOUT or not isinstance(facts.get("written"), float):
        return False
    host = facts.get("host")
    numbers = all(isinstance(facts.get(key), int) for key in ("pid", "round"))
    return numbers and isinstance(host, str) and host.isprintable()


def clear(store: Path) -> None:
    """Remove the file; only the holder of the lock does that."""
    with suppress(OSError):
        (store / PROGRESS).unlink(missing_ok=True)
