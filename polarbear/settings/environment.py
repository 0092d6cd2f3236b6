"""What the environment tells packages as they are loaded, so that a short command stays short.

The threads of OpenBLAS, which NumPy and SciPy start as they are loaded, look out for work for 2^26
ticks of a clock before they sleep: a tenth of the CPU time of a command that has none for them.
Pydantic looks through all packages that are installed for some that would watch its models; told
not to, it still loads what it would look with, a thirtieth of a short command.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from types import ModuleType
from typing import Any

NO_PLUG_INS = "PYDANTIC_DISABLE_PLUGINS"
FOR_COMMANDS = {"OPENBLAS_THREAD_TIMEOUT": "20", NO_PLUG_INS: "__all__"}
_set_here: list[str] = []


def set_for_commands() -> None:
    """From now on, but for what the environment says; what loads packages comes after this."""
    for variable, value in FOR_COMMANDS.items():
        if variable not in os.environ:
            os.environ[variable] = value
            _set_here.append(variable)
    if NO_PLUG_INS in _set_here:
        sys.modules.setdefault(PLUG_INS, NoPlugIns(PLUG_INS))


def not_for_others() -> dict[str, str | None]:
    """What a process that runs others' code must find unset."""
    return dict.fromkeys(_set_here)


PLUG_INS = "pydantic.plugin._loader"


class NoPlugIns(ModuleType):
    """Answers in the place of the module that looks for them, as it would: there are none."""

    @staticmethod
    def get_plugins() -> tuple[()]:
        return ()

    def __getattr__(self, name: str) -> Any:
        """Whatever else some version of Pydantic has there is asked of the module itself."""
        if name.startswith("__"):
            raise AttributeError(name)
        sys.modules.pop(PLUG_INS, None)
        return getattr(import_module(PLUG_INS), name)
