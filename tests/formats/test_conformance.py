"""Every format and export in the registries keeps the promises of its interface."""

import runpy
from pathlib import Path

import pytest

import polarbear as pb
from polarbear.errors import ExportFailedError, ImportFailedError
from polarbear.formats import EXPORTS, FORMATS
from polarbear.formats.transfer import file_names
from tests.formats.helpers import numbered_store
from tests.support import Project

DOCS = Path(__file__).parents[2] / "docs"
# ArviZ's data are written by xarray.
NEEDS = {"arviz": pytest.mark.peer}
for_every_format = pytest.mark.parametrize("name", FORMATS)
for_every_export = pytest.mark.parametrize(
    "name", [pytest.param(name, marks=NEEDS.get(name, ())) for name in EXPORTS]
)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> pb.Store:
    store = pb.open(numbered_store(tmp_path_factory.mktemp("stores") / "s").path)
    store.infer("dirichlet", draws=2000)
    return store


def target(folder: Path, name: str) -> Path:
    endings = EXPORTS[name].endings
    return folder / (f"out{endings[0]}" if endings else "out")


@for_every_format
def test_a_format_is_documented(name: str):
    page = (DOCS / "reference" / "formats.md").read_text()
    assert f"\n| `{name}` | " in page.partition("## Out")[0]


@pytest.mark.parametrize("name", EXPORTS)
def test_an_export_is_documented_by_its_class(name: str):
    table = runpy.run_path(str(DOCS / "build.py"))["exports"]()
    rows = [line for line in table.splitlines() if line.startswith(f"| `{name}` | ")]
    (row,) = rows
    assert all(cell.strip() for cell in row.strip("|").split(" | "))


@for_every_format
def test_a_source_that_is_missing_or_invalid_is_refused_by_its_name(name: str, tmp_path: Path):
    folder = tmp_path / "nonsense"
    folder.mkdir()
    for path in ("nonsense.csv", "nonsense.json", "nonsense.info"):
        (folder / path).write_text("this, is\nno, data, at all\n")
    for source in (folder, *folder.iterdir(), tmp_path / "no-nonsense"):
        with pytest.raises(ImportFailedError, match="nonsense"):
            FORMATS[name]().read(source)


@for_every_export
def test_it_reports_all_files_and_replaces_them_only_by_force(name, store, tmp_path):
    path = target(tmp_path, name)
    report = store.export(name, path)
    assert report.what
    contents = {str(p): p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()}
    assert set(contents) == set(report.written)
    with pytest.raises(ExportFailedError, match="out.* exists already"):
        store.export(name, path)
    assert {file: Path(file).read_bytes() for file in report.written} == contents
    if name == "preflib":
        with pytest.raises(ExportFailedError, match="no ranking of two or more"):
            store.export(name, tmp_path / "one", algorithms=["one"])
    else:
        report_on_one = store.export(name, path, algorithms=["one"], force=True)
        assert report_on_one.algorithms == ("one",)
    with pytest.raises(ExportFailedError, match="did you mean 'one'"):
        store.export(name, path, algorithms=["onne"], force=True)


@for_every_export
def test_a_failure_leaves_nothing_behind(name: str, store: pb.Store, tmp_path: Path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ExportFailedError, match="cannot write"):
        store.export(name, target(tmp_path / "file", name))
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_the_command_prints_the_same_as_json(project: Project):
    numbered_store(project.folder / "s")
    answer = project.json("export", "s", "--format", "csv", "--to", "out.csv")
    assert list(answer) == ["store", "format", "to", "algorithms", "what", "written", "notes"]
    assert answer["written"] == ["out.csv", "out.dictionary.csv"]
    done = project("export", "s", "--format", "csv", "--to", "second.csv")
    assert done.stdout == f"{answer['what']} written to second.csv\n"
    refusal = project.refused("export", "s", "--format", "cvs", "--to", "second.csv")
    assert "did you mean 'csv'?" in refusal


def test_names_of_files_are_safe_and_no_two_alike():
    names = file_names(["a/b", "a:b", "A_B", "..", "日本"])
    assert names == {"a/b": "a_b", "a:b": "a_b-2", "A_B": "A_B-3", "..": "_", "日本": "日本"}
