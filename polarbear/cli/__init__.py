"""The command line: the only place that prints and exits. One thin file a command.

Uses every room; the only one that prints.
"""

from __future__ import annotations

import importlib
import sys
import warnings
from collections.abc import Iterable
from typing import Any

import typer

from polarbear.cli import common, streams
from polarbear.cli.naming import Naming
from polarbear.errors import PlugInWarning, PolarBearError

# In the order of --help. Each is a function in a module of its own name, but for `import`, which is
# a word of Python's; `stan` is a group of commands.
COMMANDS = (
    *("race", "run", "infer", "select", "report", "compare", "check", "status", "show", "watch"),
    *("verify", "repair", "init", "schema", "import", "merge", "rename", "forget", "export"),
    *("doctor", "stan"),
)


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


def app(commands: Iterable[str] = COMMANDS) -> typer.Typer:
    """The command line with these commands, of which nothing else is loaded."""
    made = typer.Typer(
        name="polarbear",
        help="Which anytime algorithm to run when you do not yet know for how long it may run.",
        no_args_is_help=True,
        rich_markup_mode=None,  # Rich would double the time of --help
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
        callback=_options,
    )
    for name in commands:
        function = f"{name}_" if name == "import" else name
        module = importlib.import_module(f"polarbear.cli.{function}")
        if name == "stan":
            made.add_typer(module.app, name=name)
        else:
            made.command(name, cls=Naming)(getattr(module, function))
    return made


_show_as_usual = warnings.showwarning


def _show_warning(message: Any, category: type[Warning], *where: Any, **more: Any) -> None:
    """What PolarBear itself warns of is a line like any other note."""
    if issubclass(category, PlugInWarning):
        common.note(f"warning: {message}")
    else:
        _show_as_usual(message, category, *where, **more)


def main() -> None:
    """Run a command; what the user can mend is said in a line or two, with exit code 1."""
    warnings.showwarning = _show_warning
    streams.prepare()
    try:
        try:
            called = sys.argv[1:2]
            app(called if called and called[0] in COMMANDS else COMMANDS)()
        finally:
            streams.flush()
    except PolarBearError as error:
        if "--debug" in sys.argv:
            raise
        common.note(f"polarbear: {error}")
        sys.exit(1)
    except BrokenPipeError:  # the reader of our output has gone, as `head` does
        streams.give_up_output()
        sys.exit(1)
    except OSError as error:  # such as a full disk under a file that output is sent to
        streams.give_up_output()
        if "--debug" in sys.argv:
            raise
        where = f"{error.filename}: " if error.filename else ""
        common.note(f"polarbear: {where}{error.strerror or error}; --debug shows where it arose")
        sys.exit(1)
