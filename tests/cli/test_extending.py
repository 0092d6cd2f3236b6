"""The examples of docs/how-to/extending.md, each built as a separate package and used."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

from polarbear.api import REGISTRIES, registry
from tests.plug_ins import install
from tests.support import Project

pytestmark = pytest.mark.slow

TEXT = (Path(__file__).parents[2] / "docs" / "how-to" / "extending.md").read_text()
INTRODUCTION, *SECTIONS = re.split(r"^## ", TEXT, flags=re.MULTILINE)
DOORS = {section.partition("\n")[0]: section for section in SECTIONS}
# what each example's last command prints if it did what it is there for
SHOWN = {
    "A model": "straight, instances: 6; 4,000 draws",
    "A suite": "8 runs in ",
    "An adapter": "8 runs in ",
    "A preference": "the budget is equally likely to be anything up to 500",
    "A figure": "random search up to 36 evaluations",
    "A format": "2 runs of 2 algorithms on 1 instance added",
    "An export": "runs written to endings.jsonl",
}


def blocks(text: str, language: str) -> list[tuple[str, str]]:
    """What each block is called, and what is in it."""
    return re.findall(rf"^```{language} ?(\S*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def follow(project: Project, commands: str) -> list[subprocess.CompletedProcess[str]]:
    done = []
    for line in commands.splitlines():
        program, *arguments = shlex.split(line)
        assert program == "polarbear"
        done.append(project.in_own_process(*arguments))
        assert done[-1].returncode == 0, done[-1].stderr
        assert "warning" not in done[-1].stderr
    return done


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The small store that the page works on."""
    project = Project(tmp_path_factory.mktemp("prepared"))
    ((name, commands),) = blocks(INTRODUCTION, "sh")
    assert name == "setup"
    follow(project, commands)
    return project.folder


@pytest.fixture
def written(
    request: pytest.FixtureRequest, tmp_path: Path, prepared: Path, monkeypatch: pytest.MonkeyPatch
) -> Project:
    """A folder with the example's files in it, and its package where Python finds it."""
    door = DOORS[request.param]
    folder = tmp_path / "work"
    shutil.copytree(prepared, folder)
    for language in ("yaml", "json"):
        for name, text in blocks(door, language):
            (folder / name).write_text(text)
    ((module, code),) = blocks(door, "python")
    ((_, declared),) = blocks(door, "toml")
    entries = tomllib.loads(declared)["project"]["entry-points"]
    package = f"polarbear-{Path(module).stem}"
    site = install(tmp_path / "site", package, {Path(module).stem: code}, entries)
    monkeypatch.setenv("PYTHONPATH", str(site), prepend=":")
    return Project(folder, alone=True)


def test_every_door_has_an_example():
    shown = {
        group
        for door in DOORS.values()
        for _, declared in blocks(door, "toml")
        for group in tomllib.loads(declared)["project"]["entry-points"]
    }
    assert shown == {registry(name).group for name in REGISTRIES}
    assert set(SHOWN) == set(DOORS)


@pytest.mark.parametrize("written", DOORS, indirect=True)
def test_the_example_works_as_the_page_says(written: Project, request: pytest.FixtureRequest):
    name = request.node.callspec.params["written"]
    ((_, commands),) = blocks(DOORS[name], "sh")
    done = follow(written, commands)
    assert SHOWN[name] in done[-1].stdout + done[-1].stderr


@pytest.mark.parametrize("written", ["A model"], indirect=True)
def test_a_model_has_options_needs_no_stan_program_and_its_posterior_outlives_its_package(
    written: Project, tmp_path: Path
):
    written("init", "shown.yaml")
    shown = (written.folder / "shown.yaml").read_text()
    assert "  #   model: straight\n  #   options:\n" in shown
    assert "  #     slope: 1.0" in shown
    done = written("infer", "polarbear", "--model", "straight", "--set", "options.slop=2")
    assert done.returncode == 1
    assert "unknown key 'slop'; did you mean 'slope'?" in done.stderr
    done = written("infer", "polarbear", "--model", "gp", "--set", "options.slope=2")
    assert done.returncode == 1
    assert "unknown key 'slope'" in done.stderr
    first = written.json("infer", "polarbear", "--model", "straight")
    same = written.json("infer", "polarbear", "--model", "straight", "--set", "options.slope=1")
    other = written.json("infer", "polarbear", "--model", "straight", "--set", "options.slope=3")
    assert not first["from_store"]
    assert same["from_store"]
    assert not other["from_store"]
    assert first["evidence_weight"] < 1
    done = written("infer", "polarbear", "--model", "straight", "--engine", "stan")
    assert done.returncode == 1
    assert done.stderr == (
        "polarbear: infer: engine: the model 'straight' has no Stan program: use the engine "
        "'native'\n"
    )
    shutil.rmtree(tmp_path / "site")
    chosen = written.json("select", "polarbear", "--model", "straight", "--preference", "final")
    assert chosen["posterior"]["model"] == "straight"
    done = written("infer", "polarbear", "--model", "straight")
    assert done.returncode == 1
    assert "unknown model 'straight'" in done.stderr
