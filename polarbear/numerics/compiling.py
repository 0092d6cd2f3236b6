"""How loops are compiled: once, kept on disk, free of the interpreter's lock."""

from __future__ import annotations

import hashlib
import os
import platform
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
from numba import njit
from numba.core import event
from numba.extending import overload

from polarbear.numerics.announcing import announce

PACKAGE = Path(__file__).parents[1]


def cache_folder() -> Path | None:
    """Where compiled loops are kept: a folder of its own for each state of their sources.

    None where there is no place to keep them: each process then compiles for itself.

    Numba looks at the file of a loop alone, not at those of the loops it calls: after an upgrade
    it would mix old machine code with new.
    """
    digest = hashlib.sha256()
    for source in sorted(PACKAGE.rglob("*.py")):
        digest.update(source.read_bytes())
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    root = Path(os.environ.get("NUMBA_CACHE_DIR") or Path(home) / "polarbear")
    return root / digest.hexdigest()[:16] if _can_be_made(root) else None


def _can_be_made(folder: Path) -> bool:
    there = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    return there.is_dir() and os.access(there, os.W_OK)


_KEPT_IN = cache_folder()
numba.config.CACHE_DIR = str(_KEPT_IN or "")  # type: ignore[attr-defined]

# Sums may be reordered into vector instructions; NaN and infinity keep their meaning. Division
# follows IEEE rules, because Python's check for zero would keep every loop from vectorising.
_SETTINGS: dict[str, Any] = {
    "cache": _KEPT_IN is not None,
    "nogil": True,
    "error_model": "numpy",
    "fastmath": {"reassoc", "contract", "arcp", "nsz"},
    "no_cfunc_wrapper": True,  # nobody calls them from C, and it takes time to compile
}

kernel = njit(**_SETTINGS)
# for what only other loops call: an entry from Python would take longer to compile than the loop
inner = njit(**_SETTINGS | {"no_cpython_wrapper": True})
inlined = njit(**_SETTINGS, inline="always")
# for what is called so often that counting references to its arrays would take much of its time,
# all the more where threads share them; it can make none of its own
_BORROWING: Any = _SETTINGS | {"no_cpython_wrapper": True, "_nrt": False}
borrowing = njit(**_BORROWING)

# For loops whose last digits are compared with a C++ program's: nothing is reordered.
as_written = njit(**_SETTINGS | {"fastmath": False, "nogil": False})
# The same, with products that go into a sum unrounded where C++ compilers do so by default.
_CONTRACTED: Any = {"contract"} if platform.machine().lower() in {"aarch64", "arm64"} else False
fused = njit(**_SETTINGS | {"fastmath": _CONTRACTED})
fused_inner = njit(**_SETTINGS | {"fastmath": _CONTRACTED, "no_cpython_wrapper": True})


def loop_for(function: Callable[..., Any], kind: type) -> Callable[[Callable[..., Any]], None]:
    """In compiled code, let a loop be the ``function`` where its first argument is a ``kind``.

    A function handed over as an argument would do as well, but what takes it is compiled anew in
    every process: such an argument has no name under which the cache could know it again.
    """

    def register(loop: Callable[..., Any]) -> None:
        @overload(function, jit_options=_BORROWING, strict=False)
        def choose(first: Any, *rest: Any) -> Callable[..., Any] | None:
            return loop if getattr(first, "instance_class", None) is kind else None

    return register


class _Announcer(event.Listener):
    """Tells whoever has asked to know that something is being compiled."""

    def on_start(self, event: Any) -> None:
        announce()

    def on_end(self, event: Any) -> None:
        pass


event.register("numba:compile", _Announcer())  # type: ignore[no-untyped-call]
