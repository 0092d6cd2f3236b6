"""Options that several commands share, and functions that print."""

from __future__ import annotations

import json
import re
import shutil
import signal
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from polarbear.cli import streams
from polarbear.cli.tables import Table, folded
from polarbear.errors import ReportError
from polarbear.plain import plain
from polarbear.wording import counted, joined, percent_cell, short, time, visible, whole

if TYPE_CHECKING:
    from polarbear.api.status import AlgorithmRuns, Failure

INTERRUPTED = 130
# Control characters and changes of direction, which JSON allows but a terminal would act upon.
_CONTROLS = "[\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"

Option = typer.Option
ConfigFile = Annotated[
    Path,
    typer.Argument(metavar="CONFIG", help="A configuration in YAML; `polarbear init` writes one."),
]
StoreFolder = Annotated[Path, typer.Argument(metavar="STORE", help="The folder of a store.")]
StoreOption = Annotated[
    Path | None,
    Option("--store", metavar="DIR", help="The store; by default named after CONFIG, next to it."),
]
SeedOption = Annotated[
    int | None, Option("--seed", min=0, help="Use this seed instead of the configuration's.")
]
WorkersOption = Annotated[
    int | None, Option(min=1, help="Number of runs at once; by default one per core.")
]
EngineOption = Annotated[
    str | None,
    Option(
        "--engine",
        metavar="local|dask",
        help="Execute runs in processes of this machine, or on workers of a Dask cluster.",
    ),
]
SchedulerOption = Annotated[
    str | None,
    Option("--scheduler", metavar="ADDRESS", help="The Dask scheduler, as tcp://HOST:PORT."),
]
MixHosts = Annotated[
    bool, Option("--mix-hosts", help="Mix seconds that different machines have measured.")
]
Rerun = Annotated[
    list[str] | None,
    Option(
        "--rerun",
        metavar="NAME",
        help="Repeat the runs of this algorithm, whose code has changed; 'all' for every one.",
    ),
]
Keep = Annotated[
    list[str] | None,
    Option(
        "--keep",
        metavar="NAME",
        help="Keep the runs of this algorithm although its code has changed.",
    ),
]
RaceNumber = Annotated[
    int | None, Option("--race", min=1, metavar="N", help="Show the earlier race N of the store.")
]
RetryFailed = Annotated[bool, Option("--retry-failed", help="Repeat runs that failed.")]
Algorithms = Annotated[
    str | None, Option("--algorithms", metavar="A,B,C", help="Only these, separated by commas.")
]
Settings = Annotated[
    list[str] | None,
    Option("--set", metavar="KEY=VALUE", help="Any other option, as in lengthscale.scale=2."),
]
Theme = Annotated[str, Option("--theme", help="Of figures: light, dark or print.")]
Width = Annotated[
    str, Option("--width", help="Of figures: single, double (columns of a paper), 12cm or 5in.")
]
Force = Annotated[bool, Option("--force", help="Overwrite existing files.")]
Json = Annotated[bool, Option("--json", help="Print the result as one JSON object.")]
Quiet = Annotated[bool, Option("-q", "--quiet", help="No progress, no notes.")]
Verbose = Annotated[bool, Option("-v", "--verbose", help="Print more details.")]
Debug = Annotated[bool, Option("--debug", help="Show the traceback of an error.")]


def names(text: str | None) -> list[str] | None:
    """Names separated by commas, if any were given."""
    return None if text is None else [name.strip() for name in text.split(",")]


def two_names(text: str, known: Sequence[str]) -> tuple[str, str]:
    """Two names separated by a comma; the names may contain commas."""
    places = [place for place, sign in enumerate(text) if sign == ","]
    ways = [(text[:place].strip(), text[place + 1 :].strip()) for place in places]
    meant = [way for way in ways if set(way) <= set(known)]
    if len(meant) > 1:
        either = joined([f"'{a}' and '{b}'" for a, b in meant], "or")
        raise ReportError(
            f"--pair {text} may be {either}; `polarbear rename STORE OLD NEW` removes a comma"
        )
    if not meant and len(ways) != 1:
        raise ReportError(
            f"--pair takes two algorithms separated by a comma, found '{text}'; known: "
            f"{', '.join(known)}"
        )
    return (meant or ways)[0]


