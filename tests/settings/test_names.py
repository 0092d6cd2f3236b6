"""Valid names, and the display of text with invalid characters."""

import pytest

from polarbear.errors import ImportFailedError
from polarbear.settings.names import LONGEST_NAME, flaw_in_name
from polarbear.wording import visible

FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467"
ORDINARY = ["CMA-ES", "=1+1", "<b>", "σ = 0.3", "می‌خواهم", FAMILY, "☃\ufe0f", "x" * LONGEST_NAME]
HIDDEN = ["a\nb", "a\x00b", "\x1b[31mred", "a\u200bb", "a\u200db", f"{FAMILY}\u200d", "a\u202eb"]


@pytest.mark.parametrize("name", ORDINARY)
def test_a_name_in_any_script_or_emoji_is_a_name(name: str):
    assert flaw_in_name(name) == ""
    assert visible(name) == name


@pytest.mark.parametrize("name", HIDDEN)
def test_a_name_with_what_cannot_be_seen_is_none_and_the_sign_is_named(name: str):
    assert "U+" in flaw_in_name(name)
    assert visible(name).isprintable() or "\u200d" in visible(name)
    assert visible(name) != name


@pytest.mark.parametrize(
    ("name", "flaw"),
    [
        ("", "empty"),
        (" \t", "empty"),
        (" A", "blank"),
        ("x" * (LONGEST_NAME + 1), f"more than {LONGEST_NAME}"),
    ],
)
def test_a_name_that_is_empty_or_too_long_is_none(name: str, flaw: str):
    assert flaw in flaw_in_name(name)


def test_what_cannot_be_shown_is_written_out_and_line_breaks_stay_where_wanted():
    assert visible("a\n\x1b\x9b\u202e\U000e0001") == "a\\n\\x1b\\x9b\\u202e\\U000e0001"
    assert visible("a\n\x1bb", keep="\n") == "a\n\\x1bb"
    error = ImportFailedError("x.csv has\x1b[2J no\rcolumn\u2028;\nadd it")
    assert str(error) == "x.csv has\\x1b[2J no\\rcolumn\\u2028;\nadd it"
