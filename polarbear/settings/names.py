"""Valid names: text that every table, figure, page and terminal can show.

Invisible characters could make two names look alike; control characters could change the output of
a terminal.
"""

from typing import TYPE_CHECKING

from polarbear.wording import shows, visible

if TYPE_CHECKING:
    import polars as pl

LONGEST_NAME = 200  # of an algorithm or an axis
LONGEST_LABEL = 16  # which fits next to a curve
LONGEST_INSTANCE = 1000  # of an instance; it may be a path
FORMULA = r"('*[=+\-@\t\r])"  # the start of a cell with a formula, possibly escaped


def flaw_in_name(name: str, longest: int = LONGEST_NAME) -> str:
    """The reason why this is no valid name, or an empty string."""
    if not name.strip():
        return "it is empty"
    if name != name.strip():
        return "it begins or ends with a blank"
    if len(name) > longest:
        return f"it has {len(name)} characters, more than {longest}"
    for position, character in enumerate(name):
        if not shows(name, position):
            return f"it contains the control or invisible character U+{ord(character):04X}"
    return ""


def checked_name(name: str, longest: int = LONGEST_NAME) -> str:
    """Return the name if it is valid; raise ValueError otherwise."""
    flaw = flaw_in_name(name, longest)
    if flaw:
        raise ValueError(f"'{visible(name[:60])}' cannot be a name: {flaw}")
    return name


def without_formulas(data: "pl.DataFrame") -> "pl.DataFrame":
    """Escape text that a spreadsheet would take for a formula by an apostrophe."""
    return _replaced(data, f"^{FORMULA}", "'$1")


def with_formulas(data: "pl.DataFrame") -> "pl.DataFrame":
    """The inverse of ``without_formulas``."""
    return _replaced(data, f"^'{FORMULA}", "$1")


def _replaced(data: "pl.DataFrame", pattern: str, by: str) -> "pl.DataFrame":
    import polars as pl

    words = [name for name, kind in data.schema.items() if kind == pl.String]
    return data.with_columns(pl.col(name).str.replace(pattern, by) for name in words)
