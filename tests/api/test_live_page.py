"""The page that follows a race: written after each round."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest

from polarbear.api.listening import Listener
from polarbear.api.live_page import LivePage, check_place
from polarbear.driver.race_progress import Watcher
from polarbear.errors import ReportError
from polarbear.report.page import is_page
from tests.api.conftest import stored_runs


class Heard(Listener):
    def __init__(self) -> None:
        self.warnings: list[str] = []

    def warn(self, text: str) -> None:
        self.warnings.append(text)


class Seen(Watcher):
    def __init__(self) -> None:
        self.calls: list[str] = []

    def __getattribute__(self, name: str) -> Any:
        if name in ("checked", "begins", "finished", "infers", "ends"):
            return lambda *_: self.calls.append(name)
        return super().__getattribute__(name)


def test_the_page_follows_until_the_race_is_over_and_is_written_over(tmp_path: Path):
    store, page, inner = stored_runs(tmp_path), tmp_path / "live.html", Seen()
    paged = LivePage(inner, store, page, Heard())
    for call in ("checked", "begins", "finished", "infers"):
        getattr(paged, call)(*[None] * {"begins": 4, "infers": 0}.get(call, 1))
        assert not page.exists()
    paged.ends(cast(Any, None))
    assert inner.calls == ["checked", "begins", "finished", "infers", "ends"]
    assert '"follows":true' in page.read_text()
    assert 'id="follow"' in page.read_text()
    check_place(page)  # a page may be written over
    paged.write(follows=False)
    assert '"follows":false' in page.read_text()
    assert 'id="follow"' not in page.read_text()
    assert is_page(page)


def test_a_page_that_cannot_be_written_is_one_warning_and_the_race_continues(tmp_path: Path):
    store, heard = stored_runs(tmp_path), Heard()
    paged = LivePage(Watcher(), store, tmp_path / "gone" / "live.html", heard)
    paged.ends(cast(Any, None))
    paged.ends(cast(Any, None))
    (said,) = heard.warnings
    assert said.startswith("the page was not written: there is no folder")


def test_what_is_not_a_page_is_not_written_over(tmp_path: Path):
    mine = tmp_path / "notes.html"
    mine.write_text("<p>mine</p>")
    with pytest.raises(ReportError, match="exists and is not a PolarBear page"):
        check_place(mine)
    with pytest.raises(ReportError, match="is a folder"):
        check_place(tmp_path)
    with pytest.raises(ReportError, match="there is no folder"):
        check_place(tmp_path / "nowhere" / "page.html")
    check_place(tmp_path / "new.html")
