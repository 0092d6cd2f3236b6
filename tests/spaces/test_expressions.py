"""Conditions in the notation of R and of Python, with unknown values."""

import pytest

from polarbear.spaces.expressions import MAX_DEPTH, MAX_LENGTH, parse_condition

TRUE = [
    ('a %in% c("x", "y") & b > 3', {"a": "x", "b": 4}),
    ("a in ['x'] and not b == 2", {"a": "x", "b": 3}),
    ('!(a == "x") || is.na(b)', {"a": "x"}),
    ("b + 1 >= 2 * c - 1", {"b": 2, "c": 2}),
    ("a not in (1, 2)", {"a": 3}),
    ("a != -1.5e-3", {"a": 1}),
    ("flag == TRUE", {"flag": True}),
    ("`lr:init` < .5", {"lr:init": 0.25}),
    ("a == '1'", {"a": 1}),  # as in R, where the number is written as text
    ("a == 1 | b == 1", {"a": 1}),  # true, whatever b is
    ("not (a == 2 & b == 1)", {"a": 1}),
    ("a %in% 'x'", {"a": "x"}),
    ("a <= b / 2", {"a": "1", "b": 2}),
]
NOT_TRUE = [
    ("a == 1", {}),
    ("!(a == 1)", {}),  # unknown stays unknown
    ("a == 1 & b == 1", {"b": 1}),
    ("a / 0 > 1", {"a": 1}),
    ("a < 'x'", {"a": 1}),
    ("a == 2", {"a": 1}),
    ("a %in% c(1, 2)", {"a": 3}),
]
REFUSED = [
    ("a ==", "ends too early"),
    ("(a == 1", "ends too early"),
    ("a == 1)", "from '\\)' on"),
    ("f(a) == 1", "calls 'f', which is not known"),
    ("a = 1", "from '= 1' on"),
    ("a %in% c(1, 2", "ends too early"),
    ("a not 1", "'not' where an operator"),
    ("", "ends too early"),
    ("a == 1 + " * MAX_LENGTH, "characters"),
    ("(" * (MAX_DEPTH + 1), "levels"),
]


@pytest.mark.parametrize(("text", "values"), TRUE)
def test_condition_holds(text, values):
    assert parse_condition(text).holds(values)


@pytest.mark.parametrize(("text", "values"), NOT_TRUE)
def test_condition_does_not_hold(text, values):
    assert not parse_condition(text).holds(values)


@pytest.mark.parametrize(("text", "reason"), REFUSED)
def test_what_is_no_condition_is_refused_with_the_reason(text, reason):
    with pytest.raises(ValueError, match=reason):
        parse_condition(text)


def test_a_condition_names_its_parameters():
    assert parse_condition("a > 1 & !(b in [1]) | c == d").names == {"a", "b", "c", "d"}
