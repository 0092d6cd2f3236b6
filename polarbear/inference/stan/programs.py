"""Stan programs and their executables, compiled once per content and cached for the user."""

import fcntl
import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from polarbear.errors import StanError
from polarbear.inference.models import MODELS, without_program
from polarbear.inference.stan.cmdstan import (
    CmdStan,
    compiler,
    first_line,
    require_build_tools,
    silenced,
)

PACKAGE = Path(__file__).parents[2]
_MAX_LINES = 20  # lines of a compiler's output in an error


def sources() -> Path:
    """The folder of the programs: inside an installed package, beside a checkout's."""
    inside = PACKAGE / "stan"
    return inside if inside.is_dir() else PACKAGE.parent / "stan"


def program_file(model: str) -> Path:
    """The program of a model."""
    program = MODELS[model].stan_program
    if program is None:
        raise StanError(without_program(model))
    return sources() / program


def programmed_models() -> list[str]:
    """The models that have a program."""
    return [name for name, model in MODELS.items() if model.stan_program is not None]


def cache_folder() -> Path:
    """The cache of compiled programs."""
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "polarbear" / "stan"


def key_of(program: Path, cmdstan: CmdStan) -> str:
    """The cache key of a compiled program: a hash of everything that it is compiled from."""
    digest = hashlib.sha256()
    included = [file for folder in _includes(program) for file in (folder / "functions").glob("*")]
    for file in (program, *sorted(included)):
        digest.update(file.name.encode() + b"\0" + file.read_bytes())
    for name in ("makefile", "make/local"):
        settings = cmdstan.path / name
        digest.update(settings.read_bytes() if settings.exists() else b"")
    facts = [
        str(cmdstan.path.resolve()),
        cmdstan.version_text,
        first_line([str(cmdstan.stanc), "--version"]),
        first_line([*compiler(), "--version"]),
    ]
    digest.update(json.dumps(facts).encode())
    return f"{program.stem}-{digest.hexdigest()[:20]}"


def is_compiled(model: str, cmdstan: CmdStan) -> bool:
    """Whether a model's program is compiled already."""
    return os.access(_executable(program_file(model), cmdstan), os.X_OK)


def _executable(program: Path, cmdstan: CmdStan) -> Path:
    return cache_folder() / key_of(program, cmdstan) / program.stem


def compiled(program: Path, cmdstan: CmdStan) -> Path:
    """The executable of a program, from the cache or compiled now.

    Processes that need the same one wait for the first.
    """
    executable = _executable(program, cmdstan)
    folder = cache_folder()
    if os.access(executable, os.X_OK):
        return executable
    require_build_tools()
    with _writable(folder), _turn(folder / f"{executable.parent.name}.lock"):
        if not os.access(executable, os.X_OK):  # another process may have compiled it
            with tempfile.TemporaryDirectory(prefix=".making-", dir=folder) as temporary:
                new_executable = _compile(program, Path(temporary), cmdstan)
                executable.parent.mkdir(exist_ok=True)
                new_executable.replace(executable)
    return executable


def _compile(program: Path, folder: Path, cmdstan: CmdStan) -> Path:
    """Compile a copy of the program inside the folder."""
    with silenced():
        import cmdstanpy

        copy = folder / program.name
        shutil.copy(program, copy)
        try:
            new_executable = cmdstanpy.compile_stan_file(
                copy,
                stanc_options={"include-paths": [str(path) for path in _includes(program)]},
                cpp_options={"STAN_THREADS": "TRUE"},
            )
        except (ValueError, RuntimeError) as error:
            raise StanError(_why(program, str(error), cmdstan)) from None
    return Path(new_executable)


def _includes(program: Path) -> list[Path]:
    """The folders of a program's includes: next to it, then PolarBear's."""
    return list(dict.fromkeys([program.parent, sources()]))


def _why(program: Path, words: str, cmdstan: CmdStan) -> str:
    """The output of stanc or the C++ compiler, without the echo of commands."""
    output = words.split("Console:", 1)[-1].strip().splitlines()
    lines = [line for line in output if not line.startswith(("make", "bin/stanc", "g++", "--- "))]
    start = next((i for i, line in enumerate(lines) if "error" in line.lower()), 0)
    quoted = "\n".join(lines[start : start + _MAX_LINES])
    return (
        f"the Stan program {program} does not compile with CmdStan {cmdstan.version_text} in "
        f"{cmdstan.path}:\n{quoted}"
    )


@contextmanager
def _turn(lock: Path) -> Iterator[None]:
    """Wait for a process that compiles the same program; the lock ends with its process."""
    handle = os.open(lock, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


@contextmanager
def _writable(folder: Path) -> Iterator[None]:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        yield
    except OSError as error:
        raise StanError(
            f"the cache of compiled Stan programs, {folder}, cannot be written ({error.strerror}); "
            "free space there, or set XDG_CACHE_HOME to another folder"
        ) from None
