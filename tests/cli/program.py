"""The commands of the program, as Typer builds them from the functions."""

import typer

from polarbear.cli import app

TyperCommand = typer.core.TyperCommand
TyperGroup = typer.core.TyperGroup


def commands() -> dict[str, TyperCommand | TyperGroup]:
    """Every command by its name; `stan` is a group of commands."""
    program = typer.main.get_command(app)
    assert isinstance(program, TyperGroup)
    return dict(program.commands)
