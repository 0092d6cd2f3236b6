"""Values that a shell offers for an option when the user presses the tab key.

A shell that gets no value offers the names of files. An error while values are looked up only means
that there is none to offer, since a message would disturb the line that is being typed.
"""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

import typer

from polarbear.api import option_names

REQUEST = "_POLARBEAR_COMPLETE"  # the variable with the request of a shell, as Typer names it
REQUEST_OF_BASH = "complete_bash"
SPECIAL_IN_BASH = re.compile(r"([^\w@%+=:,./-])")
EVERY_OTHER = "all"  # stands for all algorithms whose code has changed


def models() -> list[str]:
    """The models of inference."""
    return _names_or_none(option_names.models)


def formats() -> list[str]:
    """The formats of data that can be imported."""
    return _names_or_none(option_names.formats)


def logs() -> list[str]:
    """The logs of solvers that can be read."""
    return _names_or_none(option_names.logs)


def exports() -> list[str]:
    """The formats of data that can be exported."""
    return _names_or_none(option_names.exports)


def preferences() -> list[str]:
    """The names of preferences; most are followed by times."""
    return _names_or_none(option_names.preferences)


def figures(context: typer.Context) -> list[str]:
    """The figures of the stores on the command line."""
    if len(_paths(context)) > 1:
        return _names_or_none(option_names.figures_of_several_stores)
    return _names_or_none(option_names.figures)


def algorithms(context: typer.Context) -> list[str]:
    """The algorithms of the store or the configuration on the command line."""
    return [_as_typed(name) for name in _algorithms(context)]


def features(context: typer.Context) -> list[str]:
    """The features of the instances of the store on the command line."""
    paths = _paths(context)
    if not paths:
        return []
    return _names_or_none(partial(option_names.features_of_store, paths[0]))


def algorithms_and_all(context: typer.Context) -> list[str]:
    """The algorithms of the configuration on the command line, and the word for all of them."""
    return [*algorithms(context), EVERY_OTHER]


def algorithms_after_commas(context: typer.Context, incomplete: str) -> list[str]:
    """A list of names separated by commas, continued by each algorithm that it does not have."""
    complete_part, comma, _ = incomplete.rpartition(",")
    names_before = [name.strip() for name in complete_part.split(",")]
    further_names = [name for name in _algorithms(context) if name not in names_before]
    return [f"{complete_part}{comma}{_as_typed(name)}" for name in further_names]


def _algorithms(context: typer.Context) -> list[str]:
    """The names of algorithms in the first store or configuration on the command line."""
    paths = _paths(context)
    if not paths:
        return []
    if paths[0].is_dir():
        return _names_or_none(partial(option_names.algorithms_of_store, paths[0]))
    return _names_or_none(partial(option_names.algorithms_of_config, paths[0]))


def _paths(context: typer.Context) -> list[Path]:
    """The stores or configurations on the command line, whose last word is not complete.

    Typer assigns words to parameters up to an option that lacks its value. Words that it has not
    assigned are the arguments of the context.
    """
    for name in ("stores", "configs"):
        if context.params.get(name):
            return list(map(Path, context.params[name]))
    for name in ("store", "config"):
        if context.params.get(name):
            return [Path(context.params[name])]
    return list(map(Path, context.args))


def _names_or_none(look_up: Callable[[], Iterable[str]]) -> list[str]:
    """The names that a function returns, or none if it fails; its warnings are not printed."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return list(look_up())
        except Exception:  # a damaged store or an invalid file may raise anything
            return []


def _as_typed(name: str) -> str:
    """A name as it has to be typed; other shells than Bash escape it themselves."""
    if os.environ.get(REQUEST) != REQUEST_OF_BASH:
        return name
    return SPECIAL_IN_BASH.sub(r"\\\1", name)
