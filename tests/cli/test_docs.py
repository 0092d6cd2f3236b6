"""The documentation of options agrees with the options."""

import re
from pathlib import Path

import pytest

from docs import build
from polarbear.report.figures import FIGURES
from polarbear.selection.preference import PREFERENCES
from polarbear.selection.preference_parsing import parse_preference, read_preference
from polarbear.settings.options import key_names
from polarbear.settings.yaml_lines import parse_yaml
from tests.cli.program import commands
from tests.support import Project

DOCS = Path(__file__).parents[2] / "docs"


def rows_of(page: str) -> list[str]:
    """The rows of all tables on a page of the reference."""
    return [line for line in (DOCS / "reference" / page).read_text().splitlines() if "|" in line]


def test_every_preference_stands_in_the_documentation_with_its_options():
    rows = [line for line in build.preferences().splitlines() if "|" in line]
    for name in PREFERENCES:
        rows_of_preference = [line for line in rows if line.startswith(f"| `{name}` |")]
        (row,) = rows_of_preference
        for key in set(key_names(PREFERENCES[name])) - {"preference"}:
            assert f"`{key}`" in row, f"{name}: {key}"


def test_the_examples_of_preferences_in_the_documentation_can_be_read():
    text = (DOCS / "reference" / "selection.md").read_text()
    for name in PREFERENCES:
        example = re.search(rf"^\| `{name}` \| `([^`]+)` \|", build.preferences(), re.MULTILINE)
        assert example, name
        assert read_preference(example[1])[0].preference == name
    (inside,) = re.findall(r"```yaml\n(.*?)```", text, re.DOTALL)
    assert parse_preference(*parse_yaml(inside, "docs")).preference == "mix"


def test_every_figure_stands_in_the_documentation_of_the_report():
    rows = rows_of("report.md")
    listed = {name for row in rows for name in re.findall(r"`([^`]+)`", row.split("|")[1])}
    assert listed == set(FIGURES)


@pytest.mark.parametrize(
    ("command", "page"), [("select", "selection.md"), ("compare", "compare.md")]
)
def test_every_flag_stands_in_the_documentation_with_its_default(command: str, page: str):
    text = (DOCS / "reference" / page).read_text()
    for option in commands()[command].params:
        flag = max(option.opts, key=len)
        if not flag.startswith("--") or flag == "--help":
            continue
        value = option.default
        has_default = isinstance(value, int | float | str) and value is not False
        default = f"`{value}` " if has_default else ""
        assert f"| `{flag}` | {default}|" in text, flag


def test_the_documented_example_that_maximises_runs(project: Project):
    text = (DOCS / "reference" / "configuration.md").read_text()
    files = re.findall(r"^```(?:python|yaml) (\S+)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    for name, content in files:
        (project.folder / name).write_text(content)
    assert {"hill.py", "climb.py", "climbing.yaml"} <= {name for name, _ in files}
    answer = project.json("race", "climbing.yaml")
    assert answer["pareto_set"] == ["climb"]
