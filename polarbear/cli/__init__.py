"""The command line: thin commands on top of `api`.

Uses `api`, `errors`, `plain` and `wording`; the only room that prints and exits.
"""

from __future__ import annotations

import importlib
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import typer

from polarbear import __version__
from polarbear.cli import output
from polarbear.cli.command_options import Command, with_quiet_and_debug
from polarbear.errors import PlugInWarning, PolarBearError

PACKAGE = Path(__file__).parents[1]
COMMIT_FILE = "commit.txt"  # written into the package by a build
# The modules of the commands, in the order of --help.
COMMANDS = {
    "race": "race",
    "run": "race",
    "infer": "infer",
    "select": "select",
    "report": "report",
    "compare": "compare",
    "gate": "gate",
    "check": "race",
    "status": "contents",
    "show": "contents",
    "watch": "contents",
    "verify": "maintenance",
    "repair": "maintenance",
    "init": "setup",
    "schema": "setup",
    "import": "exchange",
    "merge": "maintenance",
    "rename": "maintenance",
    "forget": "maintenance",
    "export": "exchange",
    "doctor": "setup",
}


def version_and_commit() -> str:
    """The version, and the commit where it is known."""
    commit = _built_from() or _checked_out()
    return f"polarbear {__version__} (commit {commit})" if commit else f"polarbear {__version__}"


def _built_from() -> str:
    try:
        return (PACKAGE / COMMIT_FILE).read_text(encoding="utf-8").strip()
    except OSError:
        return ""


def _checked_out() -> str:
    """The commit of a checkout; with ``-dirty`` if files differ from it."""
    if not (PACKAGE.parent / ".git").exists():  # installed inside another repository
        return ""
    command = ["git", "-C", str(PACKAGE.parent), "describe", "--always", "--dirty", "--exclude=*"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return ""
    return done.stdout.strip()


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(version_and_commit())
        raise typer.Exit


def _options(
    version: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Print version and commit."
    ),
) -> None:
    pass


def app() -> typer.Typer:
    """The whole command line."""
    made = _typer_app(
        name="polarbear",
        help="Which anytime algorithm to run when you do not yet know for how long it may run.",
        no_args_is_help=True,
        callback=_options,
    )
    for name in COMMANDS:
        _add(made, name)
    made.add_typer(importlib.import_module("polarbear.cli.setup").stan, name="stan")
    return made


def alone(name: str) -> typer.Typer:
    """One command; the modules of the others are not imported."""
    made = _typer_app(add_completion=False)
    _add(made, name)
    return made


def _typer_app(**more: Any) -> typer.Typer:
    return typer.Typer(
        rich_markup_mode=None,  # Rich would double the time of --help
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
        **more,
    )


def _add(made: typer.Typer, name: str) -> None:
    module = importlib.import_module(f"polarbear.cli.{COMMANDS[name]}")
    function = getattr(module, f"{name}_" if name == "import" else name)
    made.command(name, cls=Command)(with_quiet_and_debug(function))


_show_as_usual = warnings.showwarning


def _show_warning(message: Any, category: type[Warning], *where: Any, **more: Any) -> None:
    """Print warnings about plug-ins as notes."""
    if issubclass(category, PlugInWarning):
        output.error(f"warning: {message}")
    else:
        _show_as_usual(message, category, *where, **more)


def main() -> None:
    """Run a command; an error that users can fix is a line or two, with exit code 1."""
    warnings.showwarning = _show_warning
    output.prepare_streams()
    try:
        try:
            called = sys.argv[1] if len(sys.argv) > 1 else None
            if called in COMMANDS:
                alone(called)(args=sys.argv[2:], prog_name=f"polarbear {called}")
            else:
                app()()
        finally:
            sys.stdout.flush()  # so that an error is raised now and not at exit
    except PolarBearError as error:
        if "--debug" in sys.argv:
            raise
        output.error(f"polarbear: {error}")
        sys.exit(1)
    except BrokenPipeError:  # the reader of the output has ended, for example `head`
        output.discard_buffered_output()
        sys.exit(1)
    except OSError as error:  # for example a full disk
        output.discard_buffered_output()
        if "--debug" in sys.argv:
            raise
        where = f"{error.filename}: " if error.filename else ""
        output.error(f"polarbear: {where}{error.strerror or error}; --debug shows where it arose")
        sys.exit(1)
