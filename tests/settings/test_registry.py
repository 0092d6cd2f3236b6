"""Plug-ins by name: our own, and what other packages declare by entry points."""

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

PLACES = {
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
    """A registry that has not been asked yet."""
    base = "polarbear.selection.preference:Preference"
    return Registry("preference", "polarbear.preferences", base, PLACES)


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder on Python's path; what is imported from there is forgotten afterwards."""
    monkeypatch.syspath_prepend(str(tmp_path))
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        if str(tmp_path) in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]


def declare(site: Path, package: str, text: str, **entries: str) -> None:
    module = package.replace("-", "_")
    places = {
        name.replace("_", "-"): f"{module}:{attribute}" for name, attribute in entries.items()
    }
    install(site, package, {module: text}, {"polarbear.preferences": places})


def warned(registry: Registry) -> list[str]:
    """What a registry says when it is first asked."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        list(registry)
    assert all(issubclass(entry.category, PlugInWarning) for entry in caught)
    return [str(entry.message) for entry in caught]


def test_a_package_adds_one_after_our_own(site: Path):
    declare(site, "bear-mine", GOOD, all_alike="Mine")
    known = preferences()
    assert warned(known) == []
    assert list(known) == ["uniform", "at", "all-alike"]
    assert "all-alike" in known
    assert known["all-alike"].__name__ == "Mine"
    assert dict(known.items())["all-alike"] is known["all-alike"]
    assert [kind.__name__ for kind in known.values()] == ["Uniform", "At", "Mine"]
    assert len(known) == 3
    assert known.about("all-alike") == "Every time counts the same, once more."
    assert known.about("at") == "The budget is known exactly."


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
def test_a_broken_one_is_named_in_a_warning_and_the_others_work(site: Path, how: str):
    text, reason = BROKEN[how]
    declare(site, "bear-broken", text, broken="Mine")
    declare(site, "bear-good", GOOD, good="Mine")
    known = preferences()
    (words,) = warned(known)
    assert warned(known) == []  # once is enough
    assert words.startswith("the preference 'broken' of the package 'bear-broken' is left out: ")
    assert reason in words
    assert "\n" not in words
    assert list(known) == ["uniform", "at", "good"]
    assert known["at"].__name__ == "At"
    with pytest.raises(ConfigError, match="'broken' of the package 'bear-broken' cannot be used"):
        known["broken"]


def test_a_name_that_is_taken_by_us_or_by_an_earlier_package_is_left_out(site: Path):
    declare(site, "bear-b", GOOD.replace("Mine", "Second"), mine="Second")
    declare(site, "bear-a", GOOD.replace("Mine", "First"), mine="First", at="First")
    known = preferences()
    ours, theirs = sorted(warned(known))
    assert "'at' of the package 'bear-a' is left out" in ours
    assert "one of PolarBear's own" in ours
    assert "'mine' of the package 'bear-b' is left out" in theirs
    assert "taken by the package 'bear-a'" in theirs
    assert [known[name].__name__ for name in ("at", "mine")] == ["At", "First"]
    assert list(known) == ["uniform", "at", "mine"]


def test_an_object_must_have_the_name_of_its_entry_point(site: Path):
    text = (
        "from polarbear.report.figures.base import Figure\n"
        "one = Figure('one', 'One', None, None, None, None)\n"
    )
    install(site, "bear-figures", {"bear_figures": text}, {
        "polarbear.figures": {"one": "bear_figures:one", "two": "bear_figures:one"}
    })  # fmt: skip
    base = "polarbear.report.figures.base:Figure"
    known: Registry[Figure] = Registry("figure", "polarbear.figures", base, {}, objects=True)
    (words,) = warned(known)
    assert "the figure 'two' of the package 'bear-figures' is left out: it calls itself" in words
    assert list(known) == ["one"]
