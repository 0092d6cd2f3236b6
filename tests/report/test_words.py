"""The layout of text and Markdown, and the sentences about outcomes."""

import numpy as np
import pytest

from polarbear.api.report_text import as_text
from polarbear.racing import verdicts
from polarbear.racing.state import LETTERS, State
from polarbear.racing.verdicts import AT_A_TIME
from polarbear.report import words as sentences
from polarbear.report.outline import (
    BAR_LENGTH,
    Bullets,
    CharacterChart,
    Heading,
    Table,
    as_markdown,
    bar,
)
from polarbear.report.words import curve, without_marks


def test_curves_and_bars_show_the_extremes():
    assert curve(np.array([0.0, 0.5, 1.0])) == " ▄█"
    assert curve(np.array([0.02, np.nan])) == "▁ "
    assert len(curve(np.linspace(0, 1, 1000))) == 60
    assert bar(5, 5) == "█" * BAR_LENGTH
    assert bar(0, 5) == ""
    assert bar(0, 0) == ""


def test_tables_are_aligned_whatever_letters_names_have():
    lines = as_text([Table(("name", "n#"), (("日本", "1"), ("abc", "22")))]).splitlines()
    assert lines == [" name    n", " ─────────", " 日本    1", " abc    22"]


def test_text_cuts_long_names_and_shows_what_would_move_the_cursor():
    text = as_text([CharacterChart((("x" * 99, "██", "a\x1b[2Jb"),))])
    assert "\x1b" not in text
    assert "x" * 9 + "…" + "x" * 9 in text
    assert "x" * 28 not in text


def test_markdown_shows_names_as_they_are():
    blocks = [
        Heading("a_b*"),
        Bullets((("<i>n|m</i>", "`code` & [x](y)"),)),
        Table(("a|b", "n#"), (("c|d", "1"),)),
    ]
    assert as_markdown(blocks).splitlines() == [
        "# a\\_b\\*",
        "",
        "- **\\<i\\>n\\|m\\</i\\>**: `code` &amp; \\[x\\](y)",
        "",
        "| a\\|b | n |",
        "| --- | ---: |",
        "| c\\|d | 1 |",
    ]


def test_a_name_cannot_leave_a_chart_s_fence():
    markdown = as_markdown([CharacterChart((("```", "██", ""),))])
    assert markdown.count("```") == 2


def test_a_legend_names_each_sign_once_and_one_of_two_that_mirror_each_other():
    assert sentences.legend(["dominated", "crossing", "dominates", "moot", "never better"]) == [
        "> dominates",
        "≤ never better",
        "× crossing",
    ]


def test_only_a_joint_probability_speaks_of_every_time_at_once():
    assert sentences.better(0.97, joint=True) == "P(better at every time) = 0.97"
    assert sentences.better(0.97, joint=False) == "P(better) = 0.97 or more at every time"
    assert sentences.better(0.9912, joint=False) == "P(better) = 0.9912 or more at every time"


def test_every_code_of_a_time_has_words():
    assert set(AT_A_TIME) == set(sentences.WORDS_AT_A_TIME)


@pytest.mark.parametrize(("letters", "better", "worse"), [(">>.>", "A", "B"), ("<.<<", "B", "A")])
def test_a_pair_that_is_compared_again_names_the_better_one(letters, better, worse):
    codes = [[LETTERS.index(letter) for letter in letters]]
    state = State(("A", "B"), (1.0, 2.0, 3.0, 4.0), 8, np.array(codes, dtype=np.int8))
    words = without_marks(sentences.reopened(state, "A", "B"))
    assert words.startswith(f"{better} was shown to be better than {worse} at every time")
    assert words.endswith(f"where {better} is least certain to be better")


def test_cycles_and_reinstated_algorithms_are_reported():
    assert verdicts.cycle_words(["A", "B", "C"]).startswith(
        "A, B and C dominate each other in a cycle"
    )
    assert verdicts.reinstated_words("A").startswith("A is a candidate again: ")
