"""YAML read safely, with the line of every key kept for error messages.

Only what a configuration can mean comes out: text, numbers, yes or no, nothing, lists, and mappings
whose keys are text. Dates stay text. What is too large, too deep or refers to itself is refused
before it costs time or memory.
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

LARGEST_FILE = 1 * 2**20  # bytes
MOST_NODES = 50_000  # keys and values, those that aliases repeat counted each time
DEEPEST = 40
LONGEST_NUMBER = sys.float_info.max_10_exp + 1  # digits

_STANDARD = "tag:yaml.org,2002:"
_KINDS = {"str", "int", "float", "bool", "null", "seq", "map", "merge"}


def read_yaml(path: Path) -> tuple[Any, options.Source]:
    """The file's contents as plain objects, and where each key of it stands."""
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST_FILE + 1)
        text = data.decode("utf-8-sig")
    except OSError as error:
        raise ConfigError(f"cannot read {path}: {error.strerror}") from None
    except ValueError:  # not UTF-8; or a path that no file can have
        raise ConfigError(f"{path} is not a text file in UTF-8") from None
    if len(data) > LARGEST_FILE:
        raise ConfigError(
            f"{path} is larger than {LARGEST_FILE // 2**20} MiB; long lists belong into a file of "
            "their own, as 'listed_in' of the suite 'files' takes one"
        )
    return parse_yaml(text, str(path))


def parse_yaml(text: str, name: str) -> tuple[Any, options.Source]:
    """Text as plain objects, and where each key of it stands."""
    source = options.Source(name)
    try:
        loader = _Loader(text)
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise ConfigError(
            f"{name}, line {line}: the character U+{int(error.character):04X} cannot stand in YAML"
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
    except ValueError as error:  # of an escape like \U99999999, inside PyYAML
        where = f"{name}, line {loader.line + 1}"
        raise ConfigError(f"{where}: not valid YAML: {visible(str(error))}") from None
    finally:
        loader.dispose()


class _Loader(yaml.SafeLoader):
    """PyYAML's safe loader, bounded, and without the kinds of value that nothing here can mean."""

    def __init__(self, text: str) -> None:
        self._depth = self._nodes = 0
        super().__init__(text)

    def compose_node(self, parent: Any, index: Any) -> Any:
        self._depth += 1
        self._nodes += 1
        mark = self.peek_event().start_mark  # type: ignore[no-untyped-call]
        if self._depth > DEEPEST:
            raise _refused(f"more than {DEEPEST} levels of lists and mappings", mark)
        if self._nodes > MOST_NODES:
            raise _refused(f"more than {MOST_NODES} keys and values", mark)
        node = super().compose_node(parent, index)
        self._depth -= 1
        return node

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        self.flatten_mapping(node)
        return {
            str(key.value): self.construct_object(value, deep=deep) for key, value in node.value
        }


def _number(kind: str) -> Callable[[_Loader, yaml.ScalarNode], Any]:
    """A constructor of numbers that says what is wrong with one, and computes nothing large."""
    construct: Any = getattr(yaml.SafeLoader, f"construct_yaml_{kind}")

    def constructed(loader: _Loader, node: yaml.ScalarNode) -> Any:
        if len(node.value) > LONGEST_NUMBER:
            raise _refused(f"a number of {len(node.value)} characters", node.start_mark)
        try:
            value = construct(loader, node)
            if not math.isnan(value):  # of a whole number too large to be one: OverflowError
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
    """A walk through the tree before it becomes plain objects, which no longer know their lines."""

    def __init__(self, source: options.Source) -> None:
        self._source = source
        self._nodes = 0
        self._around: set[int] = set()

    def note(self, node: yaml.Node, path: options.Path) -> None:
        """Note the lines of a node and of all in it; refuse what cannot be meant."""
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
            raise self._source.error(path, "an alias refers to what it stands in")
        if self._nodes > MOST_NODES or len(self._around) > DEEPEST:
            raise self._source.error(path, "aliases repeat more than a configuration can hold")
        if node.tag.removeprefix(_STANDARD) not in _KINDS:
            tag = visible(node.tag.replace(_STANDARD, "!!"))
            raise self._source.error(path, f"not valid YAML here: the tag {tag} has no meaning")
        if isinstance(node, yaml.ScalarNode):
            self._check_text(node.value, path)

    def _check_text(self, text: str, path: options.Path) -> None:
        if text.isprintable():
            return
        for sign in text:
            # Controls other than line breaks and tabs, and halves of a character.
            if (sign < " " and sign not in "\t\n\r") or "\x7f" <= sign <= "\x9f":
                raise self._source.error(path, f"the control character U+{ord(sign):04X}")
            if "\ud800" <= sign <= "\udfff":
                raise self._source.error(path, f"half a character, U+{ord(sign):04X}")

    def _keys(self, node: yaml.MappingNode, path: options.Path) -> None:
        seen: set[str] = set()
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise self._source.error(path, "a list or a mapping stands where a key should")
            name = visible(key.value)
            here = (*path, name)
            self._source.lines[here] = key.start_mark.line + 1
            self._check(key, here)
            if name in seen:  # YAML itself would let the second silently win
                raise self._source.error(here, f"the key '{name}' stands here for the second time")
            seen.add(name)
            self.note(value, here)
