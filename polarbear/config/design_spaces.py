"""Algorithms with a space: the configurations of it that a race begins with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from polarbear.algorithms import Algorithm, irace
from polarbear.errors import ConfigError
from polarbear.settings.options import KeyPath, Source
from polarbear.spaces import Space, Values, read_space
from polarbear.spaces.irace_parameters import value_of_text


@dataclass(frozen=True)
class Design:
    """A configuration of an algorithm's space: the algorithm's name, and the values."""

    algorithm: str
    values: Values


@dataclass(frozen=True)
class DesignSpace:
    """The space of an algorithm, which makes an algorithm of each of its configurations."""

    algorithm: Algorithm
    space: Space

    def configured(self, name: str, values: Mapping[str, object]) -> Algorithm:
        """The algorithm with these values; a ValueError or ConfigError says why it cannot be."""
        return self.algorithm.configured(name, self.space.checked(values), self.space)


@dataclass(frozen=True)
class ConfiguredAlgorithms:
    """The algorithms that an entry with a space stands for."""

    design_space: DesignSpace
    algorithms: tuple[Algorithm, ...]
    designs: Mapping[str, Design]


def configured_algorithms(
    algorithm: Algorithm, folder: str, source: Source, path: KeyPath
) -> ConfiguredAlgorithms:
    """The algorithm with the defaults of its space, and one for each given configuration."""
    if algorithm.space is None:
        raise source.error(
            (*path, "given"), "'given' are configurations of a 'space', which is not given"
        )
    space = read_space(algorithm.space, folder, source, (*path, "space"))
    design_space = DesignSpace(algorithm, space)
    try:
        values = space.checked(algorithm.own_values(space))
        # The label stays, since this is the algorithm that the entry names.
        first = design_space.configured(algorithm.name, values)
        first = first.model_copy(update={"label": algorithm.label})
    except (ValueError, ConfigError) as error:
        raise source.error((*path, "space"), f"the default configuration: {error}") from None
    algorithms = [first]
    designs = {algorithm.name: Design(algorithm.name, values)}
    try:
        configurations = _given(algorithm.given, folder)
    except ValueError as error:
        raise source.error((*path, "given"), str(error)) from None
    for number, configuration in enumerate(configurations, 1):
        name = f"{algorithm.name} {number}"
        try:
            values = space.checked(configuration)
            algorithms.append(design_space.configured(name, values))
        except (ValueError, ConfigError) as error:
            raise source.error((*path, "given", number - 1), str(error)) from None
        designs[name] = Design(algorithm.name, values)
    return ConfiguredAlgorithms(design_space, tuple(algorithms), designs)


def _given(given: str | list[dict[str, Any]] | None, folder: str) -> list[dict[str, Any]]:
    """The given configurations; a ValueError says why a file has none."""
    if not isinstance(given, str):
        return given or []
    return [
        {name: value_of_text(text) for name, text in row.items() if not irace.is_unset(name, text)}
        for row in irace.table_rows(Path(folder) / given)
    ]
