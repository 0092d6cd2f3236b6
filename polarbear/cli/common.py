"""What the commands share: options that are spelled the same everywhere, and ways to print."""

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
from polarbear.plain import plain
from polarbear.wording import counted, joined, percent_cell, short, time, visible, whole

if TYPE_CHECKING:
    from polarbear.store.summary import AlgorithmRuns, Failure

INTERRUPTED = 130
# What JSON may hold as it is, but a terminal would act upon: controls, changes of direction.
_CONTROLS = "[\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"

ConfigFile = Annotated[
    Path,
    typer.Argument(metavar="CONFIG", help="A configuration in YAML; `polarbear init` writes one."),
]
StoreFolder = Annotated[Path, typer.Argument(metavar="STORE", help="The folder of a store.")]
StoreOption = Annotated[
    Path | None,
    typer.Option(
        "--store", metavar="DIR", help="The store; by default named after CONFIG, beside it."
    ),
]
SeedOption = Annotated[
    int | None, typer.Option("--seed", min=0, help="Use this seed, not the configuration's.")
]
WorkersOption = Annotated[
    int | None, typer.Option(min=1, help="How many runs at once; by default one a core.")
]
EngineOption = Annotated[
    str | None,
    typer.Option(
        "--engine",
        metavar="local|dask",
        help="Who executes runs: processes of this machine, or workers of a Dask cluster.",
    ),
]
SchedulerOption = Annotated[
    str | None,
    typer.Option(
        "--scheduler", metavar="ADDRESS", help="The Dask scheduler to use, as tcp://HOST:PORT."
    ),
]
MixHosts = Annotated[
    bool, typer.Option("--mix-hosts", help="Add to seconds that another machine measured.")
]
Rerun = Annotated[
    list[str] | None,
    typer.Option(
        "--rerun",
        metavar="NAME",
        help="What makes this algorithm's runs has changed: run them again; 'all' names everyone.",
    ),
]
Keep = Annotated[
    list[str] | None,
    typer.Option(
        "--keep",
        metavar="NAME",
        help="What makes this algorithm's runs has changed, but not what they are: keep them.",
    ),
]
RaceNumber = Annotated[
    int | None,
    typer.Option(
        "--race",
        min=1,
        metavar="N",
        help="Look back at race N of the store, whose decisions were taken anew since.",
    ),
]
RetryFailed = Annotated[
    bool, typer.Option("--retry-failed", help="Run again what crashed or was killed.")
]
Json = Annotated[bool, typer.Option("--json", help="Print the result as one JSON object.")]
Quiet = Annotated[bool, typer.Option("-q", "--quiet", help="No progress, no notes.")]
Verbose = Annotated[bool, typer.Option("-v", "--verbose", help="Say more on standard error.")]
Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")]


def names(text: str | None) -> list[str] | None:
    """Names separated by commas, if any were given."""
    return None if text is None else [name.strip() for name in text.split(",")]


def two_names(text: str, known: Sequence[str]) -> tuple[str, str]:
    """The two names in a text with a comma between them, and perhaps commas within them."""
    from polarbear.errors import ReportError

    places = [place for place, sign in enumerate(text) if sign == ","]
    ways = [(text[:place].strip(), text[place + 1 :].strip()) for place in places]
    meant = [way for way in ways if set(way) <= set(known)]
    if len(meant) > 1:
        said = joined([f"'{a}' and '{b}'" for a, b in meant], "or")
        raise ReportError(
            f"--pair {text} may be {said}; `polarbear rename STORE OLD NEW` takes a comma out"
        )
    if not meant and len(ways) != 1:
        raise ReportError(
            f"--pair takes two algorithms separated by a comma, found '{text}'; known: "
            f"{', '.join(known)}"
        )
    return (meant or ways)[0]


def note(text: str, quiet: bool = False) -> None:
    """A line for the person who watches, apart from the results."""
    if not quiet:
        with suppress(OSError):  # a log on a full disk is no reason to end a race
            typer.echo(visible(text, keep="\n"), err=True)


def print_json(facts: Any) -> None:
    """Records, or a dictionary of them, as one JSON object."""
    text = json.dumps(plain(facts), indent=2, ensure_ascii=not streams.shows_every_sign())
    typer.echo(re.sub(_CONTROLS, lambda sign: json.dumps(sign[0])[1:-1], text))


