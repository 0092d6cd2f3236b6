"""Registries list plug-ins by name: PolarBear's own, and those that other packages declare."""

import sys
import warnings
from pathlib import Path

import pytest

from polarbear.algorithms import ADAPTERS
from polarbear.errors import ConfigError, PlugInWarning
from polarbear.formats import EXPORTS, FORMATS
from polarbear.inference.models import MODELS
from polarbear.problems import SUITES
from polarbear.report.figures.base import Figure
from polarbear.selection.preference import PREFERENCES, Preference
from polarbear.settings.registry import Registry
from tests.plug_ins import install

OUR_PREFERENCES = {
    "uniform": "polarbear.selection.basic_preferences:Uniform",
    "at": "polarbear.selection.basic_preferences:At",
}
GOOD = """
from polarbear.selection.basic_preferences import Uniform
class Mine(Uniform):
    '''Every time counts the same, once more.

    With details.
    '''
"""


def preferences() -> Registry[type[Preference]]:
    """A registry that has not looked for entry points yet."""
    base = "polarbear.selection.preference:Preference"
    return Registry("preference", "polarbear.preferences", base, OUR_PREFERENCES)


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder on Python's path; modules imported from there are removed afterwards."""
    monkeypatch.syspath_prepend(str(tmp_path))
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        if str(tmp_path) in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]


def declare(site: Path, package: str, text: str, **entries: str) -> None:
    module = package.replace("-", "_")
    entry_points = {
        name.replace("_", "-"): f"{module}:{attribute}" for name, attribute in entries.items()
    }
    install(site, package, {module: text}, {"polarbear.preferences": entry_points})


def warned(registry: Registry) -> list[str]:
    """The warnings of a registry when its names are listed."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        list(registry)
    assert all(issubclass(entry.category, PlugInWarning) for entry in caught)
    return [str(entry.message) for entry in caught]


def test_a_plug_in_of_a_package_comes_after_our_own(site: Path):
    declare(site, "bear-mine", GOOD, all_alike="Mine")
    registry = preferences()
    assert warned(registry) == []
    assert list(registry) == ["uniform", "at", "all-alike"]
    assert "all-alike" in registry
    assert registry["all-alike"].__name__ == "Mine"
    assert dict(registry.items())["all-alike"] is registry["all-alike"]
    assert [kind.__name__ for kind in registry.values()] == ["Uniform", "At", "Mine"]
    assert len(registry) == 3
    assert registry.about("all-alike") == "Every time counts the same, once more."
    assert registry.about("at") == "The budget is known exactly."


@pytest.mark.parametrize("registry", [ADAPTERS, SUITES, FORMATS, EXPORTS, PREFERENCES])
def test_every_plug_in_and_each_of_its_options_is_described(registry: Registry):
    for name, kind in registry.items():
        assert registry.about(name).endswith("."), name
        for option, field in kind.model_fields.items():
            assert field.description, f"{name}: {option} has no description"


def test_the_options_of_every_model_are_described():
    for name, model in MODELS.items():
        for option, field in model.own_options.model_fields.items():
            assert field.description, f"{name}: {option} has no description"


BROKEN = {
    "does not import": ("import no_such_thing_at_all", "ModuleNotFoundError: No module named"),
    "does not parse": ("class Mine(", "SyntaxError"),
    "ends the process": ("import sys; sys.exit('no')", "SystemExit: no"),
    "has no such class": ("", "AttributeError"),
    "is something else": (
        "Mine = 3",
        "3 is not a class derived from polarbear.selection.preference",
    ),
    "is another class": ("class Mine: pass", "is not a class derived from"),
    "lacks a method": (
        "from polarbear.selection.preference import Preference\nclass Mine(Preference): pass",
        "Mine lacks on, words",
    ),
}


@pytest.mark.parametrize("how", BROKEN)
def test_a_broken_plug_in_is_named_in_a_warning_and_the_others_work(site: Path, how: str):
    text, reason = BROKEN[how]
    declare(site, "bear-broken", text, broken="Mine")
    declare(site, "bear-good", GOOD, good="Mine")
    registry = preferences()
    (words,) = warned(registry)
    assert warned(registry) == []  # A registry warns once.
    assert words.startswith("the preference 'broken' of the package 'bear-broken' is left out: ")
    assert reason in words
    assert "\n" not in words
    assert list(registry) == ["uniform", "at", "good"]
    assert registry["at"].__name__ == "At"
    with pytest.raises(ConfigError, match="'broken' of the package 'bear-broken' cannot be used"):
        registry["broken"]


def test_a_name_that_is_taken_by_us_or_by_an_earlier_package_is_not_registered(site: Path):
    declare(site, "bear-b", GOOD.replace("Mine", "Second"), mine="Second")
    declare(site, "bear-a", GOOD.replace("Mine", "First"), mine="First", at="First")
    registry = preferences()
    taken_by_us, taken_by_package = sorted(warned(registry))
    assert "'at' of the package 'bear-a' is left out" in taken_by_us
    assert "one of PolarBear's own" in taken_by_us
    assert "'mine' of the package 'bear-b' is left out" in taken_by_package
    assert "taken by the package 'bear-a'" in taken_by_package
    assert [registry[name].__name__ for name in ("at", "mine")] == ["At", "First"]
    assert list(registry) == ["uniform", "at", "mine"]


def test_an_object_must_have_the_name_of_its_entry_point(site: Path):
    text = (
        "from polarbear.report.figures.base import Figure\n"
        "one = Figure('one', 'One', None, None, None, None)\n"
    )
    install(site, "bear-figures", {"bear_figures": text}, {
        "polarbear.figures": {"one": "bear_figures:one", "two": "bear_figures:one"}
    })  # fmt: skip
    base = "polarbear.report.figures.base:Figure"
    registry: Registry[Figure] = Registry("figure", "polarbear.figures", base, {}, objects=True)
    (words,) = warned(registry)
    assert "the figure 'two' of the package 'bear-figures' is left out: it calls itself" in words
    assert list(registry) == ["one"]
