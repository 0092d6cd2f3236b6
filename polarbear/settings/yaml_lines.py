"""YAML read safely, with the line of every key kept for error messages."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from polarbear.errors import ConfigError
from polarbear.settings import options


def read_yaml(path: Path) -> tuple[Any, options.Source]:
    """The file's contents as plain objects, and where each key of it stands."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"cannot read {path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ConfigError(f"{path} is not a text file in UTF-8") from None
    return parse_yaml(text, str(path))


def parse_yaml(text: str, name: str) -> tuple[Any, options.Source]:
    source = options.Source(name)
    loader = yaml.SafeLoader(text)
    try:
        node = loader.get_single_node()
        if node is None:
            raise ConfigError(f"{name} is empty; `polarbear init` writes one to start from")
        _note_lines(node, (), source)
        return loader.construct_document(node), source
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"{name}, line {mark.line + 1}" if mark else name
        raise ConfigError(f"{where}: not valid YAML: {getattr(error, 'problem', error)}") from None
    finally:
        loader.dispose()


def _note_lines(node: yaml.Node, path: options.Path, source: options.Source) -> None:
    """Walk the tree before it becomes plain objects, since those no longer know their lines."""
    source.lines.setdefault(path, node.start_mark.line + 1)
    if isinstance(node, yaml.SequenceNode):
        for position, item in enumerate(node.value):
            _note_lines(item, (*path, position), source)
    elif isinstance(node, yaml.MappingNode):
        seen: set[str] = set()
        for key, value in node.value:
            name = str(key.value)
            here = (*path, name)
            source.lines[here] = key.start_mark.line + 1
            if name in seen:  # YAML itself would let the second silently win
                raise source.error(here, f"the key '{name}' stands here for the second time")
            seen.add(name)
            _note_lines(value, here, source)
