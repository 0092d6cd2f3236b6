"""Stan programs and what was compiled of them: once for each content, kept in the user's cache."""

from __future__ import annotations

import errno
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
_MOST_LINES = 20  # of what a compiler says
_SEAL = "sealed.json"


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
    """Where compiled programs are kept."""
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "polarbear" / "stan"


def key_of(program: Path, cmdstan: CmdStan) -> str:
    """Names a compiled program by all that goes into it: the same key, the same machine code."""
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
    """Whether a model's program would run at once."""
    return _sealed(cache_folder() / key_of(program_file(model), cmdstan)) is not None


def compiled(program: Path, cmdstan: CmdStan) -> Path:
    """The executable of a program, from the cache or compiled now.

    Processes that want the same one wait for the first. An entry is only valid with a seal that
    fits the executable; one without, or with another, is thrown away and made again.
    """
    folder = cache_folder()
    entry = folder / key_of(program, cmdstan)
    found = _sealed(entry)
    if found is not None:
        return found
    require_build_tools()
    with _writable(folder), _turn(folder / f"{entry.name}.lock"):
        found = _sealed(entry)  # somebody else may have made it while we waited
        if found is not None:
            return found
        shutil.rmtree(entry, ignore_errors=True)
        with tempfile.TemporaryDirectory(prefix=".making-", dir=folder) as made:
            executable = _compile(program, Path(made), cmdstan)
            kept = Path(made, "entry")
            kept.mkdir()
            executable.rename(kept / program.stem)
            _seal(kept, program.stem)
            kept.rename(entry)
    found = _sealed(entry)
    if found is None:
        raise StanError(f"the compiled program in {entry} does not keep its content: a bad disk?")
    return found


def _compile(program: Path, folder: Path, cmdstan: CmdStan) -> Path:
    """Compile a copy of the program inside the folder."""
    with silenced():
        import cmdstanpy

        copy = folder / program.name
        shutil.copy(program, copy)
        try:
            made = cmdstanpy.compile_stan_file(
                copy,
                stanc_options={"include-paths": [str(path) for path in _includes(program)]},
                cpp_options={"STAN_THREADS": "TRUE"},
            )
        except (ValueError, RuntimeError) as error:
            raise StanError(_why(program, str(error), cmdstan)) from None
    return Path(made)


def _includes(program: Path) -> list[Path]:
    """Where a program's includes are looked for: beside it, then among PolarBear's own."""
    return list(dict.fromkeys([program.parent, sources()]))


def _why(program: Path, words: str, cmdstan: CmdStan) -> str:
    """What stanc or the C++ compiler said, without the echo of the commands."""
    said = words.split("Console:", 1)[-1].strip().splitlines()
    lines = [line for line in said if not line.startswith(("make", "bin/stanc", "g++", "--- "))]
    start = next((i for i, line in enumerate(lines) if "error" in line.lower()), 0)
    quoted = "\n".join(lines[start : start + _MOST_LINES])
    return (
        f"the Stan program {program} does not compile with CmdStan {cmdstan.version_text} in "
        f"{cmdstan.path}:\n{quoted}"
    )


def _seal(entry: Path, name: str) -> None:
    facts = {"program": name, "sha256": _hash(entry / name)}
    (entry / _SEAL).write_text(json.dumps(facts))


def _sealed(entry: Path) -> Path | None:
    """The executable of a cache entry that is whole, or None."""
    try:
        facts = json.loads((entry / _SEAL).read_text())
        executable = entry / str(facts["program"])
        whole = _hash(executable) == facts["sha256"] and os.access(executable, os.X_OK)
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return executable if whole else None


def _hash(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


@contextmanager
def _turn(lock: Path) -> Iterator[None]:
    """Wait for whoever compiles the same; the system takes the lock back from the dead."""
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
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        what = "is on a full disk" if full else f"cannot be written ({error.strerror})"
        raise StanError(
            f"the cache of compiled Stan programs, {folder}, {what}; make room there, or let the "
            "variable XDG_CACHE_HOME name another folder"
        ) from None
