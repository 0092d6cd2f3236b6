"""Every export of `import polarbear` exists, is documented, and names its module."""

import importlib
import re
from pathlib import Path

import pytest

import polarbear as pb
from polarbear import errors

MODULES = {"adapters", "suites"}
DOCS = Path(__file__).parents[2] / "docs" / "reference" / "python.md"


def test_every_export_is_listed_once_and_documented():
    assert len(pb.__all__) == len(set(pb.__all__))
    assert set(pb.__all__) <= set(dir(pb))
    words = set(re.findall(r"[\w.]+", DOCS.read_text()))
    assert [name for name in pb.__all__ if not {name, f"pb.{name}"} & words] == []


@pytest.mark.parametrize("name", sorted(set(pb.__all__) - {"__version__", *MODULES}))
def test_every_export_says_where_it_comes_from_and_what_it_is(name: str):
    export = getattr(pb, name)
    assert getattr(importlib.import_module(export.__module__), export.__qualname__) is export
    if export.__module__ != errors.__name__:
        assert export.__doc__


@pytest.mark.parametrize("name", sorted(MODULES))
def test_a_module_of_options_names_what_it_offers(name: str):
    module = getattr(pb, name)
    assert module.__doc__
    assert all(getattr(module, member).__doc__ for member in module.__all__)


def test_no_function_is_hidden_by_a_module_of_its_name():
    modules = {path.stem for path in Path(pb.__file__).parent.iterdir()}
    assert not modules & set(pb.__all__) - MODULES


def test_a_name_that_is_not_offered_is_an_attribute_error():
    with pytest.raises(AttributeError, match="attribute rase"):
        pb.rase  # noqa: B018
