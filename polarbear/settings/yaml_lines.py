"""Reads YAML safely, and keeps the line of every key for error messages.

The result contains only text, numbers, booleans, None, lists, and mappings whose keys are text.
Dates remain text. Input that is too large, too deep or recursive is refused before it costs time
or memory.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml

from polarbear.errors import ConfigError
from polarbear.settings import options
from polarbear.wording import visible

MAX_FILE_BYTES = 1 * 2**20
MAX_NODES = 50_000  # keys and values, including repetitions by aliases
MAX_DEPTH = 40
MAX_NUMBER_CHARACTERS = sys.float_info.max_10_exp + 1

_STANDARD = "tag:yaml.org,2002:"
_KINDS = {"str", "int", "float", "bool", "null", "seq", "map", "merge"}


def read_yaml(path: Path) -> tuple[Any, options.Source]:
    """Read a file into plain objects; return them and the lines of their keys."""
    try:
        with path.open("rb") as file:
            data = file.read(MAX_FILE_BYTES + 1)
        text = data.decode("utf-8-sig")
    except OSError as error:
        raise ConfigError(f"cannot read {path}: {error.strerror}") from None
    except ValueError:  # not UTF-8, or an invalid path
        raise ConfigError(f"{path} is not a text file in UTF-8") from None
    if len(data) > MAX_FILE_BYTES:
        raise ConfigError(
            f"{path} is larger than {MAX_FILE_BYTES // 2**20} MiB; move long lists into "
            "a separate file, such as 'listed_in' of the suite 'files'"
        )
    return parse_yaml(text, str(path))


def parse_yaml(text: str, name: str) -> tuple[Any, options.Source]:
    """Parse text into plain objects; return them and the lines of their keys."""
    source = options.Source(name)
    try:
        loader = _Loader(text)
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise ConfigError(
            f"{name}, line {line}: the character U+{int(error.character):04X} is not allowed in "
            "YAML"
        ) from None
    try:
        node = loader.get_single_node()
        if node is None:
            raise ConfigError(f"{name} is empty; `polarbear init` writes one to start from")
        _Walk(source).note(node, ())
        return loader.construct_document(node), source
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"{name}, line {mark.line + 1}" if mark else name
        problem = str(getattr(error, "problem", None) or error).partition("\n")[0]
        raise ConfigError(f"{where}: not valid YAML: {visible(problem)}") from None
    except ValueError as error:  # raised by PyYAML for an escape like \U99999999
        where = f"{name}, line {loader.line + 1}"
        raise ConfigError(f"{where}: not valid YAML: {visible(str(error))}") from None
    finally:
        loader.dispose()


class _Loader(yaml.SafeLoader):
    """PyYAML's safe loader with limits, and without types that configurations do not use."""

    def __init__(self, text: str) -> None:
        self._depth = self._nodes = 0
        super().__init__(text)

    def compose_node(self, parent: Any, index: Any) -> Any:
        self._depth += 1
        self._nodes += 1
        mark = self.peek_event().start_mark  # type: ignore[no-untyped-call]
        if self._depth > MAX_DEPTH:
            raise _refused(f"more than {MAX_DEPTH} levels of lists and mappings", mark)
        if self._nodes > MAX_NODES:
            raise _refused(f"more than {MAX_NODES} keys and values", mark)
        node = super().compose_node(parent, index)
        self._depth -= 1
        return node

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        self.flatten_mapping(node)
        return {
            str(key.value): self.construct_object(value, deep=deep) for key, value in node.value
        }


def _number(kind: str) -> Callable[[_Loader, yaml.ScalarNode], Any]:
    """A constructor of numbers that reports invalid ones and limits their length."""
    construct: Any = getattr(yaml.SafeLoader, f"construct_yaml_{kind}")

    def constructed(loader: _Loader, node: yaml.ScalarNode) -> Any:
        if len(node.value) > MAX_NUMBER_CHARACTERS:
            raise _refused(f"a number of {len(node.value)} characters", node.start_mark)
        try:
            value = construct(loader, node)
            if not math.isnan(value):  # OverflowError if it is too large for a float
                return value
        except (ValueError, OverflowError, KeyError, IndexError):
            pass
        raise _refused(f"'{node.value}' is not a number", node.start_mark) from None

    return constructed


def _truth(loader: _Loader, node: yaml.ScalarNode) -> bool:
    try:
        return loader.construct_yaml_bool(node)
    except KeyError:
        raise _refused(f"'{node.value}' is neither true nor false", node.start_mark) from None


_Loader.add_constructor(f"{_STANDARD}int", _number("int"))
_Loader.add_constructor(f"{_STANDARD}float", _number("float"))
_Loader.add_constructor(f"{_STANDARD}bool", _truth)
_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in known if tag.removeprefix(_STANDARD) in _KINDS]
    for first, known in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def _refused(problem: str, mark: Any) -> yaml.MarkedYAMLError:
    return yaml.MarkedYAMLError(problem=problem, problem_mark=mark)


class _Walk:
    """Checks the tree and notes lines before it becomes plain objects, which have none."""

    def __init__(self, source: options.Source) -> None:
        self._source = source
        self._nodes = 0
        self._around: set[int] = set()

    def note(self, node: yaml.Node, path: options.Path) -> None:
        """Note the lines of a node and of all nodes in it; refuse invalid ones."""
        self._source.lines.setdefault(path, node.start_mark.line + 1)
        self._check(node, path)
        self._around.add(id(node))
        if isinstance(node, yaml.SequenceNode):
            for position, item in enumerate(node.value):
                self.note(item, (*path, position))
        elif isinstance(node, yaml.MappingNode):
            self._keys(node, path)
        self._around.remove(id(node))

    def _check(self, node: yaml.Node, path: options.Path) -> None:
        self._nodes += 1
        if id(node) in self._around:
            raise self._source.error(path, "an alias refers to a node that contains it")
        if self._nodes > MAX_NODES or len(self._around) > MAX_DEPTH:
            raise self._source.error(path, "aliases repeat more than is allowed")
        if node.tag.removeprefix(_STANDARD) not in _KINDS:
            tag = visible(node.tag.replace(_STANDARD, "!!"))
            raise self._source.error(path, f"not valid YAML here: the tag {tag} has no meaning")
        if isinstance(node, yaml.ScalarNode):
            self._check_text(node.value, path)

    def _check_text(self, text: str, path: options.Path) -> None:
        if text.isprintable():
            return
        for sign in text:
            # Control characters other than line breaks and tabs, and surrogates.
            if (sign < " " and sign not in "\t\n\r") or "\x7f" <= sign <= "\x9f":
                raise self._source.error(path, f"the control character U+{ord(sign):04X}")
            if "\ud800" <= sign <= "\udfff":
                raise self._source.error(path, f"the surrogate U+{ord(sign):04X}")

    def _keys(self, node: yaml.MappingNode, path: options.Path) -> None:
        seen: set[str] = set()
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise self._source.error(path, "found a list or a mapping, expected a key")
            name = visible(key.value)
            here = (*path, name)
            self._source.lines[here] = key.start_mark.line + 1
            self._check(key, here)
            if name in seen:  # YAML would silently use the second
                raise self._source.error(here, f"the key '{name}' is repeated here")
            seen.add(name)
            self.note(value, here)
