"""Invalid YAML is refused in one line, before it costs time or memory."""

from pathlib import Path

import pytest

from polarbear.errors import ConfigError
from polarbear.settings.yaml_lines import (
    MAX_DEPTH,
    MAX_FILE_BYTES,
    MAX_NODES,
    parse_yaml,
    read_yaml,
)

ALIASES = "a0: &a0 [x, x]\n" + "".join(
    f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 10)
)
MERGES = "a0: &a0 {k: v}\n" + "".join(
    f"a{i}: &a{i} {{<<: [{', '.join([f'*a{i - 1}'] * 9)}]}}\n" for i in range(1, 10)
)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a: \x00", "line 1: the character U+0000 is not allowed"),
        ("b: 1\na: \x1b", "line 2: the character U+001B is not allowed"),
        ('a: "\\0"', "the control character U+0000"),
        ('a: "\\e[31m"', "the control character U+001B"),
        ('a: "\\ud800"', "the surrogate U+D800"),
        ('a: "\\U00110000"', "not valid YAML"),
        ("a: !!int abc", "'abc' is not a number"),
        ("a: !!float abc", "'abc' is not a number"),
        ("a: .nan", "'.nan' is not a number"),
        ("a: !!bool abc", "'abc' is not true or false"),
        ("a: !!timestamp 2024-01-01", "the tag !!timestamp has no meaning"),
        ("a: !!binary aGVsbG8=", "the tag !!binary has no meaning"),
        ("a: !!python/name:os.system", "the tag !!python/name:os.system has no meaning"),
        ("a: " + "9" * 5000, "a number of 5000 characters"),
        ("a: 0x" + "f" * 300, "is not a number"),
        ("&a [*a]", "an alias refers to a node that contains it"),
        ("&a {<<: *a}", "an alias refers to a node that contains it"),
        ("[" * 5000, f"more than {MAX_DEPTH} levels"),
        ("? " * 5000, f"more than {MAX_DEPTH} levels"),
        ("? [a]\n: b", "found a list or a mapping, expected a key"),
        ("- a\n" * (MAX_NODES + 1), f"more than {MAX_NODES} keys and values"),
        (ALIASES, "aliases repeat more than is allowed"),
        (MERGES, "aliases repeat more than is allowed"),
    ],
    ids=lambda text: repr(text[:24]),
)
def test_invalid_yaml_is_refused_in_one_line(text: str, words: str):
    with pytest.raises(ConfigError) as caught:
        parse_yaml(text, "x.yaml")
    assert words in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1


def test_dates_and_single_signs_remain_text_and_keys_are_text():
    document, _ = parse_yaml("a: 2024-13-45\nb: 2024-01-05\n1: =\nyes: 2", "x.yaml")
    assert document == {"a": "2024-13-45", "b": "2024-01-05", "1": "=", "yes": 2}


def test_aliases_and_merges_of_a_sensible_size_still_work():
    document, _ = parse_yaml("a: &a {x: 1}\nb: {<<: *a, y: 2}\nc: [*a, *a]", "x.yaml")
    assert document["b"] == {"x": 1, "y": 2}
    assert document["c"] == [{"x": 1}, {"x": 1}]


def test_a_file_larger_than_a_configuration_can_be_is_not_read(tmp_path: Path):
    path = tmp_path / "large.yaml"
    path.write_bytes(b"#" * (MAX_FILE_BYTES + 1))
    with pytest.raises(ConfigError, match="is larger than 1 MiB"):
        read_yaml(path)
