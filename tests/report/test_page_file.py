"""The page as a file: whole or not at all, and with everything in it."""

import base64
import gzip
import json
import re
from functools import partial
from html import unescape
from pathlib import Path

import numpy as np
import pytest

from polarbear.errors import ReportError
from polarbear.report.context import ReportContext, gather
from polarbear.report.figures import FIGURES
from polarbear.report.figures.figure_files import write_text
from polarbear.report.page import page_data
from polarbear.report.page.assets import HIGHEST, json_in_html, packed, sentence, source
from polarbear.report.page.build import FOR_PAPER, page, slim_page
from polarbear.report.page.page_data import ticks
from polarbear.report.page.sections import strip
from polarbear.report.story import story_of
from polarbear.store import StoreOnDisk
from tests.support import Project, no_space


@pytest.fixture(scope="module")
def context(raced_project: Project) -> ReportContext:
    return gather(StoreOnDisk.open(raced_project.store))


def test_where_it_cannot_be_written_that_is_said_and_nothing_is_left(
    context: ReportContext, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    with pytest.raises(ReportError, match="is a folder; name a file"):
        write_text(partial(page, context), tmp_path, force=True)
    own_file = tmp_path / "mine.html"
    own_file.write_text("mine")
    with pytest.raises(ReportError, match="mine.html exists already; write over it with --force"):
        write_text(partial(page, context), own_file)
    assert own_file.read_text() == "mine"
    own_file.unlink()
    monkeypatch.setattr("polarbear.store.fs.os.fsync", no_space)
    with pytest.raises(ReportError, match="cannot write .*No space left on device"):
        write_text(partial(page, context), tmp_path / "page.html")
    assert list(tmp_path.iterdir()) == []


def test_it_refers_to_nothing_outside_itself(race_page: Path):
    text = race_page.read_text()
    plotly = re.search(r'id="plotly">(.*?)</script>', text)
    assert plotly is not None
    rest = text.replace(plotly[1], "")
    assert not re.search(r"(src|href)\s*=\s*[\"'](?!#|data:)", rest)
    assert "http" not in re.sub(r"http-equiv", "", rest)
    assert "default-src 'none'" in rest
    assert "{{" not in rest.split('id="page-data"')[0]


def test_a_slim_page_holds_no_markup_from_names(kinds: dict[str, ReportContext]):
    slim = slim_page(kinds["hostile names"])
    assert "<script>alert" not in slim
    assert "&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;" in slim


def test_commands_in_a_sentence_look_so_and_names_stay_as_they_are():
    said = sentence("`polarbear race` takes <a> and `b` in; `--all` too")
    assert said == (
        "<code>polarbear race</code> takes &lt;a&gt; and `b` in; <code>--all</code> too."
    )


@pytest.mark.slow
def test_the_same_store_gives_the_same_page(context: ReportContext, tmp_path: Path):
    for name in ("one.html", "two.html"):
        write_text(partial(page, context), tmp_path / name)
    assert (tmp_path / "one.html").read_bytes() == (tmp_path / "two.html").read_bytes()


def unpacked(pack: str) -> np.ndarray:
    """The numbers that a page reads back."""
    codes = np.frombuffer(base64.b64decode(pack), dtype="<u2").astype(np.float64)
    return np.where(codes > HIGHEST, np.nan, codes / HIGHEST)


def test_packed_numbers_come_back_to_a_hair_and_missing_ones_as_missing():
    rng = np.random.default_rng(1)
    values = rng.dirichlet([0.1, 1, 5], size=400)
    values[3, 1] = np.nan
    values_read = unpacked(packed(values)).reshape(values.shape)
    assert np.isnan(values_read[3, 1])
    assert np.nanmax(np.abs(values_read - values)) <= 0.5 / 65534 + 1e-12
    assert unpacked(packed(np.array([0.0, 0.5, 1.0]))).tolist() == [0.0, 0.5, 1.0]


def test_draws_are_thinned_evenly_and_only_where_they_do_not_fit():
    assert page_data.kept_draws(700, 100).tolist() == list(range(700))
    kept = page_data.kept_draws(4000, 60)
    assert len(kept) == page_data.TARGET_NUMBERS // 60
    assert kept[0] == 0
    assert set(np.diff(kept)) == {3, 4}  # 1250 of 4000
    assert len(page_data.kept_draws(4000, 1300)) == page_data.MIN_DRAWS
    assert len(page_data.kept_draws(4000, 10**5)) == page_data.MAX_NUMBERS // 10**5
    assert len(page_data.kept_draws(10, 10**9)) == 1


@pytest.mark.parametrize(
    ("first", "last", "words"),
    [
        (10, 200, ["10", "20", "50", "100", "200"]),
        (50, 2000, ["50", "100", "200", "500", "1000", "2000"]),
        (1, 1e6, ["1", "10", "100", "1000", "10,000", "10⁵", "10⁶"]),
        (1e-6, 1e4, ["10⁻⁶", "10⁻⁴", "0.01", "1", "100", "10,000"]),
    ],
)
def test_ticks_stand_at_ones_twos_and_fives_or_at_orders_of_magnitude(first, last, words):
    assert [text for _, text in ticks(first, last)] == words


@pytest.fixture(scope="module")
def slim(context: ReportContext) -> str:
    return slim_page(context)


def test_a_slim_page_has_the_words_and_drawings_and_nothing_that_computes(context, slim):
    assert "<script" not in slim
    assert "script-src" not in slim
    available = [figure for figure in FIGURES.values() if figure.missing(context) is None]
    drawn = [figure for figure in available if figure.name != FOR_PAPER]
    assert slim.count("<svg") == len(drawn) == len(available) - 1
    assert not re.search(r"(src|href)\s*=\s*[\"'](?!#|data:)", slim)
    story = story_of(context)
    text = unescape(re.sub(r"<[^>]*>", "", slim))
    for words in (story.evidence, *(entry.reason[1:] for entry in story.members)):
        assert words in text


def test_pages_stay_light(race_page: Path, slim: str):
    """The page of a small race is small: draws and points of a plane are bounded."""
    assert race_page.stat().st_size <= 2_000_000
    assert len(gzip.compress(race_page.read_bytes())) <= 1_000_000
    assert len(slim.encode()) <= 500_000


def test_json_in_a_page_ends_no_element_and_reads_back():
    value = {"</script>": "<!-- & \u2028 \u2029 ' \" \\ 終", "n": [1.5, None, True]}
    text = json_in_html(value)
    assert not set("<>&\u2028\u2029") & set(text)
    assert json.loads(text) == value


def test_paper_names_the_eliminated_algorithms(raced: ReportContext):
    document = slim_page(raced)
    on_paper = document.partition('class="on-paper"')[2].partition("<details>")[0]
    assert raced.race is not None
    assert raced.race.eliminated
    assert all(
        f">{elimination.algorithm}</bdi>" in on_paper for elimination in raced.race.eliminated
    )
    screen, _, paper = source("style.css").partition("@media print")
    assert ".on-paper { display: none; }" in screen
    assert ".on-paper { display: block; }" in paper


def test_the_strip_has_a_cell_a_time_in_the_leader_s_colour(context: ReportContext, slim: str):
    leader_strip = strip(context)
    assert leader_strip is not None
    names, likely = context.p_best
    leaders = [context.colour_index(names[i]) for i in likely.argmax(axis=1)]
    assert [cell.colour for cell in leader_strip.cells] == leaders
    highest = likely.max(axis=1)
    np.testing.assert_allclose([cell.p_best for cell in leader_strip.cells], highest, atol=0.0051)
    for pieces in (leader_strip.names, leader_strip.cells):
        assert sum(piece.width for piece in pieces) == pytest.approx(100, abs=0.1)
    assert leader_strip.words in slim


def test_where_nothing_can_be_compared_there_is_no_strip(kinds: dict[str, ReportContext]):
    assert strip(kinds["one algorithm"]) is None
    assert strip(kinds["looking back"]) is None
