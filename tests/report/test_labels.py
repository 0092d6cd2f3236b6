"""Names as drawings show them."""

import pytest

from polarbear.report.figures.short_names import labels, on_one_line, shortened
from polarbear.settings.names import LONGEST_LABEL

TUNED = [
    f"modular-cma configuration lambda={size} mu={parents} restart=IPOP"
    for size in (10, 20)
    for parents in ("half", "third")
]
LARGE = [
    f"modular CMA-ES with {restarts} restarts, population {size} and {rule} step-size adaptation"
    for restarts in ("IPOP", "BIPOP")
    for size in ("small", "large")
    for rule in ("cumulative", "two-point", "median-success-rule")
]


def test_what_cannot_be_seen_is_taken_out():
    assert on_one_line("a\nb\x07\u202ec \t d") == "a b c d"
    assert on_one_line("\u200b") == "?"
    assert on_one_line("$x_1$ <b> é 漢") == "$x_1$ <b> é 漢"


def test_a_long_name_keeps_its_head_and_its_tail():
    assert shortened("short", 10) == "short"
    cut = shortened("cma-es with a population of 100", 12)
    assert len(cut) <= 12
    assert cut.startswith("cma-es")
    assert cut.endswith("100")


def test_names_that_would_look_the_same_get_a_number():
    names = [f"x{'y' * 50}{i}{'z' * 50}" for i in range(3)]
    short = labels(names)
    assert len(set(short.values())) == 3
    assert all(len(form) <= LONGEST_LABEL for form in short.values())


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["CMA-ES", "random search"], ["CMA-ES", "random search"]),
        (["my-solver-v1.2-fast-build", "my-solver-v1.2-slow-build"], ["fast", "slow"]),
        (["the same words", "the same words again and again"], None),
        (TUNED, ["10 half", "10 third", "20 half", "20 third"]),
        (LARGE[1:3], ["two-point", "median-suc…-rule"]),
        (LARGE[::5], ["IPOP small…ative", "IPOP large…-rule", "BIPOP larg…point"]),
        (["solver, with lambda=10, mu=5, on", "solver, with lambda=20, mu=5, off"], None),
        (["one alone, with a very long name"], None),
    ],
)
def test_long_names_keep_what_differs_and_no_two_look_alike(names, expected):
    shortened_names = labels(names)
    assert expected is None or list(shortened_names.values()) == expected
    assert len(set(shortened_names.values())) == len(names)
    assert all(0 < len(label) <= LONGEST_LABEL for label in shortened_names.values())


def test_a_name_that_is_short_is_never_changed_for_others_that_are_long():
    assert labels([*TUNED, "CMA-ES"])["CMA-ES"] == "CMA-ES"


def test_a_label_that_is_given_goes_before_the_name():
    short = labels(TUNED[:3], {TUNED[0]: "small"})
    assert short[TUNED[0]] == "small"
    assert short[TUNED[1]] == "10 third"
    assert short[TUNED[2]] == "20 half"
