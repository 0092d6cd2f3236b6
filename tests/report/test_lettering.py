"""Names and numbers as drawings show them."""

from __future__ import annotations

import pytest

from polarbear.report.drawing.lettering import number, plain, probability, short_names, shortened


def test_what_cannot_be_seen_is_taken_out():
    assert plain("a\nb\x07\u202ec \t d") == "a b c d"
    assert plain("\u200b") == "?"
    assert plain("$x_1$ <b> é 漢") == "$x_1$ <b> é 漢"


def test_a_long_name_keeps_its_head_and_its_tail():
    assert shortened("short", 10) == "short"
    cut = shortened("cma-es with a population of 100", 12)
    assert len(cut) <= 12
    assert cut.startswith("cma-es")
    assert cut.endswith("100")


def test_names_that_would_look_the_same_get_a_number():
    names = [f"x{'y' * 50}{i}{'z' * 50}" for i in range(3)]
    short = short_names(names, 10)
    assert len(set(short.values())) == 3
    assert all(len(form) <= 10 for form in short.values())


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (0.05, "0.05"),
        (2000, "2000"),
        (50_000, "50,000"),
        (1e5, "10⁵"),
        (2.5e6, "2.5×10⁶"),
        (1e-4, "10⁻⁴"),
        (-1e6, "-10⁶"),
    ],
)
def test_numbers_are_short_and_need_no_mathematics(value, text):
    assert number(value) == text


def test_a_probability_is_never_certain_when_it_is_not():
    assert [probability(p) for p in (0.999, 0.5, 0.001)] == ["> 0.99", "0.50", "< 0.01"]
