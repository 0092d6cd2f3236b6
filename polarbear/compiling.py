"""How loops are compiled: once, kept on disk, free of the interpreter's lock."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from numba import njit
from numba.core import event

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
