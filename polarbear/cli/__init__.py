"""The command line: thin commands on top of `api`.

Uses `api`, `errors`, `records` and `wording`; the only room that prints and exits.
"""

import importlib
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import click

from polarbear import __version__
from polarbear.cli import output
from polarbear.errors import PlugInWarning, PolarBearError
from polarbear.wording import visible

PACKAGE = Path(__file__).parents[1]
COMMIT_FILE = "commit.txt"  # written into the package by a build
SETTINGS = {"help_option_names": ["-h", "--help"], "show_default": True}
# The modules of the commands, in the order of --help.
COMMANDS = {
    "race": "race",
    "run": "run_and_check",
    **dict.fromkeys(("infer", "select"), "choose"),
    **dict.fromkeys(("report", "compare"), "report"),
    "gate": "gate",
    "check": "run_and_check",
    **dict.fromkeys(("status", "show", "watch"), "contents"),
    **dict.fromkeys(("init", "schema"), "setup"),
    **dict.fromkeys(("import", "export", "merge", "rename", "forget"), "stores"),
    **dict.fromkeys(("verify", "repair"), "stores"),
    **dict.fromkeys(("doctor", "stan"), "setup"),
}


class Commands(click.Group):
    """All commands; the module of a command is imported when the command is needed."""

    def list_commands(self, context: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        module = importlib.import_module(f"polarbear.cli.{COMMANDS[name]}")
        found: click.Command = getattr(module, f"{name}_" if name == "import" else name)
        return found


def version_and_commit() -> str:
    """The version, and the commit where it is known."""
    built_from = PACKAGE / COMMIT_FILE
    commit = built_from.read_text("utf-8").strip() if built_from.exists() else _checked_out()
    return f"polarbear {__version__} (commit {commit})" if commit else f"polarbear {__version__}"


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


def _print_version(context: click.Context, _: click.Parameter, is_given: bool) -> None:
    if is_given and not context.resilient_parsing:
        click.echo(version_and_commit())
        context.exit()


@click.command(cls=Commands, context_settings=SETTINGS)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_version,
    help="Print version and commit.",
)
def app() -> None:
    """Compare anytime algorithms at every budget, and choose one when the budget is known."""


_format_as_usual = warnings.formatwarning


def _format_warning(
    message: Warning | str, category: type[Warning], *place: Any, **named: Any
) -> str:
    """A warning about a plug-in in one line; others as usual, with their place in the code."""
    if issubclass(category, PlugInWarning):
        return f"warning: {visible(str(message))}\n"
    return _format_as_usual(message, category, *place, **named)


def main() -> None:
    """Run a command; an error that users can fix is a line or two, with exit code 1."""
    warnings.formatwarning = _format_warning
    output.prepare_streams()
    try:
        try:
            app(prog_name="polarbear")
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
