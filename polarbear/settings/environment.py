"""What the environment tells packages as they are loaded, so that a short command stays short.

The threads of OpenBLAS, which NumPy and SciPy start as they are loaded, look out for work for 2^26
ticks of a clock before they sleep: a tenth of the CPU time of a command that has none for them.
Pydantic looks through all packages that are installed for some that would watch its models.
"""

from __future__ import annotations

import os

FOR_COMMANDS = {"OPENBLAS_THREAD_TIMEOUT": "20", "PYDANTIC_DISABLE_PLUGINS": "__all__"}
_set_here: list[str] = []


def set_for_commands() -> None:
    """From now on, but for what the environment says; what loads packages comes after this."""
    for variable, value in FOR_COMMANDS.items():
        if variable not in os.environ:
            os.environ[variable] = value
            _set_here.append(variable)


def not_for_others() -> dict[str, str | None]:
    """What a process that runs others' code must find unset."""
    return dict.fromkeys(_set_here)
