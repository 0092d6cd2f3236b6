"""Names that are markup, formulas, paths or commands elsewhere, in every output."""

import json
import runpy
import shutil
from pathlib import Path
from xml.etree import ElementTree

import polars as pl
import pytest

import polarbear as pb
from polarbear.formats import EXPORTS
from tests.classical.helpers import Run, make_store
from tests.support import Project

TAG = "<script>alert(1)</script>"
MARKDOWN = "**a** | `b` [c](http://d) _f_"
FORMULA = '=HYPERLINK("http://x")'
ALGORITHMS = (TAG, FORMULA, "../../up", "[bold red]x[/]", "\\input{x}%", "漢" * 200, MARKDOWN)
INSTANCES = ("<img src=x onerror=alert(1)>", "../../../up", "=1+1", "/etc/passwd", "漢" * 1000)
BACK = {"csv": "table", "parquet": "table", "ioh": "ioh"}  # the format that reads an export


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Project:
    project = Project(tmp_path_factory.mktemp("hostile"))
    rows = [
        (name, instance, t, (1 + a * i % 5) / t)
        for a, name in enumerate(ALGORITHMS)
        for i, instance in enumerate(INSTANCES)
        for t in (1.0, 10.0)
    ]
    columns = ["algorithm", "instance", "t", "y"]
    pl.DataFrame(rows, schema=columns, orient="row").write_parquet(project.folder / "x.parquet")
    pb.import_data(project.folder / "x.parquet", project.folder / "s", points=4)
    pb.open(project.folder / "s").infer(model="dirichlet", method="laplace", draws=400, seed=1)
    shutil.copytree(project.folder / "s", project.folder / "<b>t")
    return project


def assert_harmless(drawing: Path) -> None:
    """Check that a drawing is well-formed, and that nothing in it runs or loads anything."""
    for element in ElementTree.parse(drawing).iter():
        assert element.tag.rpartition("}")[2] not in {"script", "foreignObject", "image", "a"}
        for key, value in element.attrib.items():
            assert not key.startswith("on")
            assert not key.endswith("href") or value.startswith("#")


def test_a_closer_look_shows_names_as_they_are(hostile: Project):
    pair = ("show", "s", "--pair", f"{TAG},[bold red]x[/]", "--svg", "pair.svg")
    duels = hostile.done(*pair)
    assert duels.stdout.startswith(f"{TAG} against [bold red]x[/] at ")
    assert hostile.json("show", "s", "--pair", f"{TAG},[bold red]x[/]")["b"] == "[bold red]x[/]"
    assert_harmless(hostile.folder / "pair.svg")
    for number, instance in enumerate(INSTANCES):
        runs = hostile.json("show", "s", "--instance", instance, "--svg", f"{number}.svg")
        assert {run["algorithm"] for run in runs["runs"]} == set(ALGORITHMS)
        assert_harmless(hostile.folder / f"{number}.svg")


def test_a_report_has_no_markup_of_names(hostile: Project):
    text = hostile("report", "s", "--text").stdout
    assert text
    assert not {"\x1b", "\u202e"} & set(text)
    markdown = hostile("report", "s", "--markdown").stdout
    prose = "".join(markdown.split("```text")[0::2])
    assert "<script>" not in prose.replace("\\<", "")
    assert "[c](" not in prose
    rows = [line for line in markdown.splitlines() if line.startswith("|")]
    assert all(row.replace("\\|", "").count("|") >= 4 for row in rows)


def test_stores_side_by_side_have_no_markup_and_no_formula_of_names(hostile: Project):
    files = ("--html", "p.html", "--svg", "f", "--csv", "f")
    done = hostile.done("report", "s", "<b>t", "--markdown", *files)
    prose = "".join(done.stdout.split("```")[0::2])
    assert "<script" not in prose.replace("\\<", "")
    page = (hostile.folder / "p.html").read_text()
    assert "<script" not in page
    assert "<img src=x" not in page
    assert "<b>" not in page
    assert "&lt;b&gt;t" in page
    assert "default-src 'none'" in page
    drawings = list((hostile.folder / "f").glob("*.svg"))
    assert drawings
    for drawing in drawings:
        assert_harmless(drawing)
    for table in (hostile.folder / "f").glob("*.csv"):
        cells = pl.read_csv(table, infer_schema=False)["algorithm"].to_list()
        assert f"'{FORMULA}" in cells
        assert FORMULA not in cells


@pytest.mark.parametrize(
    "name",
    [
        *(name for name in EXPORTS if name not in ("coco", "arviz")),
        pytest.param("arviz", marks=pytest.mark.peer),
    ],
)
def test_an_export_stays_in_its_place_and_is_read_back_under_the_same_names(
    hostile: Project, name: str, tmp_path: Path
):
    # A table is read back by its ending; for the others, any allowed ending will do.
    preferred = {"csv": ".csv", "parquet": ".parquet", "chooser": ".py"}
    allowed = EXPORTS[name].endings
    ending = preferred.get(name, allowed[0] if allowed else "")
    destination = tmp_path / "deep" / "below" / f"x{ending}"
    export = pb.open(hostile.folder / "s").export(name, destination)
    written = {str(path) for path in tmp_path.rglob("*") if path.is_file()}
    assert written == set(export.written)
    assert all(path.startswith(str(destination.parent)) for path in written)
    assert json.loads(json.dumps(export.algorithms)) == list(ALGORITHMS)
    if name == "chooser":
        assert {algorithm for algorithm, _ in runpy.run_path(str(destination))["CHOICES"]} <= set(
            ALGORITHMS
        )
    if name in BACK:
        pb.import_data(destination, tmp_path / "back", format=BACK[name])
        assert set(pb.open(tmp_path / "back").algorithms) == set(ALGORITHMS)


def test_folders_of_coco_are_named_harmlessly_and_read_back_under_the_same_names(tmp_path: Path):
    """COCO identifies instances by numbers, so that only names of algorithms can do harm."""
    spec = {"imported": 0, "function": 1, "dimension": 2, "instance": 1, "optimum": 0.0}
    runs = {name: [Run([1.0, 10.0], [5.0, 1.0 + n])] for n, name in enumerate(ALGORITHMS)}
    make_store(tmp_path / "s", runs, specs=[{**spec, "problem": "f1-d2-i1"}])
    destination = tmp_path / "deep" / "below" / "x"
    export = pb.open(tmp_path / "s").export("coco", destination)
    assert all(Path(path).resolve().is_relative_to(destination) for path in export.written)
    pb.import_data(destination, tmp_path / "back", format="coco")
    assert set(pb.open(tmp_path / "back").algorithms) == set(ALGORITHMS)
