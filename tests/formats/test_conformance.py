"""Every format in the registry keeps the promises of the base."""

from __future__ import annotations

from pathlib import Path

import pytest

from polarbear.errors import ImportFailedError
from polarbear.formats import FORMATS
from polarbear.settings.options import Source, validate

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(params=list(FORMATS))
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_a_source_that_is_not_there_is_refused_by_its_name(name: str, tmp_path: Path):
    format = validate(FORMATS[name], {}, Source(name))
    with pytest.raises(ImportFailedError, match="nowhere"):
        format.read(tmp_path / "nowhere")


def test_a_source_of_nonsense_is_refused_by_its_name(name: str, tmp_path: Path):
    for path in ("nonsense.csv", "nonsense.json", "nonsense.info"):
        (tmp_path / "nonsense").mkdir(exist_ok=True)
        (tmp_path / "nonsense" / path).write_text("this, is\nno, data, at all\n")
    format = validate(FORMATS[name], {}, Source(name))
    for source in (tmp_path / "nonsense", *(tmp_path / "nonsense").iterdir()):
        with pytest.raises(ImportFailedError, match="nonsense"):
            format.read(source)


def test_it_says_in_a_line_what_it_is(name: str):
    assert FORMATS.about(name).endswith(".")
    assert FORMATS.about(name) == (FORMATS[name].__doc__ or "").partition("\n")[0]


def test_options_are_described(name: str):
    for key, field in FORMATS[name].model_fields.items():
        assert field.description, f"{name}: {key} has no description"


def test_it_stands_in_the_documentation(name: str):
    assert f"\n| `{name}` | " in (DOCS / "formats.md").read_text().partition("## Out")[0]
