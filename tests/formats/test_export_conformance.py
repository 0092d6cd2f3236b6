"""Every export in the registry keeps the promises of the base."""

from __future__ import annotations

from pathlib import Path

import pytest

import polarbear as pb
from polarbear.errors import ExportFailedError
from polarbear.formats import EXPORTS
from polarbear.formats.store_export import file_names
from tests.formats.helpers import numbered_store
from tests.support import Project

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> pb.Store:
    path = numbered_store(tmp_path_factory.mktemp("stores") / "s").path
    store = pb.open(path)
    store.infer("dirichlet", draws=2000)
    return store


@pytest.fixture(params=list(EXPORTS))
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def place(folder: Path, name: str) -> Path:
    return folder / ("out.nc" if name == "arviz" else "out")


def test_it_writes_what_it_says_and_nothing_beside(name: str, store: pb.Store, tmp_path: Path):
    told = store.export(name, place(tmp_path, name))
    assert told.what
    assert set(map(str, (p for p in tmp_path.rglob("*") if p.is_file()))) == set(told.written)


def test_what_is_there_is_kept_unless_it_is_forced(name: str, store: pb.Store, tmp_path: Path):
    told = store.export(name, place(tmp_path, name))
    before = {path: Path(path).read_bytes() for path in told.written}
    with pytest.raises(ExportFailedError, match="out.* exists already"):
        store.export(name, place(tmp_path, name))
    assert {path: Path(path).read_bytes() for path in told.written} == before
    again = store.export(name, place(tmp_path, name), force=True)
    assert again.written == told.written


def test_some_algorithms_can_be_asked_for(name: str, store: pb.Store, tmp_path: Path):
    if name == "preflib":
        with pytest.raises(ExportFailedError, match="no ranking of two or more"):
            store.export(name, tmp_path / "out", algorithms=["one"])
        return
    told = store.export(name, place(tmp_path, name), algorithms=["one"])
    assert told.algorithms == ("one",)
    with pytest.raises(ExportFailedError, match="did you mean 'one'"):
        store.export(name, place(tmp_path, name), algorithms=["onne"], force=True)


def test_a_failure_leaves_nothing_behind(name: str, store: pb.Store, tmp_path: Path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ExportFailedError, match="cannot write"):
        store.export(name, place(tmp_path / "file", name))
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_it_says_in_a_line_what_it_is(name: str):
    assert EXPORTS.about(name).endswith(".")
    assert EXPORTS.about(name) == (EXPORTS[name].__doc__ or "").partition("\n")[0]


def test_options_are_described(name: str):
    for key, field in EXPORTS[name].model_fields.items():
        assert field.description, f"{name}: {key} has no description"


def test_it_stands_in_the_documentation(name: str):
    assert f"\n| `{name}` | " in (DOCS / "formats.md").read_text().partition("## Out")[2]


def test_the_command_tells_the_same_as_json(project: Project):
    numbered_store(project.folder / "s")
    answer = project.json("export", "s", "--format", "csv", "--to", "out.csv")
    assert list(answer) == ["store", "format", "to", "algorithms", "what", "written", "notes"]
    assert answer["written"] == ["out.csv", "out.dictionary.csv"]
    shown = project("export", "s", "--format", "csv", "--to", "again.csv")
    assert shown.stdout == f"{answer['what']} written to again.csv\n"
    wrong = project("export", "s", "--format", "cvs", "--to", "again.csv")
    assert wrong.returncode == 2
    assert "did you mean 'csv'?" in wrong.stderr


def test_names_of_files_are_safe_and_no_two_alike():
    found = file_names(["a/b", "a:b", "A_B", "..", "日本"])
    assert found == {"a/b": "a_b", "a:b": "a_b-2", "A_B": "A_B-3", "..": "_", "日本": "日本"}
