"""What stands around the code says the same as the code."""

from __future__ import annotations

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


def test_a_checkout_draws_its_page_with_the_plotly_that_a_wheel_carries():
    (built,) = [name for name in PROJECT["build-system"]["requires"] if name.startswith("plotly")]
    assert built in PROJECT["project"]["optional-dependencies"]["test"]


@pytest.mark.parametrize(
    "extra", sorted(set(PROJECT["project"]["optional-dependencies"]) - {"test"})
)
def test_an_extra_that_errors_or_pages_send_users_to_exists_and_is_named_somewhere(extra: str):
    texts = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "benchmarks").glob("*")]
    texts += (ROOT / "polarbear").rglob("*.py")
    assert any(f".[{extra}]" in path.read_text() for path in texts if path.is_file())


def test_public_ci_calls_parts_that_there_are():
    script = (ROOT / ".ci" / "run").read_text()
    parts = set(re.findall(r"^(\w+)\(\) \{", script, re.MULTILINE))
    jobs = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text())["jobs"]
    commands = [step["run"] for job in jobs.values() for step in job["steps"] if "run" in step]
    called = [c.split()[1:] for c in commands if c.startswith(".ci/run")]
    assert called
    assert {part for names in called for part in names} <= parts


@pytest.mark.parametrize("page", sorted(ROOT.glob("*.md")), ids=lambda page: page.name)
def test_files_that_a_page_refers_to_are_there(page: Path):
    links = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text())
    assert [link for link in links if not (ROOT / link).exists()] == []
