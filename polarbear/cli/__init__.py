"""The command line: one thin file per command, on top of `api`.

Uses `api`, `errors`, `plain` and `wording`; the only room that prints and exits.
"""

from __future__ import annotations

import importlib
import sys
import warnings
from typing import Any

import typer

from polarbear.cli import common, streams
from polarbear.cli.help_texts import Command
from polarbear.errors import PlugInWarning, PolarBearError

# In the order of --help. Each is a function in the module of that name; `import` is in `import_`.
COMMANDS = (
    *("race", "run", "infer", "select", "report", "compare", "check", "status", "show", "watch"),
    *("verify", "repair", "init", "schema", "import", "merge", "rename", "forget", "export"),
    "doctor",
)
GROUPS = ("stan",)  # of commands; each is an app in the module of that name


def _version(wanted: bool) -> None:
    if wanted:
        from polarbear.cli.version import version_and_commit

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
    for name in GROUPS:
        made.add_typer(importlib.import_module(f"polarbear.cli.{name}").app, name=name)
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
    function = f"{name}_" if name == "import" else name
    module = importlib.import_module(f"polarbear.cli.{function}")
    made.command(name, cls=Command)(getattr(module, function))


_show_as_usual = warnings.showwarning


def _show_warning(message: Any, category: type[Warning], *where: Any, **more: Any) -> None:
    """Print warnings about plug-ins as notes."""
    if issubclass(category, PlugInWarning):
        common.note(f"warning: {message}")
    else:
        _show_as_usual(message, category, *where, **more)


def main() -> None:
    """Run a command; an error that users can fix is a line or two, with exit code 1."""
    warnings.showwarning = _show_warning
    streams.prepare()
    try:
        try:
            called = sys.argv[1] if len(sys.argv) > 1 else None
            if called in COMMANDS:
                alone(called)(args=sys.argv[2:], prog_name=f"polarbear {called}")
            else:
                app()()
        finally:
            streams.flush()
    except PolarBearError as error:
        if "--debug" in sys.argv:
            raise
        common.note(f"polarbear: {error}")
        sys.exit(1)
    except BrokenPipeError:  # the reader of the output has ended, for example `head`
        streams.give_up_output()
        sys.exit(1)
    except OSError as error:  # for example a full disk
        streams.give_up_output()
        if "--debug" in sys.argv:
            raise
        where = f"{error.filename}: " if error.filename else ""
        common.note(f"polarbear: {where}{error.strerror or error}; --debug shows where it arose")
        sys.exit(1)