def show(part: str | Table) -> None:
    """A part of the results: folded to the width of a terminal, and uncut where it is none."""
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    if isinstance(part, Table):
        lines = part.lines(width, "─" if streams.shows_every_sign() else "-")
    else:
        lines = visible(part, keep="\n").split("\n")
        if width is not None:
            lines = [short for line in lines for short in folded(line, width)]
    typer.echo("\n".join(lines))


def settings(given: list[str], flags: dict[str, Any]) -> dict[str, Any]:
    """What ``--set KEY=VALUE`` asks for, beside what flags say; a dot leads into a group."""
    from polarbear.errors import ConfigError

    data = dict(flags)
    for setting in given:
        from polarbear.settings.yaml_lines import parse_yaml  # most calls set nothing

        key, equals, text = setting.partition("=")
        if not equals or not key:
            raise ConfigError(f"--set takes KEY=VALUE, found '{setting}'")
        *groups, last = key.split(".")
        place = data
        for group in groups:
            place[group] = dict(place.get(group) or {})
            place = place[group]
        place[last] = parse_yaml(text or "null", "--set")[0]
    return data


@contextmanager
def interruptible(message: str) -> Iterator[None]:
    """End as the user asks, by Ctrl-C, SIGTERM or by closing the terminal, with a word on it."""

    def interrupt(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    before = {
        number: signal.signal(number, interrupt)
        for number in (signal.SIGTERM, signal.SIGHUP)
        if signal.getsignal(number) is not signal.SIG_IGN  # as `nohup` wants it
    }
    try:
        yield
    except KeyboardInterrupt:
        with suppress(OSError):  # the terminal may be gone
            note(f"polarbear: interrupted; {message}")
        raise typer.Exit(INTERRUPTED) from None
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def announcing_compilation(quiet: bool) -> AbstractContextManager[None]:
    """Say so if loops have to be compiled."""
    from polarbear.numerics.announcing import on_first_compilation

    def say() -> None:
        note("compiling for this machine, once; the next call will be quick", quiet)

    return on_first_compilation(say)


def algorithms_table(
    entries: Sequence[AlgorithmRuns],
    axis: str,
    budget: float,
    first: Mapping[str, float | None] | None = None,
) -> Table:
    """What each algorithm has run and spent, and how often it led at the end."""
    shares = {name: share for name, share in (first or {}).items() if share is not None}
    last = [f"best at {axis} {short(budget)}#"] if shares else []
    # Seconds and evaluations have columns anyway, the latter only if somebody counts them.
    own = [f"{axis}#"] if axis not in ("evaluations", "seconds") else []
    counts = (
        ["evaluations#"] if axis == "evaluations" or any(e.evaluations for e in entries) else []
    )
    heads = ("algorithm", "runs#", "failed#", "ended early#")
    made = Table(*heads, *own, *counts, "seconds#", *last)
    for entry in entries:
        cells = [
            entry.algorithm,
            f"{entry.runs}",
            f"{entry.failed}",
            f"{entry.ended}",
            *([time(entry.spent)] if own else []),
            *([whole(entry.evaluations)] if counts else []),
            f"{entry.seconds:,.1f}",
        ]
        if shares:
            name = entry.algorithm
            cells.append(percent_cell(shares[name]) if name in shares else "")
        made.add_row(*cells)
    return made


def failure_lines(failures: Sequence[Failure], most: int = 5) -> list[str]:
    """The failures that happened most, each in a line or two."""
    lines = [
        f"{failure.runs} x {visible(failure.algorithm)} {failure.status}: {failure.message} "
        f"(first on {visible(failure.example)})"
        for failure in failures[:most]
    ]
    if len(failures) > most:
        more = counted(len(failures) - most, "more kind of failure", "more kinds of failure")
        lines.append(f"and {more}: see --json")
    return lines


def extra_words(runs: int) -> str:
    """That so many runs were begun early and have not been used."""
    return (
        f"{counted(runs, 'extra run')}: begun while workers had nothing else to do, and asked for "
        "by no round so far"
    )
