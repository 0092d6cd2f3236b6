"""`polarbear doctor`: whether this machine has what PolarBear needs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from polarbear.cli import common
from polarbear.cli.stan import show
from polarbear.wording import size

if TYPE_CHECKING:
    from polarbear.inference.stan.status import Finding


def doctor(
    scheduler: common.SchedulerOption = None,
    json: common.Json = False,
    debug: common.Debug = False,
) -> None:
    """Look for what may be missing, and say what to do.

    What only an option needs (the stan engine, a suite of ioh, a method, many machines) is named as
    such. With --scheduler, its workers are asked, too. Exit code 1 if something fails that every
    race needs, or that the scheduler's workers lack.
    """
    from dataclasses import asdict

    from polarbear.inference.stan.status import findings

    needed = [_python(), _temporary_folder(), _cache()]
    optional = {
        "the suite pbo and the adapter modcma": _extras("bbob", "ioh", "modcma"),
        "the method mcmc": _extras("nuts", "nutpie"),
        "the stan engine": findings(),
        "many machines": [*_extras("cluster", "distributed", "dask-jobqueue"), _queues()],
        "what other packages add": _plug_ins(),
    }
    if scheduler is not None:
        needed += _workers(scheduler)
    if json:
        common.print_json(
            {
                "needed": [asdict(finding) for finding in needed],
                "optional": {name: [asdict(f) for f in found] for name, found in optional.items()},
            }
        )
    else:
        show(needed)
        for name, found in optional.items():
            typer.echo(f"\nfor {name}")
            show(found)
    if any(finding.remedy for finding in needed):
        raise typer.Exit(1)


def _python() -> Finding:
    import platform

    from polarbear import __version__
    from polarbear.inference.stan.status import Finding

    where = f"{platform.system()} on {platform.machine()}"
    return Finding("PolarBear", f"{__version__}, Python {platform.python_version()}, {where}")


def _temporary_folder() -> Finding:
    import shutil
    import tempfile

    from polarbear.inference.stan.status import Finding

    try:
        folder = tempfile.gettempdir()
        free = shutil.disk_usage(folder).free
    except OSError as error:
        return Finding("temporary folder", str(error.strerror), "let TMPDIR name a folder")
    remedy = "" if free > 2**28 else "make room, or let TMPDIR name another folder"
    return Finding("temporary folder", f"{folder}, {size(free)} free", remedy)


def _cache() -> Finding:
    from polarbear.inference.stan.status import Finding
    from polarbear.numerics.compiling import cache_folder

    folder = cache_folder()
    if folder is None:
        return Finding(
            "compiled loops",
            "cannot be kept: every process compiles for itself",
            "let XDG_CACHE_HOME name a folder that can be written",
        )
    return Finding("compiled loops", str(folder.parent))


def _extras(extra: str, *packages: str) -> list[Finding]:
    from importlib import metadata

    from polarbear.inference.stan.status import Finding

    found = []
    for package in packages:
        try:
            found.append(Finding(package, metadata.version(package)))
        except metadata.PackageNotFoundError:
            remedy = f"pip install '.[{extra}]' in PolarBear's folder"
            found.append(Finding(package, "not installed", remedy))
    return found


def _queues() -> Finding:
    """Queueing systems whose commands are found; where there are none, none is needed."""
    import shutil

    from polarbear.inference.stan.status import Finding

    submits = {"sbatch": "Slurm", "qsub": "PBS or SGE", "bsub": "LSF", "condor_submit": "HTCondor"}
    submits |= {"oarsub": "OAR", "msub": "Moab"}
    found = [f"{name} ({command})" for command, name in submits.items() if shutil.which(command)]
    return Finding("queueing systems", ", ".join(found) or "none found on this machine")


def _workers(address: str) -> list[Finding]:
    """The workers of a scheduler, each with its machine."""
    from polarbear.execution.cluster_probe import probe_scheduler
    from polarbear.inference.stan.status import Finding
    from polarbear.wording import counted

    present = probe_scheduler(address)
    found = [
        Finding(
            one.worker,
            f"{counted(one.threads, 'run')} at once"
            + (f" on {one.where.host}, {one.where.cpu}" if one.where else ""),
            f"mend that worker: {one.flaw}" if one.flaw else "",
        )
        for one in present
    ]
    if found:
        return found
    return [Finding(address, "it has no worker", f"start some: dask worker {address}")]


def _plug_ins() -> list[Finding]:
    from polarbear.cli.naming import REGISTRIES, registry
    from polarbear.inference.stan.status import Finding

    found = []
    for known in map(registry, REGISTRIES):
        for entry in known.third_party:
            where = f"{known.what} of the package '{entry.package}'"
            remedy = f"it is left out: {entry.flaw}" if entry.flaw else ""
            found.append(Finding(entry.name, where, remedy))
    return found or [Finding("plug-ins", "none")]
