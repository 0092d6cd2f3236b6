"""The layout of text and Markdown, and the sentences about outcomes."""

import numpy as np
import pytest

from polarbear.api.report_text import as_text
from polarbear.inference.model_options import ModelOptions
from polarbear.racing import Decisions, Threat, verdicts
from polarbear.racing.race_settings import RaceSettings
from polarbear.racing.rules import Rules
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


def settings(model: str = "empirical", **rules: object) -> RaceSettings:
    """The settings of a race that ran with these rules."""
    options = ModelOptions.model_validate({"model": model})
    return RaceSettings.of(Rules.model_validate(rules).under(options.joint), options)


def test_evidence_is_named_after_what_decides_and_rounded_down():
    near = Threat("A", probability=0.991, sceptical=0.9496, wealth=19.98)
    assert sentences.evidence(near, settings()) == "sceptical P = 0.949, wealth 19.9"
    assert sentences.evidence(near, settings(guarantee="none")) == "sceptical P = 0.949"
    assert sentences.evidence(near, settings(guarantee="anytime")) == "wealth 19.9"
    assert sentences.evidence(near, settings("dirichlet")) == "P(dominated) = 0.949, wealth 19.9"
    assert sentences.evidence(near, settings("gp")) == "joint P = 0.949, wealth 19.9"
    sure = Threat("A", 1.0, 1.0, 1e12)
    assert (
        sentences.evidence(sure, settings()) == "sceptical P = over 0.9999, wealth over 1,000,000"
    )
    assert sentences.evidence(Threat("A", 0.97), settings()) == "P(dominated) = 0.97"


@pytest.mark.parametrize(
    ("rules", "needed"),
    [
        ({}, "sceptical P >= 0.95 and wealth >= 20"),
        ({"alpha": 0.99}, "sceptical P >= 0.99 and wealth >= 100"),
        ({"guarantee": "none"}, "sceptical P >= 0.95"),
        ({"alpha": 1.0}, "sceptical P >= 1"),
    ],
)
def test_the_evidence_that_an_elimination_needs_is_that_of_its_rules(rules, needed):
    words = sentences.evidence_needed(settings(**rules))
    assert words == f"an elimination needs {needed} at every time"


def test_evidence_is_shown_only_of_an_open_pair_that_may_end_in_an_elimination():
    near = Threat("A", probability=0.97, sceptical=0.3, wealth=2.25)
    far = Threat("A", probability=0.27, sceptical=0.01, wealth=0.1)

    def words(nearest: Threat, is_open: bool) -> str:
        return without_marks(sentences.nearest_elimination(nearest, settings(), is_open))

    assert words(near, True) == "not yet eliminated by A: sceptical P = 0.300, wealth 2.25"
    assert words(near, False) == "P(dominated by A) = 0.97"
    assert words(far, True) == "P(dominated by A) = 0.27"


def test_every_code_of_a_time_has_words():
    assert set(AT_A_TIME) == set(sentences.WORDS_AT_A_TIME)


@pytest.mark.parametrize(("letters", "better", "worse"), [(">>.>", "A", "B"), ("<.<<", "B", "A")])
def test_pairs_that_stay_open_are_counted_and_named_only_on_request(letters, better, worse):
    codes = [[LETTERS.index(letter) for letter in letters]]
    state = State(("A", "B"), (1.0, 2.0, 3.0, 4.0), 8, np.array(codes, dtype=np.int8))
    count = sentences.reopened(state, [("A", "B")], names_pairs=False)
    assert count.startswith("1 pair stays open: one of the two is better at every time")
    words = without_marks(sentences.reopened(state, [("A", "B")], names_pairs=True))
    assert words == f"{count} ({better} against {worse})"


def test_a_pair_that_stays_open_is_reported_once(raced):
    record = raced.rounds[0].record
    pair = record.state.pairs[0]
    again = record._replace(decisions=Decisions(reopened=(pair,)))
    kinds = [kind for kind, _ in sentences.decisions(again)]
    assert kinds.count("reopened") == 1
    assert "reopened" not in [kind for kind, _ in sentences.decisions(again, {pair})]


def test_cycles_and_reinstated_algorithms_are_reported():
    assert verdicts.cycle_words(["A", "B", "C"]).startswith(
        "A, B and C dominate each other in a cycle"
    )
    assert verdicts.reinstated_words("A").startswith("A is a candidate again: ")
