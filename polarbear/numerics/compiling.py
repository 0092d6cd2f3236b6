"""Compiles loops by Numba, which keeps the machine code on disk where it can.

Numba keeps it beside the source, or else in its folder of the user, or in that of the variable
NUMBA_CACHE_DIR. Where it can write none of them, every process compiles the loops that it uses.

Numba uses kept code as long as the file of a loop has not changed. It does not look at the files of
the loops, constants and settings that the loop uses. So a loop uses only what its own file defines
(a test walks through all loops to check that), and its settings are written in that file, too.
An upgrade by pip and an edit in a checkout then compile again the loops of every file that has
changed, and only those. `CONTRACTED` is the exception: after a change of it, delete the kept code
(the files `*.nbi` and `*.nbc`).
"""

import platform
from collections.abc import Callable
from pathlib import Path
from typing import Any

from numba import njit

from polarbear.numerics.announcing import announce_compilation_by_numba

# For `fastmath`, in loops whose last digits are compared with a C++ program's: nothing is
# reordered, and products go into a sum unrounded where C++ compilers do so by default.
CONTRACTED: Any = {"contract"} if platform.machine().lower() in {"aarch64", "arm64"} else False

Loop = Callable[..., Any]


def compiled(**settings: Any) -> Callable[[Loop], Loop]:
    """A decorator: a function is compiled with these settings of `numba.njit` when it is called."""

    def compile_when_called(function: Loop) -> Loop:
        announce_compilation_by_numba()
        try:
            loop: Loop = njit(cache=True, **settings)(function)
        except RuntimeError:  # Numba can write no folder
            loop = njit(**settings)(function)
        return loop

    return compile_when_called


def cache_folder(loop: Any) -> Path | None:
    """The folder with the machine code of a compiled loop; None if every process compiles it."""
    folder = loop.stats.cache_path
    return None if folder is None else Path(folder)
