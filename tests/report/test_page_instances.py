"""A closer look on the page: what it tells of duels and runs is what `polarbear show` tells."""

from pathlib import Path

import pytest

from polarbear.facts.run_details import duels_at, runs_on
from polarbear.report.context import gather
from polarbear.report.page import page_data
from polarbear.store import StoreOnDisk
from tests.report.browser import Browser
from tests.report.conftest import TIMES
from tests.support import Project

ROWS = (
    "[...document.querySelectorAll('#duels tbody tr')]"
    ".map(row => [...row.children].map(cell => cell.textContent))"
)


@pytest.fixture
def store(raced_project: Project) -> StoreOnDisk:
    return StoreOnDisk.open(raced_project.store)


def look_at(browser: Browser, a: str, b: str, t: int) -> None:
    names = "[...document.getElementById('pair-a').options].map(o => o.textContent)"
    places = [browser.ask(names).index(name) for name in (a, b)]
    browser.set("pair-a", places[0])
    browser.set("pair-b", places[1])
    browser.set("pair-at", TIMES.index(t))
    expected = f"{places[0]} {places[1]} {TIMES.index(t)}"
    browser.wait(f"document.getElementById('duels').dataset.shown === '{expected}'")


@pytest.mark.parametrize(("a", "b", "t"), [("early", "late", 10), ("late", "middle", 320)])
def test_duels_on_the_page_are_those_of_show(browser, race_page, store, a, b, t):
    held = page_data.instance_sample(gather(store))
    assert held is not None
    browser.open(race_page)
    look_at(browser, a, b, t)
    told = [duel for duel in duels_at(store, a, b, t).duels if duel.instance in held["instances"]]
    rows = browser.ask(ROWS)
    assert {(row[0], row[3]) for row in rows} == {(d.instance, d.winner or "tie") for d in told}
    assert len(rows) == len(told) > 5
    wins = sum(duel.winner == a for duel in told)
    assert f"{a} wins {wins}, " in browser.text("duels-said")


def test_an_instance_shows_its_runs_their_seeds_and_how_to_repeat_one(browser, race_page, store):
    browser.open(race_page)
    look_at(browser, "early", "late", 10)
    name = browser.ask(ROWS)[0][0]
    browser.ask("document.querySelector('#duels button').click()")
    browser.wait("document.getElementById('instance-chart').dataset.drawn === 'yes'")
    assert browser.text("instance-title") == name
    told = runs_on(store, name)
    for run in told.runs:
        assert str(run.seed) in browser.text("instance-runs")
    assert browser.text("instance-command") == f"{told.repeat} {told.runs[0].algorithm}"
    browser.ask("document.querySelectorAll('#instance-runs button')[1].click()")
    assert browser.text("instance-command") == f"{told.repeat} {told.runs[1].algorithm}"
    lines = browser.ask("document.querySelectorAll('#instance-chart .scatterlayer .trace').length")
    assert lines == len(told.runs)
    assert browser.complaints() == []


def test_the_keyboard_opens_an_instance_and_escape_goes_back_to_where_it_was_asked_for(
    browser: Browser, race_page: Path
):
    from selenium.webdriver.common.keys import Keys

    browser.open(race_page)
    look_at(browser, "early", "late", 10)
    button = "document.querySelectorAll('#duels button')[2]"
    browser.ask(f"{button}.focus()")
    browser.driver.switch_to.active_element.send_keys(Keys.ENTER)
    browser.wait("document.activeElement.id === 'instance-title'")
    assert browser.text("instance-title") == browser.ask(f"{button}.textContent")
    browser.driver.switch_to.active_element.send_keys(Keys.ESCAPE)
    assert browser.ask("document.getElementById('instance').hidden")
    assert browser.ask(f"document.activeElement === {button}")
    browser.driver.switch_to.active_element.send_keys(Keys.SPACE)
    browser.wait("document.activeElement.id === 'instance-title'")
    browser.ask("document.getElementById('instance-close').click()")
    assert browser.ask(f"document.activeElement === {button}")


def test_a_click_on_a_pair_and_a_time_shows_its_duels(browser: Browser, race_page: Path):
    browser.open(race_page)
    chart = "document.querySelector('[data-figure=pairs] .chart')"
    browser.ask(f"{chart}.scrollIntoView({{behavior: 'instant', block: 'center'}})")
    browser.wait(f"{chart}.dataset.drawn === 'yes'")
    browser.ask(
        f"(() => {{ const data = {chart}.data[0];"
        f" const pointIndex = data.clickedPairs.findIndex(pair => pair.t === {TIMES[2]});"
        f" {chart}.emit('plotly_click', {{points: [{{data, pointIndex}}]}}); }})()"
    )
    browser.wait("document.getElementById('duels').dataset.shown.endsWith(' 2')")
    assert f"at {TIMES[2]} evaluations" in browser.text("duels-said")


def test_what_a_page_holds_is_bounded_and_holds_the_most_runs(raced, monkeypatch):
    monkeypatch.setattr(page_data, "MAX_INSTANCES", 10**6)
    monkeypatch.setattr(page_data, "MAX_VALUES", 10**9)
    all_runs = page_data.instance_sample(raced)
    assert all_runs is not None
    assert all_runs["of"] == len(all_runs["instances"]) > 9
    monkeypatch.setattr(page_data, "MAX_INSTANCES", 9)
    sample = page_data.instance_sample(raced)
    assert sample is not None
    assert len(sample["instances"]) == 9
    assert sample["of"] == all_runs["of"]
    runs = [sum(run is not None for run in row) for row in all_runs["runs"]]
    kept = [sum(run is not None for run in row) for row in sample["runs"]]
    assert sum(kept) == sum(sorted(runs, reverse=True)[:9])
    monkeypatch.setattr(page_data, "MAX_VALUES", 1)
    fewest = page_data.instance_sample(raced)
    assert fewest is not None
    assert len(fewest["instances"]) == page_data.MIN_INSTANCES
