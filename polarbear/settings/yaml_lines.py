"""Reads YAML safely, and keeps the line of every key for error messages.

The result contains only text, numbers, booleans, None, lists, and mappings whose keys are text.
Dates remain text. Input that is too large, too deep or recursive is refused before it costs time
or memory.
"""

import math
import sys
from pathlib import Path
from typing import Any
from unicodedata import category

import yaml

from polarbear.errors import ConfigError
from polarbear.settings import options
from polarbear.wording import visible

MAX_FILE_BYTES = 1 * 2**20
MAX_NODES = 50_000  # keys and values, including repetitions by aliases
MAX_DEPTH = 40
MAX_NUMBER_CHARACTERS = sys.float_info.max_10_exp + 1

_STANDARD = "tag:yaml.org,2002:"
_EXPECTED = {"int": "a number", "float": "a number", "bool": "true or false", "null": "empty"}
_KINDS = {"str", "int", "float", "bool", "null", "seq", "map", "merge"}
_RESOLVERS = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag.removeprefix(_STANDARD) in _KINDS]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


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
        loader = _Loader(text, source)
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
        return loader.plain(node, ()), source
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        origin = f"{name}, line {mark.line + 1}" if mark else name
        problem = str(getattr(error, "problem", None) or error).partition("\n")[0]
        raise ConfigError(f"{origin}: not valid YAML: {visible(problem)}") from None
    except ValueError as error:  # raised by PyYAML for an escape like \U99999999
        origin = f"{name}, line {loader.line + 1}"
        raise ConfigError(f"{origin}: not valid YAML: {visible(str(error))}") from None
    finally:
        loader.dispose()


class _Loader(yaml.SafeLoader):
    """PyYAML's safe loader with limits, and without types that configurations do not use.

    It converts nodes to plain objects, which have no lines, and notes the lines of their keys.
    """

    def __init__(self, text: str, source: options.Source) -> None:
        self.yaml_implicit_resolvers = _RESOLVERS
        self._source = source
        self._depth = self._nodes = self._converted = 0
        self._around: set[int] = set()  # nodes that contain the one that is being converted
        super().__init__(text)

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
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

    def plain(self, node: yaml.Node, path: options.KeyPath) -> object:
        """The object of a node; invalid ones are refused."""
        self._source.lines.setdefault(path, node.start_mark.line + 1)
        self._converted += 1
        if id(node) in self._around:
            raise self._source.error(path, "an alias refers to a node that contains it")
        if self._converted > MAX_NODES or len(self._around) > MAX_DEPTH:
            raise self._source.error(path, "aliases repeat more than is allowed")
        kind = node.tag.removeprefix(_STANDARD)
        if kind not in _KINDS:
            tag = visible(node.tag.replace(_STANDARD, "!!"))
            raise self._source.error(path, f"not valid YAML here: the tag {tag} has no meaning")
        if isinstance(node, yaml.ScalarNode):
            return self._scalar(node.value, kind, node, path)
        self._around.add(id(node))
        collection: object
        if isinstance(node, yaml.MappingNode):
            collection = self._mapping(node, path)
        else:
            collection = [self.plain(item, (*path, k)) for k, item in enumerate(node.value)]
        self._around.remove(id(node))
        return collection

    def _scalar(self, text: str, kind: str, node: yaml.ScalarNode, path: options.KeyPath) -> object:
        for character in text:
            if category(character) in ("Cc", "Cs") and character not in "\t\n\r":
                kind_of_flaw = "control character" if category(character) == "Cc" else "surrogate"
                raise self._source.error(path, f"the {kind_of_flaw} U+{ord(character):04X}")
        if kind not in _EXPECTED:
            return text
        if len(text) > MAX_NUMBER_CHARACTERS:
            raise self._source.error(path, f"a number of {len(text)} characters")
        try:
            value = getattr(self, f"construct_yaml_{kind}")(node)
            if value is None or not math.isnan(value):  # OverflowError if too large for a float
                return value
        except (ValueError, OverflowError, KeyError, IndexError):
            pass
        raise self._source.error(path, f"'{text}' is not {_EXPECTED[kind]}")

    def _mapping(self, node: yaml.MappingNode, path: options.KeyPath) -> dict[str, object]:
        mapping: dict[str, object] = {}
        merged: dict[str, object] = {}
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise self._source.error(path, "found a list or a mapping, expected a key")
            key_path = (*path, visible(key.value))
            self._source.lines[key_path] = key.start_mark.line + 1
            self._scalar(key.value, "str", key, key_path)
            if key.value in mapping:  # YAML would silently use the second
                raise self._source.error(key_path, f"the key '{key_path[-1]}' is repeated here")
            mapping[key.value] = self.plain(value, key_path)
            if key.tag == f"{_STANDARD}merge":
                parts = mapping.pop(key.value)
                for part in reversed(parts) if isinstance(parts, list) else [parts]:
                    if not isinstance(part, dict):
                        raise self._source.error(key_path, "expected a mapping to merge")
                    merged |= part
        return {**merged, **mapping}


def _refused(problem: str, mark: Any) -> yaml.MarkedYAMLError:
    return yaml.MarkedYAMLError(problem=problem, problem_mark=mark)
