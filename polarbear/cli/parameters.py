"""Parameters that several commands share: the type, the name and the help text of each.

A value that belongs to a fixed set is an enumeration. A name that a registry with plug-ins knows is
a text that a callback checks. An unknown value of either is refused before a store is opened.
"""

import difflib
from collections.abc import Callable, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from polarbear.api import option_names
from polarbear.api.choices import ExecutionEngine, InferenceEngine, Method, Theme
from polarbear.cli import completion, output
from polarbear.errors import ReportError
from polarbear.records import Facts

if TYPE_CHECKING:
    from polarbear.api.option_names import Registry

Choice = TypeVar("Choice", bound=StrEnum)


def member_of(enumeration: type[Choice]) -> Callable[[str], Choice]:
    """The parser of an option whose values are those of an enumeration.

    Typer's own parser lists the values. This one also suggests the nearest.
    """
    values = [member.value for member in enumeration]

    def parse(text: str) -> Choice:
        if text in values:
            return enumeration(text)
        listed = f"'{text}' is not one of {', '.join(values)}"
        nearest = difflib.get_close_matches(text, values, n=1)
        if nearest:
            raise typer.BadParameter(f"{listed}; did you mean '{nearest[0]}'?")
        raise typer.BadParameter(listed)

    return parse


def known_to(registry: "Callable[[], Registry[Any]]") -> Callable[[str | None], str | None]:
    """The callback of an option that takes a name in a registry: it refuses other names."""

    def check(name: str | None) -> str | None:
        if name is not None:
            option_names.check_registered(registry(), name)
        return name

    return check


def check_preference(words: str | None) -> str | None:
    """The callback of an option that takes a preference: it refuses unknown names."""
    if words is not None:
        option_names.check_preference(words)
    return words


def check_preferences(texts: list[str] | None) -> list[str] | None:
    """The callback of an option that takes preferences: it refuses unknown names."""
    for words in texts or ():
        option_names.check_preference(words)
    return texts


def separated(text: str | None) -> list[str] | None:
    """Names that are separated by commas."""
    if text is None:
        return None
    return [name.strip() for name in text.split(",")]


def two_names(text: str, algorithms: Sequence[str]) -> tuple[str, str]:
    """Two names of algorithms that are separated by a comma; the names may contain commas."""
    commas = [position for position, sign in enumerate(text) if sign == ","]
    splits = [(text[:comma].strip(), text[comma + 1 :].strip()) for comma in commas]
    splits_into_algorithms = [pair for pair in splits if set(pair) <= set(algorithms)]
    candidates = splits_into_algorithms or splits
    if len(candidates) != 1:
        raise ReportError(
            f"--pair takes two algorithms separated by a comma, found '{text}'; known: "
            f"{', '.join(algorithms)}"
        )
    return candidates[0]


def settings_of(texts: Sequence[str] | None) -> Facts:
    """The options that --set gives as texts KEY=VALUE."""
    if not texts:
        return {}
    from polarbear.api.configurations import parse_settings

    return parse_settings(texts)


# Parameters of every command. `main` reads --debug itself, because errors end a command.
Quiet = Annotated[
    bool,
    typer.Option("--quiet", "-q", callback=output.set_quiet, help="No progress, no notes."),
]
Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")]

# Files and folders.
ConfigFile = Annotated[Path, typer.Argument(metavar="CONFIG", help="A configuration in YAML.")]
StoreFolder = Annotated[Path, typer.Argument(metavar="STORE", help="The folder of a store.")]
StoreOption = Annotated[
    Path | None,
    typer.Option(
        "--store", metavar="DIR", help="The store; by default named after CONFIG, next to it."
    ),
]
PngFolder = Annotated[
    Path | None, typer.Option("--png", metavar="DIR", help="Draw figures as PNG.")
]
CsvFolder = Annotated[
    Path | None, typer.Option("--csv", metavar="DIR", help="Write the figures' data.")
]
PngFile = Annotated[Path | None, typer.Option("--png", metavar="FILE", help="Also draw it as PNG.")]
SvgFile = Annotated[Path | None, typer.Option("--svg", metavar="FILE", help="Also draw it as SVG.")]

