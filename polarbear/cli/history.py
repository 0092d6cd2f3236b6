"""`polarbear history`: is there a slow drift over merges?"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import polarbear
from polarbear.api.choices import decision_levels
from polarbear.cli import output
from polarbear.cli.application import app
from polarbear.cli.gate import WORSE
from polarbear.cli.parameters import AsJson, Debug, PngFile, Quiet, SvgFile
from polarbear.wording import counted, percent_cell

if TYPE_CHECKING:
    from polarbear.api.histories import History, SequenceReport

MOST_ROWS = 30  # merges in the table of a sequence
TITLES = ("merge", "day", "verdict", "problems#", "against the one before#", "against all others#")


@app.command()
def history(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="The folder of `polarbear gate --history DIR`.")
    ],
    tolerance: Annotated[
        float, typer.Option(help="A win rate of 0.5 less this is tolerated.")
    ] = decision_levels.DEFAULT_GATE_TOLERANCE,
    alpha: Annotated[
        float, typer.Option(help="Level at which a drift is shown, over all merges.")
    ] = decision_levels.DEFAULT_GATE_ALPHA,
    png: PngFile = None,
    svg: SvgFile = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Show the merges that a gate has kept, and find a slow drift.

    The newest merges are compared with those 1, 2, 4, 8, ... merges ago. Merges that differ in
    suite, grid, seeds or machine are not compared: they start a new sequence.
    Exit code 0: no drift is shown. 4: the newest merges are worse than earlier ones.
    """
    kept = polarbear.history(folder, tolerance, alpha, svg=svg, png=png)
    output.result(kept, as_json, _show_history)
    output.wrote(*kept.written)
    if kept.is_drift:
        raise typer.Exit(WORSE)


def _show_history(kept: "History") -> None:
    for sequence in kept.sequences:
        _show_sequence(sequence)
    output.show(*kept.sentences)


def _show_sequence(sequence: "SequenceReport") -> None:
    n_merges = counted(len(sequence.merges), "merge")
    reason = f"; a new sequence, because of other {sequence.changed}" if sequence.changed else ""
    output.show(f"{sequence.algorithm} ({sequence.store}), {n_merges}{reason}")
    rows = [
        (
            row.merge,
            row.committed[:10],
            row.verdict.words,
            str(row.problems),
            _rate(row.against_previous),
            _rate(row.against_others),
        )
        for row in sequence.merges[-MOST_ROWS:]
    ]
    output.show_table(TITLES, rows)
    if len(sequence.merges) > MOST_ROWS:
        output.show(f"The newest {MOST_ROWS}; --json has all.")


def _rate(win_rate: float | None) -> str:
    return "" if win_rate is None else percent_cell(win_rate)
