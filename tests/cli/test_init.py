"""`polarbear init`: a configuration that shows everything and runs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from polarbear.algorithms import ADAPTERS
from polarbear.algorithms.base import Algorithm
from polarbear.config import Execution, parse
from polarbear.options import Options, key_names
from polarbear.problems import SUITES
from polarbear.problems.base import Suite
from polarbear.template import commented_config
from polarbear.yamlfile import parse_yaml
from tests.support import Project


def test_it_writes_a_configuration_that_runs(project: Project):
    assert project("init").returncode == 0
    answer = project.json("run", "polarbear.yaml", "--instances", 2)
    assert answer["failed_runs"] == 0
    assert answer["executed"] == 6


def test_it_does_not_replace_a_file_unless_told_to(project: Project):
    mine = project.folder / "mine.yaml"
    mine.write_text("mine")
    done = project("init", "mine.yaml")
    assert done.returncode == 1
    assert "--force" in done.stderr
    assert mine.read_text() == "mine"
    assert project("init", "mine.yaml", "--force").returncode == 0
    assert mine.read_text() != "mine"


def test_it_says_so_when_it_cannot_write(project: Project):
    done = project("init", "no/such/folder.yaml")
    assert done.returncode == 1
    assert "cannot write" in done.stderr


def groups() -> list[tuple[str, type[Options]]]:
    named = [(f"adapter {name}", ADAPTERS[name]) for name in ADAPTERS]
    named += [(f"suite {name}", SUITES[name]) for name in SUITES]
    return [*named, ("execution", Execution)]


def keys_of(group: type[Options]) -> set[str]:
    """Every key a user may write in this group and in the groups inside it."""
    found = set(key_names(group)) - {"name", "use"}
    for field in group.model_fields.values():
        if isinstance(field.default, Options):
            found |= keys_of(type(field.default))
    return found


@pytest.mark.parametrize(("name", "group"), groups(), ids=lambda value: str(value))
def test_every_option_is_shown(name: str, group: type[Options]):
    text = commented_config()
    for key in keys_of(group):
        assert re.search(rf"(^|[ #{{]){re.escape(key)}:", text, re.MULTILINE), f"{name}: {key}"


def test_the_defaults_it_shows_are_the_defaults():
    data, source = parse_yaml(commented_config(), "init")
    shown = parse(data, source).plain()
    del data["execution"]
    data["instances"] = {"suite": "classic"}
    assert parse(data, source).plain() == shown


def test_every_option_stands_in_the_documentation_with_its_default():
    text = (Path(__file__).parents[2] / "docs" / "configuration.md").read_text()
    for name, group in groups():
        if isinstance(group, type) and issubclass(group, Algorithm):
            section, base = f"### `{name.split()[1]}`", set(Algorithm.model_fields)
        elif issubclass(group, Suite):
            section, base = f"### `{name.split()[1]}`", set(Suite.model_fields)
        else:
            section, base = "## `execution`", set()
        assert section in text, name
        for field_name, field in group.model_fields.items():
            if field_name not in base:
                assert f"`{field.alias or field_name}`" in text, f"{name}: {field_name}"
