"""Names that options take: those of plug-ins, and the algorithms of a store or a configuration.

Each function imports the room that it asks and no other, since the command line calls it before a
command begins, and while a shell completes a word.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from polarbear.errors import ConfigError, ReportError

if TYPE_CHECKING:
    from polarbear.settings.registry import Registry as Registry


def models() -> Registry[Any]:
    """The models of inference."""
    from polarbear.inference.models import MODELS

    return MODELS


def formats() -> Registry[Any]:
    """The formats of data that can be imported."""
    from polarbear.formats import FORMATS

    return FORMATS


def logs() -> Registry[Any]:
    """The logs of solvers that can be read."""
    from polarbear.algorithms.solver_logs import LOGS

    return LOGS


def exports() -> Registry[Any]:
    """The formats that can be written."""
    from polarbear.formats import EXPORTS

    return EXPORTS


def preferences() -> Registry[Any]:
    """The kinds of preferences."""
    from polarbear.selection.preference import PREFERENCES

    return PREFERENCES


def figures() -> Registry[Any]:
    """The figures of a report on one store."""
    from polarbear.report.figures import FIGURES

    return FIGURES


def figures_of_several_stores() -> list[str]:
    """The figures of a report that compares stores."""
    from polarbear.report.stores.comparison_figures import FIGURES_OF_STORES

    return list(FIGURES_OF_STORES)


def check_registered(registry: Registry[Any], name: str) -> None:
    """Raise an error unless a registry has the name."""
    if name not in registry:
        raise ConfigError(registry.refusal(name))


def check_figures(names: Sequence[str], of_several_stores: bool) -> None:
    """Raise an error unless all names are figures of one store or, if asked, of several."""
    if not of_several_stores:
        for name in names:
            check_registered(figures(), name)
        return
    from polarbear.settings.options import unknown

    for name in names:
        if name not in figures_of_several_stores():
            message = unknown("figure of several stores", name, figures_of_several_stores())
            raise ReportError(message)


def check_preference(words: str) -> None:
    """Raise an error unless words name a preference; its times are checked with the store."""
    from polarbear.selection.preference_parsing import check_words

    check_words(words)


def algorithms_of_store(folder: Path) -> list[str]:
    """The algorithms whose runs a store has."""
    from polarbear.api import store_handle

    return list(store_handle.open(folder).algorithms)


def features_of_store(folder: Path) -> list[str]:
    """The features of the instances of a store."""
    from polarbear.facts.features import features
    from polarbear.store import StoreOnDisk

    return list(features(StoreOnDisk.open(folder)).names)


def algorithms_of_config(file: Path) -> list[str]:
    """The algorithms that a configuration names, even if it is not valid otherwise."""
    from polarbear.settings.yaml_lines import read_yaml

    config, _ = read_yaml(file)
    entries = config.get("algorithms") if isinstance(config, Mapping) else None
    if not isinstance(entries, list):
        return []
    return [str(entry["name"]) for entry in entries if isinstance(entry, Mapping)]
