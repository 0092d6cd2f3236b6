"""The CmdStan installation that CmdStanPy finds, wherever it came from."""

import logging
import os
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from polarbear.errors import StanError

INSTALL = "polarbear stan install"
OLDEST = (2, 30)  # the programs need its language and sparse products
FIRST_WITH = {"pathfinder": (2, 33), "laplace": (2, 32)}


@dataclass(frozen=True)
class CmdStan:
    """An installation that CmdStanPy has found."""

    path: Path
    version: tuple[int, int]

    @property
    def stanc(self) -> Path:
        return self.path / "bin" / "stanc"

    @property
    def version_text(self) -> str:
        return f"{self.version[0]}.{self.version[1]}"


def find() -> CmdStan:
    """The installation in use, or a StanError that says what is missing."""
    variable = os.environ.get("CMDSTAN")
    with silenced():
        import cmdstanpy
        from cmdstanpy.utils import cmdstan_version

        try:
            path = Path(cmdstanpy.cmdstan_path())
        except ValueError:
            tried = os.environ.get("CMDSTAN")
            if not variable:
                os.environ.pop("CMDSTAN", None)  # CmdStanPy sets it to what it tries
            raise StanError(_not_found(variable, tried)) from None
        version = cmdstan_version()
    if version is None:
        raise StanError(f"{path / 'makefile'} does not contain CmdStan's version: {_REPAIR}")
    installed = CmdStan(path, (version[0], version[1]))
    if not installed.stanc.exists():
        raise StanError(f"the CmdStan in {path} has no bin/stanc: {_REPAIR}")
    return installed


_REPAIR = f"repair or remove that folder, then run: {INSTALL}"


def _not_found(variable: str | None, tried: str | None) -> str:
    """The error where no installation was found, by the variable CMDSTAN and the folder tried."""
    if variable:
        return (
            f"the environment variable CMDSTAN is {variable}, but there is no CmdStan; unset it, "
            "or set it to the folder of one"
        )
    if tried:
        return f"the CmdStan in {tried} is incomplete; {_REPAIR}"
    return f"the stan engine needs CmdStan, which was not found; run: {INSTALL}"


def find_for(method: str) -> CmdStan:
    """The installation in use, if it is new enough for the method."""
    installed = find()
    needed = max(OLDEST, FIRST_WITH.get(method, OLDEST))
    if installed.version < needed:
        raise StanError(
            f"method '{method}' needs CmdStan {needed[0]}.{needed[1]} or later, but "
            f"{installed.path} is {installed.version_text}; use another method, or remove that "
            f"folder and run: {INSTALL}"
        )
    return installed


def compiler() -> list[str]:
    """The C++ compiler that make will call."""
    return shlex.split(os.environ.get("CXX") or "g++")


def make() -> str:
    return os.environ.get("MAKE") or "make"


def require_build_tools() -> None:
    """A StanError unless there are a C++ compiler and make."""
    for command, tool, package, variable in (
        (compiler()[0], "a C++ compiler", "g++ make", "CXX"),
        (make(), "make", "make", "MAKE"),
    ):
        if shutil.which(command) is None:
            raise StanError(
                f"Stan programs need {tool}, but '{command}' was not found; install it (Debian, "
                f"Ubuntu: apt install {package}), or set {variable} to yours"
            )


def first_line(command: list[str]) -> str:
    """The first line of a tool's output; empty if there is none."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return next(iter(done.stdout.splitlines()), "")


@contextmanager
def silenced() -> Iterator[None]:
    """Suppress CmdStanPy's log: errors quote the relevant lines."""
    logger = logging.getLogger("cmdstanpy")
    was_disabled = logger.disabled
    logger.disabled = True
    try:
        yield
    finally:
        logger.disabled = was_disabled
