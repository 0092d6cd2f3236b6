"""Help is plain text, takes little time, and names all that PolarBear brings."""

import re
import subprocess
import sys

import pytest

from polarbear.api.registries import REGISTRIES
from tests.cli.program import TyperGroup, commands
from tests.support import Project

HEAVY = ("matplotlib", "numpy", "pandas", "polars", "pydantic", "rich", "scipy", "yaml")
COMMANDS_WITH_NAMES = {
    "models": "infer",
    "preferences": "select",
    "formats": "import",
    "exports": "export",
}


@pytest.mark.parametrize("arguments", [["--help"], ["select", "-h"]])
def test_help_imports_no_library_that_takes_long(arguments: list[str]):
    code = (
        f"import sys; sys.argv = ['polarbear', *{arguments}]; from polarbear.cli import main\n"
        "try:\n    main()\n"
        f"finally:\n    print([name for name in {HEAVY} if name in sys.modules], file=sys.stderr)"
    )
    process = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert process.stdout.startswith("Usage: polarbear ")
    assert process.stderr == "[]\n"


def test_help_lists_every_command_in_a_line(project: Project):
    listed = re.findall(r"^  ([a-z]+)  +[A-Z].*\.$", project.done("-h").stdout, re.MULTILINE)
    assert listed == list(commands())


@pytest.mark.parametrize("name", commands())
def test_the_help_of_a_command_has_every_option_and_quiet_and_debug(project: Project, name: str):
    command = commands()[name]
    if isinstance(command, TyperGroup):
        assert set(command.commands) == {"install", "status"}
        return
    text = project.done(name, "--help").stdout
    assert text == project.done(name, "-h").stdout
    options = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", text))
    assert {flag for option in command.params for flag in option.opts if "--" in flag} <= options
    assert {"--quiet", "--debug", "--help"} <= options


@pytest.mark.parametrize(("family", "command"), COMMANDS_WITH_NAMES.items())
def test_the_help_of_a_command_names_what_polarbear_brings(
    project: Project, family: str, command: str
):
    text = re.sub(r"-\s+", "-", project.done(command, "--help").stdout)  # lines break at hyphens
    for name in REGISTRIES[family].places:
        assert re.search(rf"\b{name}\b", text), name


def test_without_a_command_help_is_shown_as_wrong_usage(project: Project):
    for arguments in ([], ["stan"]):
        process = project(*arguments)
        assert process.returncode == 2
        assert process.stdout.startswith("Usage: polarbear")
