"""Ctrl-C in commands: each of them ends with exit code 130 and one line."""

import pytest

from polarbear.api import configurations, environment
from polarbear.api.live_page import Watch
from polarbear.regression import history_files
from polarbear.store import fs
from tests.cli.program import commands
from tests.support import Project

COMMANDS_ON_STORES = {
    "race": ["config.yaml"],
    "run": ["config.yaml"],
    "infer": ["config"],
    "select": ["config"],
    "report": ["config"],
    "compare": ["config"],
    "status": ["config"],
    "show": ["config", "--pair", "A,B"],
    "watch": ["config"],
    "import": ["runs.csv", "--store", "imported"],
    "export": ["config", "--format", "csv", "--to", "exported"],
    "merge": ["config", "other", "--into", "merged"],
    "rename": ["config", "A", "D"],
    "forget": ["config", "--algorithm", "A"],
    "verify": ["config"],
    "repair": ["config"],
}
# Commands that need no given store, and a function that each of them calls.
OTHERS: dict[str, tuple[list[str], object, str]] = {
    "check": (["check", "config.yaml"], configurations, "read"),
    "gate": (
        ["gate", "config.yaml", "--baseline", "A", "--candidate", "B"],
        configurations,
        "read",
    ),
    "design": (["design", "config.yaml"], configurations, "read"),
    "history": (["history", "merges"], history_files, "read"),
    "init": (["init", "new.yaml"], configurations, "write_template"),
    "schema": (["schema"], configurations, "schema"),
    "doctor": (["doctor"], environment, "diagnose"),
    "stan": (["stan", "install"], environment, "install"),
}


def test_every_command_is_interrupted_here():
    assert set(commands()) == {*COMMANDS_ON_STORES, *OTHERS}


def interrupt(*arguments: object, **options: object) -> None:
    raise KeyboardInterrupt


def exit_code_of(project: Project, *arguments: str) -> int:
    try:
        return project(*arguments).returncode
    except KeyboardInterrupt:  # which `polarbear.__main__` makes an exit code
        return 130


@pytest.mark.parametrize("name", COMMANDS_ON_STORES)
def test_an_interrupted_command_ends_with_130(
    collected: Project, name: str, monkeypatch: pytest.MonkeyPatch
):
    (collected.folder / "runs.csv").write_text("algorithm,instance,t,y\na,1,1,2\na,1,2,1\n")

    if name == "watch":
        monkeypatch.setattr(Watch, "serve_forever", interrupt)
    elif name == "import":
        monkeypatch.setattr(fs, "create", interrupt)
    else:
        monkeypatch.setattr(fs, "read", interrupt)
    assert exit_code_of(collected, name, *COMMANDS_ON_STORES[name]) == 130


@pytest.mark.parametrize("name", OTHERS)
def test_an_interrupted_command_without_a_store_ends_with_130(
    project: Project, name: str, monkeypatch: pytest.MonkeyPatch
):
    project.configure()
    arguments, module, function = OTHERS[name]
    monkeypatch.setattr(module, function, interrupt)
    assert exit_code_of(project, *arguments) == 130
