"""Fingerprints: what makes an algorithm's runs, and what has changed about it, in words."""

import importlib.metadata
import json
from importlib.util import find_spec
from typing import Any

import pytest

from polarbear.algorithms import ADAPTERS
from polarbear.config.configuration import parse
from polarbear.driver.fingerprints import fingerprints
from polarbear.driver.stale_runs import changes_between, source_changes
from polarbear.settings.options import Source


def fingerprint(**entry: Any) -> str:
    config = {
        "algorithms": [{"name": "A", **entry}],
        "instances": {"suite": "classic"},
        "budget": {"grid": [10, 100]},
    }
    return fingerprints(parse(config, Source("test")))["A"]


def test_an_adapter_s_library_is_noted_with_its_version(monkeypatch: pytest.MonkeyPatch):
    before = fingerprint(use="cma")
    version = importlib.metadata.version("cma")
    assert json.loads(before)["packages"] == {"cma": version}
    monkeypatch.setattr("polarbear.settings.fingerprint.installed_version", lambda name: "99.1")
    now = fingerprint(use="cma")
    assert changes_between(before, now) == [f"package cma ({version} then, 99.1 now)"]
    assert source_changes(before, now)


@pytest.mark.parametrize("name", list(ADAPTERS.places))
def test_the_library_an_adapter_names_is_a_package_of_that_name(name: str):
    library = ADAPTERS[name].library
    # Some packages are not available everywhere, or come with an extra.
    if library is not None and find_spec(library) is not None:
        assert importlib.metadata.version(library)


def test_a_changed_option_is_said_with_both_values_defaults_included():
    before = fingerprint(use="cma")
    now = fingerprint(use="cma", sigma0=0.5)
    assert changes_between(before, now) == ["sigma0: stored 0.2, configuration 0.5"]
    assert not source_changes(before, now)


def test_an_option_that_is_spelled_out_at_its_default_changes_nothing():
    assert fingerprint(use="cma", sigma0=0.2) == fingerprint(use="cma")


def test_what_figures_call_an_algorithm_makes_no_run():
    assert fingerprint(use="cma", label="mine") == fingerprint(use="cma")
