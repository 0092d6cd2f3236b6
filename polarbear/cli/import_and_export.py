"""`polarbear import` and `export`: data of other tools."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import polarbear
from polarbear.api import option_names
from polarbear.api.choices import AfterEnd, Spacing, defaults
from polarbear.cli import completion, output
from polarbear.cli.application import app
from polarbear.cli.parameters import (
    Algorithms,
    AsJson,
    Debug,
    Force,
    Quiet,
    Settings,
    StoreFolder,
    known_to,
    member_of,
    separated,
    settings_of,
)

if TYPE_CHECKING:
    from polarbear.api.importing import ImportResult


@app.command("import")
def import_data(
    source: Annotated[
        list[Path],
        typer.Argument(
            metavar="SOURCE",
            help="A file or a folder, depending on the format; of logs several.",
        ),
    ],
    store: Annotated[Path, typer.Option(metavar="DIR", help="The store to add to.")],
    format: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            callback=known_to(option_names.formats),
            autocompletion=completion.formats,
            help="The format of SOURCE.",
        ),
    ] = defaults.FORMAT,
    algorithm_column: Annotated[
        str | None, typer.Option(help="Its column of algorithms; by default 'algorithm'.")
    ] = None,
    instance_column: Annotated[
        str | None, typer.Option(help="Its column of instances; by default 'instance'.")
    ] = None,
    t_column: Annotated[
        str | None, typer.Option(help="Its column of times; by default 't'.")
    ] = None,
    y_column: Annotated[
        str | None, typer.Option(help="Its column of objective values; by default 'y'.")
    ] = None,
    position_column: Annotated[
        str | None, typer.Option(help="Its column of positions; by default 'position'.")
    ] = None,
    seed_column: Annotated[
        str | None, typer.Option(help="Its column of seeds, if runs were repeated.")
    ] = None,
    weight_column: Annotated[
        str | None, typer.Option(help="Its column of weights of instances.")
    ] = None,
    read: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            autocompletion=completion.logs,
            help="Whose logs these are, or a regular expression with the groups t and y; by "
            "default each log tells.",
        ),
    ] = None,
    pattern: Annotated[
        str | None,
        typer.Option(
            help="What the end of the path of a log names; by default "
            "'{algorithm}/{instance}.log'. It may name {seed}."
        ),
    ] = None,
    axis: Annotated[
        str | None,
        typer.Option(help="The unit of t; by default that of SOURCE, or evaluations."),
    ] = None,
    maximise: Annotated[
        bool | None, typer.Option("--maximise", help="Larger values are better.")
    ] = None,
    after_end: Annotated[
        AfterEnd | None,
        typer.Option(
            parser=member_of(AfterEnd),
            help="What happens to a run after its last row, if that is before the last time of "
            "the grid: it keeps its best value, which is the default, or it is absent from the "
            "comparison.",
        ),
    ] = None,
    points: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="The number of times in the grid of comparison; by default the grid is the times "
            f"of the data, or {defaults.GRID_POINTS} times if these are more than 100.",
        ),
    ] = None,
    spacing: Annotated[
        Spacing | None,
        typer.Option(
            parser=member_of(Spacing),
            help="How the times of the grid are spaced: log, which is the default, or linear.",
        ),
    ] = None,
    first: Annotated[
        float | None,
        typer.Option("--from", help="The first time of the grid; by default the data's."),
    ] = None,
    last: Annotated[
        float | None,
        typer.Option("--to", help="The last time of the grid; by default the data's."),
    ] = None,
    settings: Settings = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Import trajectories or rankings of other tools into a store.

    SOURCE is a file or a folder, depending on the format.

    table: Rows of algorithm, instance, t, y (CSV or Parquet).

    rankings: Rows of instance, t, algorithm, position (CSV or Parquet).

    log: Logs of solvers: files, or all in a folder, each of one run.

    ioh: A folder that IOHprofiler's Analyzer wrote.

    coco: A folder that COCO's observer wrote.

    benchopt: A Parquet file of benchopt's results.

    optuna: A storage of Optuna: an SQLite file or a journal, in which each study is a run.

    tensorboard: A folder of TensorBoard's event files, in which each folder of them is a run.

    preflib: Orders in a file of PrefLib (.soc, .soi, .toc, .toi), or a folder with one for each
    time.

    aslib: A scenario of ASlib: a folder with its runs and the features of instances.

    store: A store of PolarBear's: its runs, or the rankings that were imported into it.
    """
    options = {
        "algorithm_column": algorithm_column,
        "instance_column": instance_column,
        "t_column": t_column,
        "y_column": y_column,
        "position_column": position_column,
        "seed_column": seed_column,
        "weight_column": weight_column,
        "read": read,
        "pattern": pattern,
        "maximise": maximise,
        "after_end": after_end,
    }
    options_given = {name: value for name, value in options.items() if value is not None}
    import_result: ImportResult = polarbear.import_data(
        source,
        store,
        format,
        axis=axis,
        points=points,
        spacing=spacing,
        first=first,
        last=last,
        **{**options_given, **settings_of(settings)},
    ).result
    output.result(import_result, as_json, _show_imported)


def _show_imported(import_result: "ImportResult") -> None:
    output.show(import_result.one_line())
    for rejection in import_result.rejected:
        # The rows of a table have line numbers only, others have the name of a file as well.
        location = rejection.first
        if location.isdigit():
            location = f"line {location}"
        output.show(f"left out: {rejection.words} (first: {location})")


@app.command()
def export(
    store: StoreFolder,
    format: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            callback=known_to(option_names.exports),
            autocompletion=completion.exports,
            help="The format to write.",
        ),
    ],
    to: Annotated[Path, typer.Option(metavar="PLACE", help="The file or folder to write.")],
    algorithms: Algorithms = None,
    settings: Settings = None,
    force: Force = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Write runs, rankings or the posterior for another tool.

    csv: Rows of algorithm, instance, problem, seed, run_status, t, y; a data dictionary beside
    them.

    parquet: The same rows as Parquet, the meaning of each column in its metadata.

    ioh: A folder for IOHanalyzer and iohinspector, with all digits.

    coco: A folder for cocopp: distances to the optimum, with all digits.

    arviz: A posterior as NetCDF (.nc) or Zarr (.zarr).

    preflib: A folder with the rankings at each time: .toc, or .toi where algorithms are absent.

    chooser: The choice for every budget, as JSON (.json) or as a Python function (.py).
    """
    export_result = polarbear.open(store).export(
        format, to, algorithms=separated(algorithms), force=force, **settings_of(settings)
    )
    output.result(export_result, as_json)
