"""What the commands share: options that are spelled the same everywhere, and ways to print."""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from polarbear.plain import plain
from polarbear.wording import counted, noun, percent_cell, short, whole

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from polarbear.config import Config
    from polarbear.inference import ModelOptions
    from polarbear.store.summary import AlgorithmRuns, Failure

INTERRUPTED = 130
WIDE = 160  # columns where nobody looks at a terminal, so that logs are not cut

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
MixHosts = Annotated[
    bool, typer.Option("--mix-hosts", help="Add to seconds that another machine measured.")
]
Json = Annotated[bool, typer.Option("--json", help="Print the result as one JSON object.")]
Quiet = Annotated[bool, typer.Option("-q", "--quiet", help="No progress, no notes.")]
Verbose = Annotated[bool, typer.Option("-v", "--verbose", help="Say more on standard error.")]
Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")]


def store_of(config: Path, store: Path | None) -> Path:
    """The store a command means: the one named, or the folder named after the configuration."""
    if store is not None:
        return store
    return config.with_suffix("") if config.suffix else config.with_name(f"{config.name}.store")


def note(text: str, quiet: bool = False) -> None:
    """A line for the person who watches, apart from the results."""
    if not quiet:
        typer.echo(text, err=True)


def print_json(facts: Any) -> None:
    """Records, or a dictionary of them, as one JSON object."""
    typer.echo(json.dumps(plain(facts), indent=2, ensure_ascii=False))


def console() -> Console:
    """Where results are printed; without colour and uncut where it is not a terminal."""
    from rich.console import Console

    return Console(width=None if sys.stdout.isatty() else WIDE, highlight=False)


def table(*columns: str) -> Table:
    """An empty table; a column whose title ends in '#' holds numbers."""
    from rich import box
    from rich.table import Table

    made = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in columns:
        numbers = column.endswith("#")
        made.add_column(column.removesuffix("#"), justify="right" if numbers else "left")
    return made


@contextmanager
def interruptible(message: str) -> Iterator[None]:
    """End as the user asks, by Ctrl-C or SIGTERM, with a word on what that means."""

    def interrupt(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    except KeyboardInterrupt:
        note(f"polarbear: interrupted; {message}")
        raise typer.Exit(INTERRUPTED) from None
    finally:
        signal.signal(signal.SIGTERM, before)


def announcing_compilation(quiet: bool) -> AbstractContextManager[None]:
    """Say so if loops have to be compiled."""
    from polarbear.numerics.compiling import on_first_compilation

    def say() -> None:
        note("compiling for this machine, once; the next call will be quick", quiet)

    return on_first_compilation(say)


def announce_stan(options: ModelOptions, quiet: bool) -> None:
    """Say so if a Stan program has to be compiled; fail now if CmdStan is not there."""
    if options.engine != "stan":
        return
    from polarbear.inference.stan import cmdstan, programs

    if not programs.is_compiled(options.model, cmdstan.find_for(options.method)):
        cmdstan.require_build_tools()
        note(f"compiling the Stan program of {options.model}, once: about a minute", quiet)


def warn_of_busy_cores(settings: Config, quiet: bool) -> None:
    """Seconds measured on a machine that is busy with something else come out too long."""
    from polarbear.driver.collect import workers_of
    from polarbear.execution.host import cores, free_cores
    from polarbear.settings.grid import SECONDS

    workers, free = workers_of(settings), free_cores()
    if settings.budget.axis == SECONDS and workers > free:
        remedy = f"--workers {free} avoids that" if free else "wait until the machine is idle"
        note(
            f"warning: {free} of {counted(cores(), 'core')} {noun(free, 'is', 'are')} free for "
            f"{counted(workers, 'run')} at once: seconds will come out longer than they should; "
            f"{remedy}",
            quiet,
        )


def algorithms_table(
    entries: Sequence[AlgorithmRuns],
    axis: str,
    budget: float,
    first: Mapping[str, float | None] | None = None,
) -> Table:
    """What each algorithm has run and spent, and how often it led at the end."""
    from rich.markup import escape

    shares = {name: share for name, share in (first or {}).items() if share is not None}
    last = [f"best at {axis} {short(budget)}#"] if shares else []
    made = table("algorithm", "runs#", "failed#", "ended early#", "evaluations#", "seconds#", *last)
    for entry in entries:
        cells = [
            escape(entry.algorithm),
            f"{entry.runs}",
            f"{entry.failed}",
            f"{entry.ended}",
            whole(entry.evaluations),
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
        f"{failure.runs} x {failure.algorithm} {failure.status}: {failure.message} "
        f"(first on {failure.example})"
        for failure in failures[:most]
    ]
    if len(failures) > most:
        more = counted(len(failures) - most, "more kind of failure", "more kinds of failure")
        lines.append(f"and {more}: see --json")
    return lines
