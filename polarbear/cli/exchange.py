"""`polarbear import` and `export`: exchange data with other tools."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

import typer
from typer import Argument, Option

import polarbear
from polarbear import api
from polarbear.cli import command_options as common
from polarbear.cli import output
from polarbear.wording import counted

if TYPE_CHECKING:
    from polarbear.api.importing import ImportResult
    from polarbear.api.store_handle import ExportResult


class Spacing(StrEnum):
    LOG = "log"
    LINEAR = "linear"


class AfterEnd(StrEnum):
    KEEPS = "keeps"
    ABSENT = "absent"


def _known_in(registry: str, name: str) -> str:
    known = api.registries.registry(registry)
    if name not in known:
        raise typer.BadParameter(known.refusal(name))
    return name


def import_(
    source: Path = Argument(
        ..., metavar="SOURCE", help="A file or a folder, depending on the format."
    ),
    store: Path = Option(..., metavar="DIR", help="The store to add to."),
    format: str = Option(
        "table",
        metavar="NAME",
        callback=lambda name: _known_in("formats", name),
        help="The format of SOURCE: {formats}.",
    ),
    algorithm_column: str = Option("algorithm", help="Its column of algorithms."),
    instance_column: str = Option("instance", help="Its column of instances."),
    t_column: str = Option("t", help="Its column of times."),
    y_column: str = Option("y", help="Its column of objective values."),
    position_column: str = Option("position", help="Its column of positions."),
    seed_column: str | None = Option(None, help="Its column of seeds, if runs were repeated."),
    weight_column: str | None = Option(None, help="Its column of weights of instances."),
    axis: str | None = Option(
        None, help="The unit of t; by default that of SOURCE, or evaluations."
    ),
    maximise: bool = Option(False, "--maximise", help="Larger values are better."),
    after_end: AfterEnd = Option(
        AfterEnd.KEEPS, help="After its last row an algorithm keeps its best, or is absent."
    ),
    points: int = Option(30, min=1, help="Times in the grid of comparison."),
    spacing: Spacing = Option(Spacing.LOG, help="How its times are spaced."),
    first: float | None = Option(None, "--from", help="Its first time; by default the data's."),
    last: float | None = Option(None, "--to", help="Its last time; by default the data's."),
    set_: common.Settings = None,
    json: common.Json = False,
) -> None:
    """Import trajectories or rankings of other tools into a store.

    {formats.about}
    """
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
    used = {name: flags[name] for name in api.importing.options_of(format) if name in flags}
    done = api.importing.import_data(
        source,
        store,
        format,
        axis=axis,
        points=points,
        spacing=spacing.value,
        first=first,
        last=last,
        **common.settings(set_, used),
    ).result
    assert isinstance(done, api.importing.ImportResult)
    output.result(done, json, _show_imported)


def _show_imported(done: ImportResult) -> None:
    present = f", {done.present} present before" if done.present else ""
    output.show(
        f"{counted(done.added, done.kind.removesuffix('s'))} of "
        f"{counted(len(done.algorithms), 'algorithm')} on "
        f"{counted(done.instances, 'instance')} added to {done.store}{present}"
    )
    for complaint in done.rejected:
        # the rows of a table have line numbers only, others a file as well
        place = f"line {complaint.first}" if complaint.first.isdigit() else complaint.first
        output.show(f"left out: {complaint.words} (first: {place})")
    output.show_lines(f"note: {note}" for note in done.notes)


def export(
    store: common.StoreFolder,
    format: str = Option(
        ...,
        metavar="NAME",
        callback=lambda name: _known_in("exports", name),
        help="The format: {exports}.",
    ),
    to: Path = Option(..., metavar="PLACE", help="The file or folder to write."),
    algorithms: common.Algorithms = None,
    set_: common.Settings = None,
    force: common.Force = False,
    json: common.Json = False,
) -> None:
    """Write a store's runs, rankings or posterior in the format of another tool.

    {exports.about}
    """
    options = common.settings(set_, {})
    chosen = common.names(algorithms)
    done = polarbear.open(store).export(format, to, algorithms=chosen, force=force, **options)
    output.result(done, json, _show_exported)
    output.notes(done.notes)


def _show_exported(done: ExportResult) -> None:
    output.show(f"{done.what} written to {done.to}")
