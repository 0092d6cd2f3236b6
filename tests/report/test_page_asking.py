"""What a reader asks the selector: drawn by hand, kept in the address, answered as select does."""

from __future__ import annotations

from pathlib import Path

from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from polarbear.selection.expected_regret import value_of_information
from polarbear.selection.posterior_source import contest, find_basis
from polarbear.store import Store
from tests.report.browser import Browser
from tests.report.test_page import ALL_DRAWS, by_select
from tests.support import Project

HASH = "decodeURIComponent(location.hash)"


def sketch(browser: Browser, heights: list[int]) -> None:
    """Draw by moving each bar."""
    browser.pick("kind", "sketch")
    for place, height in enumerate(heights):
        browser.ask(
            "(() => { const bar = document.querySelectorAll('.sketch input')[arguments[0]];"
            " bar.value = arguments[1];"
            " bar.dispatchEvent(new Event('input', {bubbles: true})); })()",
            place,
            height,
        )


def test_a_sketch_is_answered_as_select_answers_the_command_beside_it(
    browser: Browser, temporal_page: Path, raced_project: Project
):
    browser.open(temporal_page)
    sketch(browser, [0, 0, 5, 2, 0, 0, 0, 9, 0, 1])
    text = browser.text("command").split('"')[1]
    assert text.count(" * between ") == 4
    known = by_select(raced_project, "temporal", text)
    best = known.criteria.p2bb[known.choice]
    shown = float(browser.ask("document.querySelector('#choice-table td').textContent"))
    assert browser.text("choice").startswith(known.name(known.choice))
    assert abs(shown - best) <= ALL_DRAWS


def test_the_mouse_draws_a_sketch_and_the_keys_move_its_bars(browser: Browser, temporal_page: Path):
    browser.open(temporal_page)
    browser.pick("kind", "sketch")
    browser.ask(
        "(() => { const field = document.querySelector('.sketch');"
        " const box = field.getBoundingClientRect();"
        " const at = (kind, x, y) => field.dispatchEvent(new PointerEvent(kind, {pointerId: 1,"
        "   bubbles: true, clientX: box.left + x * box.width, clientY: box.top + y * box.height}));"
        " field.setPointerCapture = () => {};"
        " at('pointerdown', 0.05, 0.5); at('pointermove', 0.15, 0.02); at('pointerup', 0.15, 0);"
        " at('pointermove', 0.95, 0.02); })()"
    )
    assert browser.ask(HASH).startswith("#ask=sketch+5+10+0+0+0+3+6+3+0+0&")
    bar = browser.driver.find_elements(By.CSS_SELECTOR, ".sketch input")[0]
    bar.send_keys(Keys.ARROW_UP)
    assert browser.ask(HASH).startswith("#ask=sketch+6+10+")
    assert "How likely a budget of 10 to" in bar.get_attribute("aria-label")


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
