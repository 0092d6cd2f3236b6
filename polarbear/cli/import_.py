"""`polarbear import`: import data that other tools have recorded."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from polarbear.cli import common
from polarbear.wording import counted

if TYPE_CHECKING:
    from polarbear.api.importing import ImportResult


class Spacing(StrEnum):
    LOG = "log"
    LINEAR = "linear"


class AfterEnd(StrEnum):
    KEEPS = "keeps"
    ABSENT = "absent"


def _known(name: str) -> str:
    from polarbear.api.importing import refusal

    refused = refusal(name)
    if refused:
        raise typer.BadParameter(refused)
    return name


def import_(
    source: Annotated[
        Path, typer.Argument(metavar="SOURCE", help="A file or a folder, depending on the format.")
    ],
    store: Annotated[Path, typer.Option("--store", metavar="DIR", help="The store to add to.")],
    format: Annotated[
        str, typer.Option(metavar="NAME", callback=_known, help="The format of SOURCE: {formats}.")
    ] = "table",
    algorithm_column: Annotated[str, typer.Option(help="Its column of algorithms.")] = "algorithm",
    instance_column: Annotated[str, typer.Option(help="Its column of instances.")] = "instance",
    t_column: Annotated[str, typer.Option(help="Its column of times.")] = "t",
    y_column: Annotated[str, typer.Option(help="Its column of objective values.")] = "y",
    position_column: Annotated[str, typer.Option(help="Its column of positions.")] = "position",
    seed_column: Annotated[
        str | None, typer.Option(help="Its column of seeds, if runs were repeated.")
    ] = None,
    weight_column: Annotated[
        str | None,
        typer.Option(help="Its column of weights of instances."),
    ] = None,
    axis: Annotated[
        str | None,
        typer.Option(help="The unit of t; by default that of SOURCE, or evaluations."),
    ] = None,
    maximise: Annotated[bool, typer.Option("--maximise", help="Larger values are better.")] = False,
    after_end: Annotated[
        AfterEnd,
        typer.Option(help="After its last row an algorithm keeps its best, or is absent."),
    ] = AfterEnd.KEEPS,
    points: Annotated[int, typer.Option(min=1, help="Times in the grid of comparison.")] = 30,
    spacing: Annotated[Spacing, typer.Option(help="How its times are spaced.")] = Spacing.LOG,
    first: Annotated[
        float | None, typer.Option("--from", help="Its first time; by default the data's.")
    ] = None,
    last: Annotated[
        float | None, typer.Option("--to", help="Its last time; by default the data's.")
    ] = None,
    set_: common.Settings = None,
    json: common.Json = False,
    quiet: common.Quiet = False,
    debug: common.Debug = False,
) -> None:
    """Import trajectories or rankings of other tools into a store.

    {formats.about}
    """
    from polarbear.api.importing import ImportResult, import_data, options_of

    flags = {
        "algorithm_column": algorithm_column,
        "instance_column": instance_column,
        "t_column": t_column,
        "y_column": y_column,
        "position_column": position_column,
        "seed_column": seed_column,
        "weight_column": weight_column,
        "maximise": maximise,
        "after_end": after_end.value,
    }
    options = {name: flags[name] for name in options_of(format) if name in flags}
    done = import_data(
        source,
        store,
        format,
        axis=axis,
        points=points,
        spacing=spacing.value,
        first=first,
        last=last,
        **common.settings(set_, options),
    ).result
    assert isinstance(done, ImportResult)
    if json:
        common.print_json(done)
    else:
        _show(done)


def _show(done: ImportResult) -> None:
    present = f", {done.present} present before" if done.present else ""
    common.show(
        f"{counted(done.added, done.kind.removesuffix('s'))} of "
        f"{counted(len(done.algorithms), 'algorithm')} on "
        f"{counted(done.instances, 'instance')} added to {done.store}{present}"
    )
    for complaint in done.rejected:
        # the rows of a table have line numbers only, others a file as well
        place = f"line {complaint.first}" if complaint.first.isdigit() else complaint.first
        common.show(f"left out: {complaint.words} (first: {place})")
    for note in done.notes:
        common.show(f"note: {note}")
