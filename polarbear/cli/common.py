"""What the commands share: options that are spelled the same everywhere, and ways to print."""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from polarbear.config import Config
    from polarbear.inference import ModelOptions

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


def print_json(facts: dict[str, Any]) -> None:
    typer.echo(json.dumps(facts, indent=2, ensure_ascii=False))


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


def settings(given: list[str], flags: dict[str, Any]) -> dict[str, Any]:
    """What ``--set KEY=VALUE`` asks for, beside what flags say; a dot leads into a group."""
    from polarbear.errors import ConfigError
    from polarbear.settings.yaml_lines import parse_yaml

    data = dict(flags)
    for setting in given:
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
            f"warning: {free} of {cores()} cores are free for {workers} runs at once: seconds will "
            f"come out longer than they should; {remedy}",
            quiet,
        )


def human_seconds(seconds: float) -> str:
    """A duration as people say it: 45 s, 12 min, 3.4 h."""
    if seconds < 90:
        return f"{seconds:.0f} s" if seconds >= 10 else f"{seconds:.1f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def human_bytes(size: float) -> str:
    for unit in ("B", "KiB", "MiB", "GiB"):
        if size < 1024 or unit == "GiB":
            break
        size /= 1024
    return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"


def algorithms_table(entries: list[dict[str, Any]], axis: str, budget: float) -> Table:
    """What each algorithm has run and spent, and how often it led at the end."""
    from rich.markup import escape

    with_first = any(entry.get("first_at_end") is not None for entry in entries)
    first = [f"best at {axis} {budget:g}#"] if with_first else []
    made = table(
        "algorithm", "runs#", "failed#", "ended early#", "evaluations#", "seconds#", *first
    )
    for entry in entries:
        cells = [
            escape(entry["algorithm"]),
            f"{entry['runs']}",
            f"{entry['failed']}",
            f"{entry['ended']}",
            f"{entry['evaluations']:,}",
            f"{entry['seconds']:,.1f}",
        ]
        if with_first:
            cells.append(
                f"{entry['first_at_end']:.0%}" if entry["first_at_end"] is not None else ""
            )
        made.add_row(*cells)
    return made


def failure_lines(failures: list[dict[str, Any]], most: int = 5) -> list[str]:
    """The failures that happened most, each in a line or two."""
    lines = [
        f"{failure['runs']} x {failure['algorithm']} {failure['status']}: {failure['message']} "
        f"(first on {failure['example']})"
        for failure in failures[:most]
    ]
    if len(failures) > most:
        lines.append(f"and {len(failures) - most} more kinds of failure: see --json")
    return lines
