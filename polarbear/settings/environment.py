"""How long OpenBLAS's threads, which NumPy and SciPy start as they are loaded, look out for work.

By themselves they do so for 2^26 ticks of a clock before they sleep, which is a tenth of the CPU
time of a short command that has no work for them.
"""

from __future__ import annotations

import os

VARIABLE = "OPENBLAS_THREAD_TIMEOUT"
POWER = "20"
_set_here: list[str] = []


def sleep_sooner() -> None:
    """From now on, unless the environment says how long; what loads NumPy comes after this."""
    if VARIABLE not in os.environ:
        os.environ[VARIABLE] = POWER
        _set_here.append(VARIABLE)


def not_for_others() -> dict[str, str | None]:
    """What a process that runs others' code must find unset."""
    return dict.fromkeys(_set_here)
