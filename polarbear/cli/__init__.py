"""The command line: the only place that prints and exits. One thin file a command.

Uses every room; the only one that prints.
"""

from __future__ import annotations

import copy
import sys
import warnings
from collections.abc import Sequence
from typing import Any

import typer

from polarbear.cli import (
    check,
    common,
    compare,
    doctor,
    export,
    forget,
    import_,
    infer,
    init,
    merge,
    race,
    rename,
    repair,
    report,
    run,
    schema,
    select,
    show,
    stan,
    status,
    streams,
    verify,
    watch,
)
from polarbear.cli.naming import Naming
from polarbear.errors import PlugInWarning, PolarBearError

app = typer.Typer(
    name="polarbear",
    help="Which anytime algorithm to run when you do not yet know for how long it may run.",
    no_args_is_help=True,
    rich_markup_mode=None,  # Rich would double the time of --help
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("race")(race.race)
app.command("run")(run.run)
app.command("infer", cls=Naming)(infer.infer)
app.command("select", cls=Naming)(select.select)
app.command("report", cls=Naming)(report.report)
app.command("compare")(compare.compare)
app.command("check")(check.check)
app.command("status")(status.status)
app.command("show")(show.show)
app.command("watch")(watch.watch)
app.command("verify")(verify.verify)
app.command("repair")(repair.repair)
app.command("init")(init.init)
app.command("schema")(schema.schema)
app.command("import", cls=Naming)(import_.import_)
app.command("merge")(merge.merge)
app.command("rename")(rename.rename)
app.command("forget")(forget.forget)
app.command("export", cls=Naming)(export.export)
app.command("doctor")(doctor.doctor)
app.add_typer(stan.app, name="stan")


def _version(wanted: bool) -> None:
    if wanted:
        from polarbear.cli.version import version_and_commit

        typer.echo(version_and_commit())
        raise typer.Exit


@app.callback()
def _options(
    version: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Print version and commit."
    ),
) -> None:
    pass


_show_as_usual = warnings.showwarning


def _show_warning(message: Any, category: type[Warning], *where: Any, **more: Any) -> None:
    """What PolarBear itself warns of is a line like any other note."""
    if issubclass(category, PlugInWarning):
        common.note(f"warning: {message}")
    else:
        _show_as_usual(message, category, *where, **more)


def _app_for(arguments: Sequence[str]) -> typer.Typer:
    """All commands, or the one that is called alone: what typer makes of the options of all of them
    takes longer than many a command."""
    called = [one for one in app.registered_commands if arguments and one.name == arguments[0]]
    if not called:
        return app
    alone = copy.copy(app)
    alone.registered_commands, alone.registered_groups = called, []
    return alone


def main() -> None:
    """Run a command; what the user can mend is said in a line or two, with exit code 1."""
    warnings.showwarning = _show_warning
    streams.prepare()
    try:
        try:
            _app_for(sys.argv[1:])()
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
