"""The schema for editors accepts valid configurations and marks invalid ones."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from polarbear.algorithms import ADAPTERS
from polarbear.config.configuration import parse
from polarbear.config.json_schema import NAME, config_schema
from polarbear.config.template import commented_config
from polarbear.errors import ConfigError
from polarbear.inference.models import MODELS
from polarbear.problems import SUITES
from polarbear.settings.options import Source
from polarbear.settings.yaml_lines import parse_yaml
from tests.support import Project

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def schema() -> Draft202012Validator:
    definition = config_schema()
    Draft202012Validator.check_schema(definition)
    return Draft202012Validator(definition)


def complete_configurations() -> dict[str, Any]:
    """All configurations in `configs`, the one of `init`, and those of the documentation."""
    texts = {path.name: path.read_text() for path in (ROOT / "configs").glob("*.yaml")}
    texts["init"] = commented_config()
    for page in (ROOT / "README.md", *(ROOT / "docs").rglob("*.md")):
        blocks = re.findall(r"```yaml\n(.*?)```", page.read_text(), re.DOTALL)
        texts |= {f"{page.name} {number}": text for number, text in enumerate(blocks)}
    needed = ("algorithms:", "instances:", "budget:")
    return {
        name: parse_yaml(text, name)[0]
        for name, text in texts.items()
        if all(key in text for key in needed) and "..." not in text
    }


@pytest.mark.parametrize(
    "config", [pytest.param(data, id=name) for name, data in complete_configurations().items()]
)
def test_it_accepts_every_configuration_that_is_shipped_or_documented(config, schema):
    assert [error.message for error in schema.iter_errors(config)] == []


def small(**changes: Any) -> dict[str, Any]:
    config = {
        "algorithms": [{"name": "a", "use": "cma"}],
        "instances": {"suite": "classic"},
        "budget": {"grid": [10, 100]},
    }
    return {**config, **changes}


@pytest.mark.parametrize(
    "config",
    [
        small(sed=1),
        small(algorithms=[]),
        small(algorithms=[{"name": "a", "use": "cmaes"}]),
        small(algorithms=[{"name": "a", "use": "cma", "sigma": 1}]),
        small(algorithms=[{"name": "a", "use": "cma", "sigma0": "much"}]),
        small(algorithms=[{"name": "a", "use": "scipy", "method": "simplex"}]),
        small(algorithms=[{"use": "cma"}]),
        small(instances={"suite": "classics"}),
        small(instances={"suite": "classic", "functions": ["spheer"]}),
        small(budget={"grid": {"from": 0, "to": 10}}),
        small(race={"alpha": 2}),
        small(race={"limits": {"round": 3}}),
        small(inference={"model": "dirichlets"}),
        small(inference={"draws": 1}),
        small(inference={"model": "dirichlet", "options": {"none": 1}}),
    ],
    ids=lambda config: json.dumps({k: v for k, v in config.items() if v != small().get(k)}),
)
def test_polarbear_refuses_what_it_marks(config: dict[str, Any], schema: Draft202012Validator):
    assert not schema.is_valid(config)
    with pytest.raises(ConfigError):
        parse(config, Source("here"))


def test_it_lists_every_plug_in_and_describes_suites_and_adapters(schema: Draft202012Validator):
    keys = schema.schema["properties"]
    adapter = keys["algorithms"]["items"]["properties"]["use"]
    suite = keys["instances"]["properties"]["suite"]
    model = schema.schema["$defs"]["ModelOptions"]["properties"]["model"]
    for key, registry in ((adapter, ADAPTERS), (suite, SUITES)):
        assert [choice["const"] for choice in key["anyOf"]] == list(registry)
        assert all(choice["description"] for choice in key["anyOf"])
    assert [choice["const"] for choice in model["anyOf"]] == list(MODELS)


def test_init_writes_it_beside_the_file_whose_first_line_refers_to_it(project: Project):
    project.done("init", "race.yaml")
    first_line = (project.folder / "race.yaml").read_text().splitlines()[0]
    assert first_line == f"# yaml-language-server: $schema={NAME}"
    written = json.loads((project.folder / NAME).read_text())
    assert written == json.loads(project("schema").stdout)
