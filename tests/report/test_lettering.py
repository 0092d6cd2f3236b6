"""Names as drawings show them."""

from __future__ import annotations

from polarbear.report.drawing.lettering import plain, short_names, shortened


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
