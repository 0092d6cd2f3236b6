"""The examples of docs/how-to/extending.md, each built as a separate package and used."""

import json
import re
import shlex
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

import polarbear
from polarbear.api.registries import REGISTRIES
from tests.plug_ins import install
from tests.report.browser import chromium
from tests.support import Project

pytestmark = pytest.mark.slow

TEXT = (Path(__file__).parents[2] / "docs" / "how-to" / "extending.md").read_text()
INTRODUCTION, *SECTIONS = re.split(r"^## ", TEXT, flags=re.MULTILINE)
DOORS = {section.partition("\n")[0]: section for section in SECTIONS}
SUBCOMMAND = DOORS.pop("A subcommand")
# A part of the output of each example's last command, or of the page that it writes.
SHOWN = {
    "A model": "straight, instances: 6; 4,000 draws",
    "A suite": "8 runs in ",
    "An adapter": "8 runs in ",
    "A preference": "the budget is equally likely to be anything up to 500",
    "A figure": "The time that all runs of each algorithm took together.",
    "A format": "2 runs of 2 algorithms on 1 instance added",
    "An export": "runs written to endings.jsonl",
    "A proposer": "did not change the set",
    "A log of a solver": "2 runs in ",
}


def blocks(text: str, language: str) -> list[tuple[str, str]]:
    """The name and the content of each block of code in a language."""
    return re.findall(rf"^```{language} ?(\S*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def follow(project: Project, commands: str) -> list[subprocess.CompletedProcess[str]]:
    commands_as_words = [shlex.split(line) for line in commands.splitlines()]
    assert {program for program, *_ in commands_as_words} == {"polarbear"}
    processes = project.together(*(arguments for _, *arguments in commands_as_words))
    for process in processes:
        assert process.returncode == 0, process.stderr
        warnings = re.findall("warning: .*", process.stderr)
        # How busy this machine is says nothing about the page.
        assert all("cores are free" in warning for warning in warnings), process.stderr
    return processes


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
    groups = {
        group
        for door in DOORS.values()
        for _, declared in blocks(door, "toml")
        for group in tomllib.loads(declared)["project"]["entry-points"]
    }
    assert groups == {registry.group for registry in REGISTRIES.values()}
    assert set(SHOWN) == set(DOORS)


@pytest.mark.parametrize("written", DOORS, indirect=True)
def test_the_example_works_as_the_page_says(written: Project, request: pytest.FixtureRequest):
    name = request.node.callspec.params["written"]
    ((_, commands),) = blocks(DOORS[name], "sh")
    done = follow(written, commands)
    shown = done[-1].stdout + done[-1].stderr
    if name == "A figure":
        shown += (written.folder / "polarbear.html").read_text()
    assert SHOWN[name] in shown


def test_a_subcommand_is_one_file_and_one_line(
    prepared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    package = tmp_path / "polarbear"
    shutil.copytree(Path(polarbear.__file__).parent, package)
    (file, code), (registry_file, line) = blocks(SUBCOMMAND, "python")
    (tmp_path / file).write_text(code)
    registry = tmp_path / registry_file
    last_import = "from polarbear.cli import stores\n"
    assert last_import in registry.read_text()
    registry.write_text(registry.read_text().replace(last_import, last_import + line))
    ((_, command),) = blocks(SUBCOMMAND, "sh")
    program, *arguments = shlex.split(command)
    assert program == "polarbear"
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    project = Project(prepared, alone=True)
    assert project.done(*arguments).stdout.startswith("10 evaluations\n")
    assert project.json(*arguments)["axis"] == "evaluations"
    assert "\n  grid " in project.done("--help").stdout


@pytest.mark.parametrize("written", ["A model"], indirect=True)
def test_a_model_has_options_needs_no_stan_program_and_its_posterior_outlives_its_package(
    written: Project, tmp_path: Path
):
    infer = ["infer", "polarbear", "--model", "straight"]
    _, unknown, of_another, *inferred, by_stan = written.together(
        ["init", "shown.yaml", "--all"],
        [*infer, "--set", "options.slop=2"],
        ["infer", "polarbear", "--model", "gp", "--set", "options.slope=2"],
        [*infer, "--json"],
        [*infer, "--json", "--set", "options.slope=1"],
        [*infer, "--json", "--set", "options.slope=3"],
        [*infer, "--engine", "stan"],
    )
    template = (written.folder / "shown.yaml").read_text()
    assert "  #   model: straight\n  #   options:\n" in template
    assert "  #     slope: 1.0" in template
    assert [unknown.returncode, of_another.returncode, by_stan.returncode] == [1, 1, 1]
    assert "unknown key 'slop'; did you mean 'slope'?" in unknown.stderr
    assert "unknown key 'slope'" in of_another.stderr
    answers = [json.loads(process.stdout) for process in inferred]
    first = answers[0]
    assert [answer["from_store"] for answer in answers] == [False, True, False]
    assert first["evidence_weight"] < 1
    assert by_stan.stderr == (
        "polarbear: infer: engine: the model 'straight' has no Stan program: use the engine "
        "'native'\n"
    )
    shutil.rmtree(tmp_path / "site")
    select = ["select", "polarbear", "--model", "straight", "--preference", "final", "--json"]
    chosen, done = written.together(select, infer)
    assert json.loads(chosen.stdout)["posterior"]["model"] == "straight"
    assert done.returncode == 1
    assert "unknown model 'straight'" in done.stderr


@pytest.mark.browser
@pytest.mark.parametrize("written", ["A figure"], indirect=True)
def test_a_figure_of_another_package_is_drawn_in_the_page(written: Project):
    (done,) = written.together(["report", "polarbear", "--html", "page.html"])
    assert done.returncode == 0, done.stderr
    with chromium() as browser:
        browser.open(written.folder / "page.html")
        browser.draw_all()
        figure = "document.querySelector(\"figure[data-figure='seconds']\")"
        assert browser.ask(f"{figure}.querySelectorAll('.chart .bars path').length") > 1
        words = browser.ask(f"{figure}.querySelector('.chart').textContent")
        assert "seconds, all runs together" in words
        assert "CMA-ES" in words
        assert browser.complaints() == []
