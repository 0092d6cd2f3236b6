"""Findings about this machine: required software, extras, CmdStan, workers, plug-ins."""

import platform
import shutil
import tempfile
from dataclasses import dataclass
from importlib import metadata

from polarbear import __version__
from polarbear.api.registries import REGISTRIES
from polarbear.inference.stan.installation import Finding, compile_programs, findings, install
from polarbear.inference.stan.programs import programmed_models
from polarbear.wording import counted, size

__all__ = ["Diagnosis", "Finding", "compile_programs", "diagnose", "findings", "install"]
__all__ += ["programmed_models"]
DISTRIBUTION = "polarbear-racing"  # the name under which this package is installed
MIN_FREE_BYTES = 2**28  # in the temporary folder
SUBMIT_COMMANDS = ("sbatch", "qsub", "bsub", "condor_submit", "oarsub", "msub")


@dataclass(frozen=True)
class Diagnosis:
    """The keys of `polarbear doctor --json`; ``optional`` findings by what needs them."""

    needed: list[Finding]
    optional: dict[str, list[Finding]]


def diagnose(scheduler: str | None = None) -> Diagnosis:
    """Examine this machine, and the workers of a Dask scheduler."""
    machine = f"{platform.system()} on {platform.machine()}"
    python = f"{__version__}, Python {platform.python_version()}, {machine}"
    needed = [Finding("PolarBear", python), _temporary_folder(), _cache()]
    if scheduler is not None:
        needed += _workers(scheduler)
    queues = ", ".join(filter(shutil.which, SUBMIT_COMMANDS)) or "none found on this machine"
    optional = {
        "the suite pbo and the adapter modcma": _extras("bbob", "ioh", "modcma"),
        "the adapters highs, scip, cp-sat and pyvrp": _extras(
            "solvers", "highspy", "pyscipopt", "ortools", "pyvrp"
        ),
        "the method mcmc": _extras("nuts", "nutpie"),
        "choices by features": _extras("features", "scikit-learn"),
        "the stan engine": findings(),
        "many machines": [
            *_extras("cluster", "distributed", "dask-jobqueue"),
            Finding("queueing systems", queues),
        ],
        "what other packages add": _plug_ins(),
    }
    return Diagnosis(needed, optional)


def _temporary_folder() -> Finding:
    try:
        folder = tempfile.gettempdir()
        free = shutil.disk_usage(folder).free
    except OSError as error:
        return Finding("temporary folder", str(error.strerror), "let TMPDIR name a folder")
    remedy = "" if free > MIN_FREE_BYTES else "free some space, or let TMPDIR name another folder"
    return Finding("temporary folder", f"{folder}, {size(free)} free", remedy)


def _cache() -> Finding:
    from polarbear.numerics.compiling import cache_folder
    from polarbear.problems.bbob import rng

    folder = cache_folder(rng.uniform)
    if folder is None:
        remedy = "let XDG_CACHE_HOME name a folder that can be written"
        return Finding("compiled loops", "cannot be kept: every process compiles", remedy)
    return Finding("compiled loops", str(folder))


def _extras(extra: str, *packages: str) -> list[Finding]:
    findings_by_package = []
    for package in packages:
        try:
            findings_by_package.append(Finding(package, metadata.version(package)))
        except metadata.PackageNotFoundError:
            remedy = f"pip install '{_requirement(extra, package)}'"
            findings_by_package.append(Finding(package, "not installed", remedy))
    return findings_by_package


def _requirement(extra: str, package: str) -> str:
    """The requirement of an extra on a package, with its versions, as pip takes it."""
    try:
        requirements = metadata.requires(DISTRIBUTION) or []
    except metadata.PackageNotFoundError:
        requirements = []
    for requirement in requirements:
        text, _, marker = requirement.partition(";")
        if text.strip().startswith(package) and extra in marker:
            return text.strip()
    return package


def _workers(address: str) -> list[Finding]:
    """The workers of a scheduler, each with its machine."""
    from polarbear.execution.cluster import probe_scheduler  # needs the extra 'cluster'

    workers = []
    for worker in probe_scheduler(address):
        machine = f" on {worker.where.host}, {worker.where.cpu}" if worker.where else ""
        capacity = f"{counted(worker.threads, 'run')} at once{machine}"
        remedy = f"fix that worker: {worker.flaw}" if worker.flaw else ""
        workers.append(Finding(worker.worker, capacity, remedy))
    return workers or [Finding(address, "it has no worker", f"start some: dask worker {address}")]


def _plug_ins() -> list[Finding]:
    plug_ins = []
    for registry in REGISTRIES.values():
        for entry in registry.third_party:
            origin = f"{registry.family} of the package '{entry.package}'"
            remedy = f"not loaded: {entry.flaw}" if entry.flaw else ""
            plug_ins.append(Finding(entry.name, origin, remedy))
    return plug_ins or [Finding("plug-ins", "none")]
