"""What a reader asks the selector is kept in the address and answered as select does."""

from __future__ import annotations

from pathlib import Path

from polarbear.selection.expected_regret import value_of_information
from polarbear.selection.posterior_source import contest, find_basis
from polarbear.store import Store
from tests.report.browser import Browser
from tests.report.test_page import by_select
from tests.support import Project


def test_an_address_asks_again_what_was_asked(browser: Browser, temporal_page: Path):
    browser.open(temporal_page)
    assert browser.ask("location.hash") == ""
    browser.pick("kind", "distribution")
    browser.set("distribution", "lognormal")
    browser.set("lognormal-median-box", 77)
    browser.pick("risk", "quantile")
    browser.set("gamma-box", 0.2)
    asked, command = browser.ask("location.href"), browser.text("command")
    assert "lognormal 77" in command
    assert "--gamma 0.2" in command
    browser.driver.get("about:blank")
    browser.driver.get(asked)
    browser.wait("performance.getEntriesByName('polarbear-draws').length > 0")
    assert browser.text("command") == command
    assert browser.complaints() == []


def test_an_address_that_cannot_be_meant_leaves_the_page_as_it_is(
    browser: Browser, temporal_page: Path
):
    browser.open(temporal_page)
    before = browser.text("command")
    browser.ask("(() => { location.hash = '#ask=nonsense+1&risk=none'; })()")
    browser.wait("location.hash.includes('nonsense')")
    assert browser.text("command") == before
    assert browser.complaints() == []


def test_what_further_rounds_could_gain_is_what_select_says(
    browser: Browser, temporal_page: Path, raced_project: Project
):
    browser.open(temporal_page)
    browser.pick("kind", "distribution")
    browser.set("distribution", "uniform")
    known = by_select(raced_project, "temporal", "uniform")
    basis = find_basis(Store.open(raced_project.store), "random-walk")
    candidates = list(contest(basis).candidates)
    order = [known.choice, *(i for i in candidates if i != known.choice)]
    found = value_of_information(known.values[:, order], [known.name(item) for item in order])
    rival = found.rivals[0].algorithm
    said = browser.text("gain")
    assert f"over {known.name(known.choice)}; " in said
    assert f"of it from {rival}, " in said
