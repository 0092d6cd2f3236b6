"""How loops are compiled: once, kept on disk, free of the interpreter's lock."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numba
from numba import njit
from numba.core import event

PACKAGE = Path(__file__).parent


def cache_folder() -> Path:
    """Where compiled loops are kept: a folder of its own for each state of their sources.

    Numba looks at the file of a loop alone, not at those of the loops it calls: after an upgrade
    it would mix old machine code with new.
    """
    digest = hashlib.sha256()
    for source in sorted([*PACKAGE.glob("*.py"), *(PACKAGE / "inference").rglob("*.py")]):
        digest.update(source.read_bytes())
    name = digest.hexdigest()[:16]
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    root = Path(os.environ.get("NUMBA_CACHE_DIR") or Path(home) / "polarbear")
    try:
        (root / name).mkdir(parents=True, exist_ok=True)
        return root / name
    except OSError:  # no home to write to: compiled once a machine's uptime
        return Path(tempfile.gettempdir()) / f"polarbear-{os.getuid()}" / name


numba.config.CACHE_DIR = str(cache_folder())  # type: ignore[attr-defined]

# Sums may be reordered into vector instructions; NaN and infinity keep their meaning. Division
# follows IEEE rules, because Python's check for zero would keep every loop from vectorising.
_SETTINGS: dict[str, Any] = {
    "cache": True,
    "nogil": True,
    "error_model": "numpy",
    "fastmath": {"reassoc", "contract", "arcp", "nsz"},
    "no_cfunc_wrapper": True,  # nobody calls them from C, and it takes time to compile
}

kernel = njit(**_SETTINGS)
# for what only other loops call: an entry from Python would take longer to compile than the loop
inner = njit(**_SETTINGS | {"no_cpython_wrapper": True})
inlined = njit(**_SETTINGS, inline="always")


@contextmanager
def on_first_compilation(say: Callable[[], None]) -> Iterator[None]:
    """Call ``say`` once if anything has to be compiled, which may take a while."""
    said = False

    class Listener(event.Listener):
        def on_start(self, event: Any) -> None:
            nonlocal said
            if not said:
                said = True
                say()

        def on_end(self, event: Any) -> None:
            pass

    with event.install_listener("numba:compile", Listener()):
        yield