def settings(given: list[str] | None, flags: Mapping[str, Any]) -> dict[str, Any]:
    """Options from flags and from ``--set KEY=VALUE``."""
    if not given:
        return dict(flags)
    from polarbear.api.configurations import with_settings  # most calls set nothing

    return with_settings(flags, given)


def note(text: str, quiet: bool = False) -> None:
    """Print a line on standard error, apart from the results."""
    if not quiet:
        with suppress(OSError):  # a log on a full disk must not end a race
            typer.echo(visible(text, keep="\n"), err=True)


def print_json(facts: Any) -> None:
    """Print records, or a dictionary of them, as one JSON object."""
    text = json.dumps(plain(facts), indent=2, ensure_ascii=not streams.is_unicode())
    typer.echo(re.sub(_CONTROLS, lambda sign: json.dumps(sign[0])[1:-1], text))


def show(part: str | Table) -> None:
    """Print a part of the results, folded to the width of a terminal."""
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    if isinstance(part, Table):
        lines = part.lines(width, "─" if streams.is_unicode() else "-")
    else:
        lines = visible(part, keep="\n").split("\n")
        if width is not None:
            lines = [short for line in lines for short in folded(line, width)]
    typer.echo("\n".join(lines))


@contextmanager
def interruptible(message: str) -> Iterator[None]:
    """End with exit code 130 and a message on Ctrl-C, SIGTERM, or a closed terminal."""

    def interrupt(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    before = {
        number: signal.signal(number, interrupt)
        for number in (signal.SIGTERM, signal.SIGHUP)
        if signal.getsignal(number) is not signal.SIG_IGN  # set by `nohup`
    }
    try:
        yield
    except KeyboardInterrupt:
        with suppress(OSError):  # the terminal may be closed
            note(f"polarbear: interrupted; {message}")
        raise typer.Exit(INTERRUPTED) from None
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def announcing_compilation(quiet: bool) -> AbstractContextManager[None]:
    """Print a note if loops have to be compiled."""
    from polarbear.api.listening import on_first_compilation

    words = "compiling for this machine, once; the next call will be quick"
    return on_first_compilation(lambda: note(words, quiet))


def algorithms_table(
    entries: Sequence[AlgorithmRuns],
    axis: str,
    budget: float,
    first: Mapping[str, float | None] | None = None,
) -> Table:
    """Runs and costs of each algorithm, and its share of first places at the end."""
    shares = {name: share for name, share in (first or {}).items() if share is not None}
    counted_evaluations = axis == "evaluations" or any(e.evaluations for e in entries)
    columns = {
        "algorithm": [entry.algorithm for entry in entries],
        "runs#": [f"{entry.runs}" for entry in entries],
        "failed#": [f"{entry.failed}" for entry in entries],
        "ended early#": [f"{entry.ended}" for entry in entries],
    }
    if axis not in ("evaluations", "seconds"):  # which have columns anyway
        columns[f"{axis}#"] = [time(entry.spent) for entry in entries]
    if counted_evaluations:
        columns["evaluations#"] = [whole(entry.evaluations) for entry in entries]
    columns["seconds#"] = [f"{entry.seconds:,.1f}" for entry in entries]
    if shares:
        columns[f"best at {axis} {short(budget)}#"] = [
            percent_cell(shares[e.algorithm]) if e.algorithm in shares else "" for e in entries
        ]
    table = Table(*columns)
    for cells in zip(*columns.values(), strict=True):
        table.add_row(*cells)
    return table


def failure_lines(failures: Sequence[Failure], most: int = 5) -> list[str]:
    """The most frequent failures, each in a line or two."""
    lines = [
        f"{failure.runs} x {visible(failure.algorithm)} {failure.status}: {failure.message} "
        f"(first on {visible(failure.example)})"
        for failure in failures[:most]
    ]
    if len(failures) > most:
        more = counted(len(failures) - most, "more kind of failure", "more kinds of failure")
        lines.append(f"and {more}: see --json")
    return lines


def speculative_words(runs: int) -> str:
    """The number of speculative runs that no round has used."""
    return f"{counted(runs, 'speculative run')} not used"
