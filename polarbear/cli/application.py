"""The Typer application that all commands register with, and the program that runs it."""

import os
import sys
import warnings
from typing import Annotated, Any

import typer
import typer.completion

from polarbear.cli import output
from polarbear.cli.completion import REQUEST
from polarbear.cli.version import version_and_commit
from polarbear.errors import PlugInWarning, PolarBearError
from polarbear.wording import visible

WRONG_USAGE = 2  # the exit code of a command line that cannot be understood

# The application has its own options of help and completion. The defaults of Typer's own ones are
# checked by Pydantic, whose import doubles the time of `polarbear COMMAND --help`.
app = typer.Typer(
    add_completion=False,
    add_help_option=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    rich_markup_mode=None,  # help is plain text: the boxes of Rich double its time
    pretty_exceptions_enable=False,
)


def _print_help(context: typer.Context, is_requested: bool) -> None:
    if is_requested:
        typer.echo(context.get_help())
        raise typer.Exit()


def _print_version(is_requested: bool) -> None:
    if is_requested:
        typer.echo(version_and_commit())
        raise typer.Exit()


@app.callback(invoke_without_command=True)
def show_help_without_command(
    context: typer.Context,
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            is_eager=True,
            callback=_print_version,
            help="Print version and commit.",
        ),
    ] = False,
    install_completion: Annotated[
        bool,
        typer.Option(
            "--install-completion",
            callback=typer.completion.install_callback,
            help="Let the shell complete names and values: adds lines to its start-up file.",
        ),
    ] = False,
    show_completion: Annotated[
        bool,
        typer.Option(
            "--show-completion",
            callback=typer.completion.show_callback,
            help="Print the lines that --install-completion writes.",
        ),
    ] = False,
    help: Annotated[
        bool,
        typer.Option(
            "--help",
            "-h",
            is_eager=True,
            callback=_print_help,
            help="Show this message and exit.",
        ),
    ] = False,
) -> None:
    """Compare anytime algorithms at every budget, and choose one when the budget is known."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
        raise typer.Exit(WRONG_USAGE)


def main() -> None:
    """Run a command; an error that users can fix is a line or two, with exit code 1."""
    warnings.formatwarning = _format_warning
    output.prepare_streams()
    if REQUEST in os.environ:
        typer.completion.get_completion_inspect_parameters()  # registers the shells
    command = typer.main.get_command(app)
    try:
        try:
            exit_code = command.main(prog_name="polarbear", standalone_mode=False)
        finally:
            sys.stdout.flush()  # so that an error is raised now and not at exit
    except typer.TyperException as error:
        output.error(*_usage_error_lines(error))
        sys.exit(error.exit_code)
    except PolarBearError as error:
        if _is_debugging():
            raise
        output.error(f"polarbear: {error}")
        sys.exit(1)
    except BrokenPipeError:  # the reader of the output has ended, for example `head`
        output.discard_buffered_output()
        sys.exit(1)
    except OSError as error:  # for example a full disk
        output.discard_buffered_output()
        if _is_debugging():
            raise
        file = f"{error.filename}: " if error.filename else ""
        reason = error.strerror or error
        output.error(f"polarbear: {file}{reason}; --debug shows where it arose")
        sys.exit(1)
    if exit_code == output.INTERRUPTED:  # Typer has caught a KeyboardInterrupt
        raise KeyboardInterrupt
    sys.exit(exit_code)


def _is_debugging() -> bool:
    """Whether --debug was given. An error may be raised before Typer has read the option."""
    return "--debug" in sys.argv


def _usage_error_lines(error: typer.TyperException) -> tuple[str, str]:
    """The reason why a command line cannot be understood, and the command that explains it."""
    message = " ".join(error.format_message().split())
    context = getattr(error, "ctx", None)
    command = "polarbear" if context is None else context.command_path
    return (
        f"polarbear: {message[:1].lower()}{message[1:]}",
        f"`{command} --help` shows how it is used",
    )


_format_other_warning = warnings.formatwarning


def _format_warning(
    message: Warning | str, category: type[Warning], *location: Any, **line: Any
) -> str:
    """A warning about a plug-in in one line; others as usual, with their location in the code."""
    if issubclass(category, PlugInWarning):
        return f"warning: {visible(str(message))}\n"
    return _format_other_warning(message, category, *location, **line)
