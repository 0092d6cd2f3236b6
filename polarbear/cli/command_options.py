"""Options that several commands share, and the class of all commands."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import Annotated, Any, get_type_hints

from typer import Argument, Option
from typer.core import TyperCommand

from polarbear import api
from polarbear.cli import output
from polarbear.errors import ReportError

_REGISTRY_PLACEHOLDER = r"\{([a-z]+)(\.about)?\}"

ConfigFile = Annotated[
    Path, Argument(metavar="CONFIG", help="A configuration in YAML; `polarbear init` writes one.")
]
StoreFolder = Annotated[Path, Argument(metavar="STORE", help="The folder of a store.")]
StoreOption = Annotated[
    Path | None,
    Option("--store", metavar="DIR", help="The store; by default named after CONFIG, next to it."),
]
Seed = Annotated[
    int | None, Option("--seed", min=0, help="Use this seed instead of the configuration's.")
]
Workers = Annotated[
    int | None, Option(min=1, help="Number of runs at once; by default one a core.")
]
Engine = Annotated[
    str | None,
    Option(
        metavar="local|dask",
        help="Execute runs in processes of this machine, or on workers of a Dask cluster.",
    ),
]
Scheduler = Annotated[
    str | None, Option(metavar="ADDRESS", help="The Dask scheduler, as tcp://HOST:PORT.")
]
MixHosts = Annotated[
    bool, Option("--mix-hosts", help="Mix seconds that different machines have measured.")
]
Rerun = Annotated[
    list[str] | None,
    Option(
        metavar="NAME",
        help="Repeat the runs of this algorithm, whose code has changed; 'all' for every one.",
    ),
]
Keep = Annotated[
    list[str] | None,
    Option(metavar="NAME", help="Keep the runs of this algorithm although its code has changed."),
]
RaceNumber = Annotated[
    int | None, Option("--race", min=1, metavar="N", help="Show the earlier race N of the store.")
]
RetryFailed = Annotated[bool, Option("--retry-failed", help="Repeat runs that failed.")]
Algorithms = Annotated[
    str | None, Option("--algorithms", metavar="A,B,C", help="Only these, separated by commas.")
]
Model = Annotated[str | None, Option(help="Use the newest posterior of this model.")]
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
Verbose = Annotated[bool, Option("-v", "--verbose", help="Print more details.")]


Quiet = Annotated[bool, Option("-q", "--quiet", help="No progress, no notes.")]
Debug = Annotated[bool, Option("--debug", help="Show the traceback of an error.")]


class Command(TyperCommand):
    """A command whose help may contain '{models}' for names, '{formats.about}' for descriptions."""

    def format_help(self, *arguments: Any) -> None:
        self.help = _filled(self.help)
        for parameter in self.params:
            if getattr(parameter, "help", None):
                parameter.help = _filled(parameter.help)  # type: ignore[attr-defined]
        super().format_help(*arguments)


def with_quiet_and_debug(function: Callable[..., None]) -> Callable[..., None]:
    """A command with the options that all commands have; `main` reads --debug."""

    @wraps(function)
    def command(quiet: bool, debug: bool, **options: Any) -> None:
        output.set_quiet(quiet)
        function(**options)

    hints = {**get_type_hints(function, include_extras=True), "quiet": Quiet, "debug": Debug}
    added = [Parameter(name, Parameter.KEYWORD_ONLY, default=False) for name in ("quiet", "debug")]
    options = [*signature(function).parameters.values(), *added]
    annotated = [option.replace(annotation=hints[option.name]) for option in options]
    command.__signature__ = Signature(annotated)  # type: ignore[attr-defined]
    command.__annotations__ = hints
    return command


def _filled(text: str | None) -> str | None:
    return text and re.sub(_REGISTRY_PLACEHOLDER, _listed, text)


def _listed(place: re.Match[str]) -> str:
    if place[1] not in api.registries.REGISTRIES:
        return place[0]
    known = api.registries.registry(place[1])
    if place[2]:
        return "\n\n".join(f"{entry}: {known.about(entry)}" for entry in known)
    return ", ".join(known)


def names(text: str | None) -> list[str] | None:
    """Names separated by commas, if any were given."""
    return None if text is None else [name.strip() for name in text.split(",")]


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


def settings(given: list[str] | None, flags: Mapping[str, Any]) -> dict[str, Any]:
    """Options from flags and from ``--set KEY=VALUE``."""
    if not given:
        return dict(flags)
    return api.configurations.with_settings(flags, given)
