"""Plurals, lists, probabilities, shares and times are worded in one place, and truly."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from polarbear import wording


@pytest.mark.parametrize(
    ("number", "words"),
    [(0, "0 rounds"), (1, "1 round"), (2, "2 rounds"), (12000, "12,000 rounds")],
)
def test_one_is_singular_and_thousands_are_set_apart(number, words):
    assert wording.counted(number, "round") == words


def test_a_plural_that_is_not_made_with_an_s_can_be_named():
    assert wording.counted(1, "kind of failure", "kinds of failure") == "1 kind of failure"
    assert wording.counted(3, "kind of failure", "kinds of failure") == "3 kinds of failure"


@pytest.mark.parametrize(
    ("names", "words"),
    [([], ""), (["A"], "A"), (["A", "B"], "A and B"), (["A", "B", "C"], "A, B and C")],
)
def test_names_are_joined_as_people_do(names, words):
    assert wording.joined(names) == words


def test_alternatives_are_joined_with_or():
    assert wording.joined(["A", "B", "C"], "or") == "A, B or C"


def test_names_that_repeat_are_counted():
    assert wording.multiples(["B", "A", "B"]) == "2 x B, 1 x A"


@pytest.mark.parametrize(
    ("value", "words"),
    [(0.2227272, "0.223"), (0.00309544, "0.0031"), (19.64268759, "19.6"), (74.0, "74"),
     (999.7, "1,000"), (2714.2, "2,714"), (12000.0, "12,000")],
)  # fmt: skip
def test_times_have_three_digits_and_no_power_of_ten(value, words):
    assert wording.time(value) == words


def test_a_number_that_rounds_to_zero_has_no_minus():
    assert wording.percent(-0.001) == wording.percent_cell(-0.001) == "0%"
    assert wording.fixed(-0.0004, 3) == "0.000"
    assert wording.points(-0.001) == "0"


@pytest.mark.parametrize(
    ("low", "high", "found"), [(19.64268759, 50, 20), (19.64268759, 19.7, 19.7), (80, 80, 80)]
)
def test_a_number_to_type_has_as_few_digits_as_its_interval_allows(low, high, found):
    assert wording.short_between(low, high) == found


@pytest.mark.parametrize(
    ("value", "axis", "words"),
    [
        (1.0, "evaluations", "1 evaluation"),
        (0.99999, "seconds", "1 second"),
        (0.5, "seconds", "0.5 seconds"),
        (2000, "evaluations", "2,000 evaluations"),
        (1, "ms", "1 ms"),
    ],
)
def test_a_time_has_the_unit_that_goes_with_what_is_shown(value, axis, words):
    assert wording.timed(value, axis) == words


@pytest.mark.parametrize(
    ("axis", "one"),
    [
        ("evaluations", "evaluation"),
        ("queries", "query"),
        ("batches", "batch"),
        ("passes", "pass"),
        ("CPU seconds", "CPU second"),
        ("s", "s"),
        ("progress", "progress"),
        ("t", "t"),
    ],
)
def test_an_axis_of_any_name_has_a_singular(axis, one):
    assert wording.singular(axis) == one


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(3.25, "3.2 s"), (45, "45 s"), (720, "12 min"), (12240, "3.4 h")],
)
def test_a_duration_is_said_in_the_unit_that_fits(seconds, words):
    assert wording.duration(seconds) == words


def test_sizes_are_said_in_the_unit_that_fits():
    assert wording.size(12) == "12 B"
    assert wording.size(3.4 * 2**20) == "3.4 MiB"
    assert wording.size(2**42) == "4096.0 GiB"


@pytest.mark.parametrize(
    ("value", "words"),
    [(0.0, "0.00"), (0.001, "under 0.01"), (0.954, "0.95"), (0.9912, "0.9912"),
     (0.999999, "over 0.9999"), (1.0, "over 0.9999")],
)  # fmt: skip
def test_probabilities_near_a_decision_keep_their_digits(value, words):
    assert wording.decisive(value) == words


@pytest.mark.parametrize(
    ("value", "words", "mark", "cell"),
    [
        (0.0, "0.00", "< 0.01", "0"),
        (0.004, "under 0.01", "< 0.01", "0"),
        (0.5, "0.50", "0.50", ".50"),
        (0.996, "over 0.99", "> 0.99", ">.99"),
    ],
)
def test_a_probability_is_never_certain_when_it_is_not(value, words, mark, cell):
    assert wording.probability(value) == words
    assert wording.probability_mark(value) == mark
    assert wording.probability_cell(value) == cell


@pytest.mark.parametrize(
    ("share", "words"),
    [
        (0.0, "0%"),
        (0.004, "under 1%"),
        (0.454, "45%"),
        (0.996, "over 99%"),
        (1.0, "100%"),
        (-0.12, "-12%"),
    ],
)
def test_a_share_is_all_or_nothing_only_if_it_is(share, words):
    assert wording.percent(share) == words


@pytest.mark.parametrize(
    ("value", "words"), [(0.0, "0"), (2e-5, "less than 0.0001"), (0.012345, "0.012")]
)
def test_a_small_number_is_nothing_only_if_it_is(value, words):
    assert wording.small(value) == words


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (0.05, "0.05"),
        (2000, "2000"),
        (50_000, "50,000"),
        (1e5, "10⁵"),
        (2.5e6, "2.5×10⁶"),
        (2e5, "2×10⁵"),
        (-1e6, "-10⁶"),
        (1e-4, "10⁻⁴"),
    ],
)
def test_numbers_on_an_axis_are_as_short_as_they_can_be(value, text):
    assert wording.tick(value) == text


def test_a_page_gets_nouns_and_limits_that_say_what_this_module_says():
    words = wording.page_words("evaluations", ["instance"])
    assert words["axis"] == {"one": "evaluation", "many": "evaluations"}
    assert words["nouns"] == {"instance": {"one": "instance", "many": "instances"}}
    limits = words["probability"]
    assert wording.probability(limits["high"]) == limits["over"]
    assert wording.probability(limits["low"] / 2) == limits["under"]
    assert wording.small(words["small"]["smallest"] / 2) == words["small"]["less"]


BY_HAND = re.compile(
    r"""else\s["']s["'] | ["']s["']\sif | :\.\d%\} | ["']\s(?:and|or)\s["']\.join""", re.VERBOSE
)


def test_the_pattern_finds_what_is_worded_by_hand():
    for code in (
        """f"{n} run{'' if n == 1 else 's'}\"""",
        """("s" if n != 1 else "")""",
        '''f"{share:.0%} of"''',
        """" and ".join(names)""",
    ):
        assert BY_HAND.search(code)


def test_nothing_else_words_plurals_percentages_or_lists_by_hand():
    root = Path(wording.__file__).parent
    sources = [path for path in root.rglob("*.py") if path.name != "wording.py"]
    found = [str(path.relative_to(root)) for path in sources if BY_HAND.search(path.read_text())]
    assert found == []
