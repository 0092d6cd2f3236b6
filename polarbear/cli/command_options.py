"""Options that several commands share, and the class of all commands."""

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click
from click import option

from polarbear import api
from polarbear.cli import output
from polarbear.errors import ReportError
from polarbear.records import Facts

_REGISTRY_PLACEHOLDER = r"\{([a-z]+)(\.about)?\}"

AT_LEAST_0, AT_LEAST_1 = click.IntRange(0), click.IntRange(1)

Decorator = Callable[[Callable[..., None]], Callable[..., None]]


def flag(name: str, help: str, *more: str) -> Decorator:
    """An option without a value; ``more`` are a short form or the name of its parameter."""
    return option(*more, name, is_flag=True, help=help)


def path(name: str, metavar: str, help: str) -> Decorator:
    """An option that names a file or a folder."""
    return option(name, type=Path, metavar=metavar, help=help)


def several(name: str, help: str) -> Decorator:
    """An option with a name that may be given several times."""
    return option(name, multiple=True, metavar="NAME", help=help)


def one_of(name: str, help: str, *values: str) -> Decorator:
    """An option with one of these values; the first is the default."""
    return option(name, default=values[0], type=click.Choice(values), help=help)


def names(text: str) -> list[str]:
    """Names separated by commas."""
    return [name.strip() for name in text.split(",")]


def two_names(text: str, known: Sequence[str]) -> tuple[str, str]:
    """Two names separated by a comma; the names may contain commas."""
    commas = [place for place, sign in enumerate(text) if sign == ","]
    ways = [(text[:place].strip(), text[place + 1 :].strip()) for place in commas]
    meant = [way for way in ways if set(way) <= set(known)] or ways
    if len(meant) != 1:
        raise ReportError(
            f"--pair takes two algorithms separated by a comma, found '{text}'; known: "
            f"{', '.join(known)}"
        )
    return meant[0]


def _settings(context: click.Context, parameter: click.Parameter, given: Sequence[str]) -> Facts:
    return api.configurations.parse_settings(given) if given else {}


config_file = click.argument("config", type=Path)
store_folder = click.argument("store", type=Path)
store_option = path("--store", "DIR", "The store; by default named after CONFIG, next to it.")
workers = option("--workers", type=AT_LEAST_1, help="Runs at once; by default one for each core.")
seed = option("--seed", type=AT_LEAST_0, help="Use this seed instead of the configuration's.")
engine = option("--engine", metavar="local|dask", help="Run in processes here, or on a cluster.")
scheduler = option("--scheduler", metavar="ADDRESS", help="The Dask scheduler, as tcp://HOST:PORT.")
mix_hosts = flag("--mix-hosts", "Mix seconds that different machines have measured.")
rerun = several(
    "--rerun", "Repeat its runs, since its code has changed; 'all' for every other one."
)
keep = several("--keep", "Keep its runs although its code has changed; 'all' for every other one.")
retry_failed = flag("--retry-failed", "Repeat runs that failed.")
race_number = option("--race", type=AT_LEAST_1, metavar="N", help="Show the earlier race N.")
algorithms = option("--algorithms", type=names, metavar="A,B,C", help="Only these, with commas.")
model = option("--model", help="Use the newest posterior of this model.")
settings = option(
    "--set",
    "settings",
    multiple=True,
    metavar="KEY=VALUE",
    callback=_settings,
    help="Any other option, as in lengthscale.scale=2.",
)
theme = option("--theme", default="light", help="Of figures: light, dark or print.")
width = option("--width", default="double", help="Of figures: single, double (columns), 12cm, 5in.")
force = flag("--force", "Overwrite existing files.")
json = flag("--json", "Print the result as one JSON object.")
verbose = flag("--verbose", "Print more details.", "-v")


def execution(function: Callable[..., None]) -> Callable[..., None]:
    """The options of commands that run algorithms."""
    return workers(seed(engine(scheduler(function))))


class Command(click.Command):
    """A command with the options that all commands have; `main` reads --debug.

    Its help may contain '{models}' for names, '{formats.about}' for descriptions.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        more: Facts = {"is_flag": True, "expose_value": False}
        quiet, debug = "No progress, no notes.", "Show the traceback of an error."
        self.params += [
            click.Option(["-q", "--quiet"], callback=_set_quiet, help=quiet, **more),
            click.Option(["--debug"], help=debug, **more),
        ]

    def format_help(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        for part in (self, *self.params):
            if isinstance(part, click.Command | click.Option) and part.help:
                part.help = re.sub(_REGISTRY_PLACEHOLDER, _listed, part.help)
        super().format_help(context, formatter)


def _set_quiet(context: click.Context, parameter: click.Parameter, quiet: bool) -> None:
    output.set_quiet(quiet)


def _listed(place: re.Match[str]) -> str:
    known = api.registries.REGISTRIES.get(place[1])
    if known is None:
        return place[0]
    if place[2]:
        return "\n\n".join(f"{entry}: {known.about(entry)}" for entry in known)
    return ", ".join(known)


def command(function: Callable[..., None]) -> click.Command:
    """A command named after its function."""
    return click.command(cls=Command)(function)
