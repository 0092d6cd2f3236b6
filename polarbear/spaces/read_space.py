"""Reads the space of an algorithm: from a file, or from the configuration itself."""

from collections.abc import Mapping
from pathlib import Path

from polarbear.settings.options import KeyPath, Source
from polarbear.settings.yaml_lines import read_yaml
from polarbear.spaces.configspace_files import ENDINGS, read_configspace
from polarbear.spaces.inline_space import read_inline_space
from polarbear.spaces.irace_parameters import read_irace_parameters
from polarbear.spaces.space import Space

YAML_ENDINGS = (".yaml", ".yml")


def read_space(
    space: str | Mapping[str, object], folder: str, source: Source, path: KeyPath
) -> Space:
    """The space in a file beside the configuration, or in a mapping; errors name the key's line.

    A file that ends in .json or .pcs is read through ConfigSpace, one that ends in .yaml has the
    keys of a mapping, and any other one is irace's parameter file.
    """
    if not isinstance(space, str):
        return read_inline_space(space, source, path)
    file = Path(folder) / space
    if file.suffix in YAML_ENDINGS:
        data, source_of_file = read_yaml(file)
        if not isinstance(data, Mapping):
            raise source.error(path, f"{file} has no mapping of parameters")
        return read_inline_space(data, source_of_file, ())
    try:
        if file.suffix in ENDINGS:
            return read_configspace(file)
        return read_irace_parameters(file)
    except ValueError as error:
        raise source.error(path, str(error)) from None
