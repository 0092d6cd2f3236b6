"""Plug-ins of other packages, and commands with a broken one."""

import os
from pathlib import Path
from unittest import mock

import pytest

from polarbear.api.registries import REGISTRIES
from tests.plug_ins import install
from tests.support import Project

pytestmark = pytest.mark.slow

OPTIONS_WITH_NAMES = {
    "models": "polarbear infer store --model ",
    "preferences": "polarbear select store --preference ",
    "figures": "polarbear report store --only ",
    "formats": "polarbear import file --format ",
    "exports": "polarbear export store --format ",
}
FAILING = """
import polars as pl
from polarbear.report.figures.base import Figure

def no(*arguments): raise KeyError("no such column")
def yes(*arguments): return None
def table(material): return pl.DataFrame({"a": [1]})
def words(material): return "Words."
UNDATA = Figure("undata", "No data", words, yes, no, yes)
UNDRAWN = Figure("undrawn", "Not drawn", words, yes, table, no)
"""


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A project whose commands have processes of their own, since plug-ins are looked up once."""
    folder = tmp_path / "project"
    folder.mkdir()
    return Project(folder, alone=True)


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "site"), prepend=":")
    return tmp_path / "site"


def break_every_door(site: Path) -> None:
    groups = {registry.group: {"broken": "bear_broken:Thing"} for registry in REGISTRIES.values()}
    install(site, "bear-broken", {"bear_broken": "raise RuntimeError('out of order')"}, groups)


def test_broken_plug_ins_are_named_once_and_take_nothing_down(project: Project, site: Path):
    break_every_door(site)
    project.configure(inference={"model": "random-walk", "method": "laplace", "draws": 400})
    done = project.done("run", "config.yaml")
    expected = [
        f"warning: the {family} 'broken' of the package 'bear-broken' is left out: "
        "RuntimeError: out of order"
        for family in ("suite", "adapter", "model")
    ]
    warnings = [line for line in done.stderr.splitlines() if line.startswith("warning")]
    assert sorted(warnings) == sorted(expected)
    for command in (
        ["infer", "config", "--model", "dirichlet"],
        ["select", "config", "--preference", "final"],
        ["report", "config", "--png", "figures", "--only", "ratings"],
    ):
        done = project.done(*command)
        assert "is left out: RuntimeError: out of order" in done.stderr
        assert "Traceback" not in done.stderr
    assert (project.folder / "figures" / "ratings.png").exists()


def test_doctor_lists_plug_ins_and_their_errors(project: Project, site: Path):
    break_every_door(site)
    (site / "bear_good.py").write_text(
        "from polarbear.selection.basic_preferences import Final as Mine\n"
    )
    install(site, "bear-good", {}, {"polarbear.preferences": {"mine": "bear_good:Mine"}})
    listed = project.json("doctor")["optional"]["what other packages add"]
    finding = {"what": "mine", "found": "preference of the package 'bear-good'", "remedy": ""}
    assert finding in listed
    broken = [finding for finding in listed if finding["what"] == "broken"]
    assert len(broken) == len(REGISTRIES)
    assert all("RuntimeError: out of order" in finding["remedy"] for finding in broken)


def test_a_figure_that_fails_while_it_is_made_spoils_no_other(project: Project, site: Path):
    entries = {"undata": "bear_figures:UNDATA", "undrawn": "bear_figures:UNDRAWN"}
    install(site, "bear-figures", {"bear_figures": FAILING}, {"polarbear.figures": entries})
    project.configure()
    report = ["report", "config", "--png", "figures", "--html", "page.html"]
    _, done = project.together(["run", "config.yaml"], report)
    assert done.returncode == 0, done.stderr
    for name in entries:
        said = f"warning: the figure '{name}' of the package 'bear-figures' failed: KeyError"
        assert said in done.stderr
    drawn = {path.stem for path in (project.folder / "figures").iterdir()}
    assert {"ecdf", "undrawn"} <= drawn
    assert "undata" not in drawn
    page = (project.folder / "page.html").read_text()
    assert "Further figures" in page
    assert "failed: KeyError" in page


def completed(project: Project, words: str) -> list[str]:
    """The words that Bash offers at the end of a line."""
    request = {
        "_POLARBEAR_COMPLETE": "complete_bash",
        "COMP_WORDS": words,
        "COMP_CWORD": str(words.count(" ")),
    }
    with mock.patch.dict(os.environ, request):
        return project.done().stdout.splitlines()


def test_completion_offers_the_names_of_plug_ins(project: Project, site: Path):
    classes = {
        "models": "from polarbear.inference.models.priors import GaussianProcess as Thing",
        "preferences": "from polarbear.selection.basic_preferences import Final as Thing",
        "formats": "from polarbear.formats.coco import Coco as Thing",
        "exports": "from polarbear.formats.coco import CocoExport as Thing",
        "figures": "from dataclasses import replace\n"
        "from polarbear.report.figures.ecdf import ECDF\nThing = replace(ECDF, name='another')",
    }
    for door, code in classes.items():
        entry = {REGISTRIES[door].group: {"another": f"bear_{door}:Thing"}}
        install(site, f"bear-{door}", {f"bear_{door}": code}, entry)
    for door, words in OPTIONS_WITH_NAMES.items():
        assert completed(project, words) == [*REGISTRIES[door].places, "another"]