PageFile = Annotated[
    Path | None,
    typer.Option(
        "--page",
        metavar="FILE",
        help="Write the report's page after each round; an open page follows.",
    ),
]

# Results.
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as one JSON object.")]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Print more details.")]
Force = Annotated[bool, typer.Option("--force", help="Overwrite existing files.")]

# Execution of algorithms.
Workers = Annotated[
    int | None,
    typer.Option("--workers", min=1, help="Runs at once; by default one for each core."),
]
Seed = Annotated[
    int | None,
    typer.Option("--seed", min=0, help="Use this seed instead of the configuration's."),
]
Engine = Annotated[
    ExecutionEngine | None,
    typer.Option(
        "--engine",
        parser=member_of(ExecutionEngine),
        help="Run in processes of this machine, or on a cluster.",
    ),
]
Scheduler = Annotated[
    str | None,
    typer.Option("--scheduler", metavar="ADDRESS", help="The Dask scheduler, as tcp://HOST:PORT."),
]
MixHosts = Annotated[
    bool, typer.Option("--mix-hosts", help="Mix seconds that different machines have measured.")
]
Rerun = Annotated[
    list[str] | None,
    typer.Option(
        "--rerun",
        metavar="NAME",
        autocompletion=completion.algorithms_and_all,
        help="Repeat the runs of this algorithm, since its code has changed; 'all' stands for "
        "every algorithm whose code has changed. May be given several times.",
    ),
]
Keep = Annotated[
    list[str] | None,
    typer.Option(
        "--keep",
        metavar="NAME",
        autocompletion=completion.algorithms_and_all,
        help="Keep the runs of this algorithm although its code has changed; 'all' stands for "
        "every algorithm whose code has changed. May be given several times.",
    ),
]
RetryFailed = Annotated[bool, typer.Option("--retry-failed", help="Repeat runs that failed.")]

# Contents of a store.
RaceNumber = Annotated[
    int | None, typer.Option("--race", min=1, metavar="N", help="Show the earlier race N.")
]
Algorithms = Annotated[
    str | None,
    typer.Option(
        "--algorithms",
        metavar="A,B,C",
        autocompletion=completion.algorithms_after_commas,
        help="Only these algorithms, separated by commas.",
    ),
]
Pair = Annotated[
    str | None,
    typer.Option(
        "--pair",
        metavar="A,B",
        autocompletion=completion.algorithms_after_commas,
        help="Two algorithms, separated by a comma.",
    ),
]

# Posteriors.
KeptModel = Annotated[
    str | None,
    typer.Option(
        "--model",
        metavar="NAME",
        autocompletion=completion.models,
        help="Use the newest posterior of this model.",
    ),
]
Model = Annotated[
    str | None,
    typer.Option(
        "--model",
        metavar="NAME",
        callback=known_to(option_names.models),
        autocompletion=completion.models,
        help="The model: empirical, which is the default, or a prior over Plackett-Luce ratings "
        "in time: dirichlet, hierarchical, gp, sparse-gp, hsgp, random-walk, bspline.",
    ),
]
Sampler = Annotated[
    InferenceEngine | None,
    typer.Option("--engine", parser=member_of(InferenceEngine), help="The engine of inference."),
]
SamplingMethod = Annotated[
    Method | None,
    typer.Option(
        "--method",
        parser=member_of(Method),
        help="Both engines have auto, mcmc and laplace; native also split-hmc, and stan also "
        "pathfinder, advi-meanfield and advi-fullrank.",
    ),
]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Any other option, as in lengthscale.scale=2. May be given several times.",
    ),
]

Feature = Annotated[
    str | None,
    typer.Option(
        "--by",
        metavar="FEATURE",
        autocompletion=completion.features,
        help="Answer for each group of problems by this feature: 'dimension', or with the ends "
        "of bins, 'dimension:5,20'.",
    ),
]

# The look of figures.
FigureTheme = Annotated[
    Theme, typer.Option("--theme", parser=member_of(Theme), help="The colours of figures.")
]
FigureWidth = Annotated[
    str,
    typer.Option(
        "--width",
        help="The width of figures: that of a single or double column of a paper, or a length "
        "with its unit, such as 12cm or 5in.",
    ),
]
