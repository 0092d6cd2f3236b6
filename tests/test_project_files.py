"""Files beside the code, such as README and workflows, agree with the code."""

import re
import tomllib
from pathlib import Path

import pytest
import yaml

import polarbear

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


def test_one_version_and_one_licence_everywhere():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert PROJECT["project"]["version"] == polarbear.__version__ == citation["version"]
    assert PROJECT["project"]["license"] == citation["license"] == "BSD-3-Clause"
    assert "the PolarBear developers" in (ROOT / "LICENSE").read_text()
    assert polarbear.__version__ in (ROOT / "CHANGELOG.md").read_text()


def test_plotly_js_has_its_licence_and_is_listed_as_third_party_software():
    folder = ROOT / "polarbear" / "report" / "page" / "plotly"
    script = (folder / "plotly-cartesian.min.js").read_text(encoding="utf-8")
    version = re.search(r"plotly\.js \(cartesian - minified\) v([\d.]+)", script)
    assert version is not None
    assert f"plotly.js {version[1]}" in (ROOT / "THIRD-PARTY.md").read_text()
    assert "MIT License" in (folder / "LICENSE.txt").read_text()


@pytest.mark.parametrize(
    "extra", sorted(set(PROJECT["project"]["optional-dependencies"]) - {"test"})
)
def test_an_extra_is_named_in_an_error_or_on_a_page(extra: str):
    texts = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "benchmarks").glob("*")]
    texts += (ROOT / "polarbear").rglob("*.py")
    assert any(f".[{extra}]" in path.read_text() for path in texts if path.is_file())


def test_public_ci_calls_existing_parts():
    script = (ROOT / ".ci" / "run").read_text()
    parts = set(re.findall(r"^(\w+)\(\) \{", script, re.MULTILINE))
    jobs = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text())["jobs"]
    commands = [step["run"] for job in jobs.values() for step in job["steps"] if "run" in step]
    calls = [command.split()[1:] for command in commands if command.startswith(".ci/run")]
    assert calls
    assert {part for call in calls for part in call} <= parts


@pytest.mark.parametrize(
    "page", [*sorted(ROOT.glob("*.md")), ROOT / "studies" / "README.md"], ids=str
)
def test_files_that_a_page_refers_to_exist(page: Path):
    links = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text())
    assert [link for link in links if not (page.parent / link).exists()] == []
