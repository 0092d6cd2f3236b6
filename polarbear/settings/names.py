"""What may be a name: something that every table, figure, page and terminal can show as it is.

A character that shows nothing could make two names look alike, one that controls a terminal could
forge what it shows. `wording` knows which those are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from polarbear.wording import shows, visible

if TYPE_CHECKING:
    import polars as pl

LONGEST_NAME = 200  # of an algorithm or an axis
LONGEST_LABEL = 16  # what fits beside a curve
LONGEST_INSTANCE = 1000  # of an instance, which may be a path
FORMULA = r"('*[=+\-@\t\r])"  # what a cell begins with that a spreadsheet computes, or once did


def flaw_in_name(name: str, longest: int = LONGEST_NAME) -> str:
    """Why this cannot be a name, or an empty string."""
    if not name.strip():
        return "it is empty"
    if name != name.strip():
        return "it begins or ends with a blank"
    if len(name) > longest:
        return f"it has {len(name)} characters, more than {longest}"
    hidden = next((sign for place, sign in enumerate(name) if not shows(name, place)), None)
    if hidden is not None:
        return f"it holds the control or invisible character U+{ord(hidden):04X}"
    return ""


def checked_name(name: str, longest: int = LONGEST_NAME) -> str:
    """The name, or a ValueError that says what is wrong with it."""
    flaw = flaw_in_name(name, longest)
    if flaw:
        raise ValueError(f"'{visible(name[:60])}' cannot be a name: {flaw}")
    return name


def without_formulas(data: pl.DataFrame) -> pl.DataFrame:
    """A table for spreadsheets: text that begins like a formula gets an apostrophe before it."""
    return _replaced(data, f"^{FORMULA}", "'$1")


def with_formulas(data: pl.DataFrame) -> pl.DataFrame:
    """A table as it was before ``without_formulas``."""
    return _replaced(data, f"^'{FORMULA}", "$1")


def _replaced(data: pl.DataFrame, pattern: str, by: str) -> pl.DataFrame:
    import polars as pl

    words = [name for name, kind in data.schema.items() if kind == pl.String]
    return data.with_columns(pl.col(name).str.replace(pattern, by) for name in words)
