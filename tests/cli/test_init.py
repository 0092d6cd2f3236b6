"""`polarbear init`: a configuration that shows everything and runs."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from polarbear.algorithms import ADAPTERS
from polarbear.algorithms.base import Algorithm
from polarbear.config.configuration import parse
from polarbear.config.execution import Execution
from polarbear.config.template import SHORT, commented_config
from polarbear.inference import ModelOptions
from polarbear.problems import SUITES
from polarbear.problems.base import Suite
from polarbear.racing.rules import Rules
from polarbear.settings.options import Options, key_names
from polarbear.settings.yaml_lines import parse_yaml
from tests.support import Project


def test_the_short_configuration_has_about_ten_lines_and_the_defaults():
    assert len(SHORT.splitlines()) <= 12
    short, source = parse_yaml(SHORT, "init")
    long, _ = parse_yaml(commented_config(), "init --all")
    assert parse(short, source).plain() == parse(long, source).plain()


@pytest.mark.slow
@pytest.mark.parametrize("options", [[], ["--all"]])
def test_it_writes_a_configuration_that_runs(project: Project, options: list[str]):
    project.done("init", *options)
    answer = project.json("run", "polarbear.yaml", "--instances", 2)
    assert answer["failed_runs"] == 0
    assert answer["executed"] == 6


def test_init_replaces_a_file_only_with_force(project: Project):
    file = project.folder / "mine.yaml"
    file.write_text("mine")
    assert "--force" in project.refused("init", "mine.yaml")
    assert file.read_text() == "mine"
    project.done("init", "mine.yaml", "--force")
    assert file.read_text() != "mine"
    assert "cannot write" in project("init", "no/such/folder.yaml").stderr


def groups() -> list[tuple[str, type[Options]]]:
    plug_ins = [(f"adapter {name}", ADAPTERS[name]) for name in ADAPTERS]
    plug_ins += [(f"suite {name}", SUITES[name]) for name in SUITES]
    return [*plug_ins, ("execution", Execution), ("race", Rules), ("inference", ModelOptions)]


def keys_of(group: type[Options]) -> set[str]:
    """Every key a user may write in this group and in the groups inside it."""
    keys = set(key_names(group)) - {"name", "use"}
    for field in group.model_fields.values():
        if isinstance(field.default, Options):
            keys |= keys_of(type(field.default))
    return keys


@pytest.mark.parametrize(("name", "group"), groups(), ids=lambda value: str(value))
def test_every_option_is_shown(name: str, group: type[Options]):
    text = commented_config()
    for key in keys_of(group):
        assert re.search(rf"(^|[ #{{]){re.escape(key)}:", text, re.MULTILINE), f"{name}: {key}"


def test_the_defaults_it_shows_are_the_defaults():
    data, source = parse_yaml(commented_config(), "init")
    config_with_every_default = parse(data, source).plain()
    del data["execution"], data["race"], data["inference"]
    data["instances"] = {"suite": "classic"}
    assert parse(data, source).plain() == config_with_every_default


def rows_of(group: type[Options], skip: set[str], prefix: str = "") -> list[tuple[str, str]]:
    """The key of every option and how the documentation writes its default."""
    rows = []
    for name, field in group.model_fields.items():
        key = f"{prefix}{field.alias or name}"
        if name not in skip:
            default = "needed" if field.is_required() else f"`{json.dumps(plain(field.default))}`"
            rows.append((key, default))
    return rows


def plain(value: Any) -> Any:
    return value.model_dump(mode="json", by_alias=True) if isinstance(value, Options) else value


def section_of(kind: str, plug_in: str) -> str:
    """The section of the documentation that lists the options of a group."""
    docs = Path(__file__).parents[2] / "docs"
    if kind == "inference":
        return (docs / "explanation" / "inference.md").read_text()
    text = (docs / "reference" / "configuration.md").read_text()
    start = text.index({"adapter": "## `algorithms`", "suite": "## `instances`"}.get(kind, "## `"))
    heading = f"### `{plug_in}`" if plug_in else f"## `{kind}`"
    section = text[text.index(heading, start) :]
    section = section[: section.find("\n## ", 1)] if not plug_in else section
    return section[: section.find("\n### ", 1)] if "\n### " in section[1:] else section


@pytest.mark.parametrize(("name", "group"), groups(), ids=lambda value: str(value))
def test_every_option_stands_in_the_documentation_with_its_default(name: str, group: type[Options]):
    kind, _, plug_in = name.partition(" ")
    section = section_of(kind, plug_in)
    base = {"adapter": Algorithm, "suite": Suite}.get(kind, Options)
    for key, default in rows_of(group, set(base.model_fields)):
        is_group = f"| `{key}` | (a group) |" in section
        assert is_group or f"| `{key}` | {default} |" in section, f"{key}: {default}"
