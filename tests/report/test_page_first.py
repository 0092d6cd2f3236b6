"""What a reader sees before scrolling: the answer, who leads when, and the curves behind it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from polarbear.report.context import ReportContext
from polarbear.report.page.build import slim_page
from polarbear.report.page.sections import strip
from tests.report.browser import Browser

SCREENS = {
    (1400, 900): ["#answer-title", ".strip", "#rounds-chart"],
    (1100, 900): ["#answer-title", ".strip", "#rounds-chart"],
    (390, 844): ["#answer-title", ".strip"],
}


@pytest.mark.parametrize("screen", SCREENS)
def test_the_first_screen_holds_the_answer_without_scrolling(
    browser: Browser, race_page: Path, screen: tuple[int, int]
):
    browser.open(race_page, *screen)
    browser.ask("scrollTo(0, 0)")
    for what in SCREENS[screen]:
        place = f"document.querySelector('{what}').getBoundingClientRect()"
        assert browser.ask(f"{place}.height") > 20, what
        assert browser.ask(f"{place}.bottom") <= screen[1], what


def test_the_strip_has_a_cell_a_time_in_the_leader_s_colour(raced: ReportContext):
    made = strip(raced)
    assert made is not None
    names, likely = raced.p_best
    leaders = [raced.colour_index(names[i]) for i in likely.argmax(axis=1)]
    assert [cell.colour for cell in made.cells] == leaders
    np.testing.assert_allclose(
        [cell.p_best for cell in made.cells], likely.max(axis=1), atol=0.0051
    )
    for pieces in (made.names, made.cells):
        assert sum(piece.width for piece in pieces) == pytest.approx(100, abs=0.1)
    assert made.words in slim_page(raced)


def test_where_nothing_can_be_compared_there_is_no_strip(kinds: dict[str, ReportContext]):
    assert strip(kinds["one algorithm"]) is None
    assert strip(kinds["looking back"]) is None
