"""Settings of numba: compiled loops are cached on disk and release the interpreter's lock."""

import hashlib
import os
import platform
from pathlib import Path
from typing import Any

import numba
from numba import njit
from numba.core import event

from polarbear.numerics.announcing import announce

PACKAGE = Path(__file__).parents[1]


def cache_folder() -> Path | None:
    """The cache of compiled loops, one folder for each state of the sources.

    None if no folder can be written: each process then compiles again. Numba checks the file of a
    loop, but not those of the loops it calls: after an upgrade it would mix old code with new.
    """
    digest = hashlib.sha256()
    for source in sorted(PACKAGE.rglob("*.py")):
        digest.update(source.read_bytes())
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    root = Path(os.environ.get("NUMBA_CACHE_DIR") or Path(home) / "polarbear")
    there = next(path for path in (root, *root.absolute().parents) if path.exists())
    writable = there.is_dir() and os.access(there, os.W_OK)
    return root / digest.hexdigest()[:16] if writable else None


_CACHE = cache_folder()
numba.config.CACHE_DIR = str(_CACHE or "")  # type: ignore[attr-defined]

# Division follows IEEE rules, because Python's check for zero would prevent vectorisation.
_SETTINGS: dict[str, Any] = {
    "cache": _CACHE is not None,
    "nogil": True,
    "error_model": "numpy",
    "no_cfunc_wrapper": True,  # not called from C, and it takes time to compile
}

# For loops whose last digits are compared with a C++ program's: nothing is reordered, and products
# go into a sum unrounded where C++ compilers do so by default.
_CONTRACTED: Any = {"contract"} if platform.machine().lower() in {"aarch64", "arm64"} else False
fused = njit(**_SETTINGS | {"fastmath": _CONTRACTED})
rounded = njit(**_SETTINGS)  # a product is rounded before it is added to something
copied = njit(inline="always")  # into the loop that calls it, and compiled with it only
fused_inner = njit(**_SETTINGS | {"fastmath": _CONTRACTED, "no_cpython_wrapper": True})


class _Announcer(event.Listener):
    """Announces that something is being compiled."""

    def on_start(self, event: Any) -> None:
        announce()

    def on_end(self, event: Any) -> None:
        pass


event.register("numba:compile", _Announcer())  # type: ignore[no-untyped-call]
