"""What may be a name: something that every table, figure, page and terminal can show as it is.

A character that shows nothing could make two names look alike, one that controls a terminal could
forge what it shows. Joiners stay where scripts and emoji need them: between two signs, neither of
which is plain ASCII.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

LONGEST_NAME = 200  # of an algorithm or an axis
LONGEST_LABEL = 16  # what fits beside a curve
LONGEST_INSTANCE = 1000  # of an instance, which may be a path
JOINERS = "\u200c\u200d"
FORMULA = r"('*[=+\-@\t\r])"  # what a cell begins with that a spreadsheet computes, or once did
RESTATED = {ord("\n"): "\\n", ord("\r"): "\\r", ord("\t"): "\\t"}


def flaw_in_name(name: str, longest: int = LONGEST_NAME) -> str:
    """Why this cannot be a name, or an empty string."""
    if not name.strip():
        return "it is empty"
    if name != name.strip():
        return "it begins or ends with a blank"
    if len(name) > longest:
        return f"it has {len(name)} characters, more than {longest}"
    hidden = next((sign for place, sign in enumerate(name) if not _shows(name, place)), None)
    if hidden is not None:
        return f"it holds the control or invisible character U+{ord(hidden):04X}"
    return ""


def checked_name(name: str, longest: int = LONGEST_NAME) -> str:
    """The name, or a ValueError that says what is wrong with it."""
    flaw = flaw_in_name(name, longest)
    if flaw:
        raise ValueError(f"'{visible(name[:60])}' cannot be a name: {flaw}")
    return name


def visible(text: str, keep: str = "") -> str:
    """Text with everything that cannot be shown written out: \\n, \\x1b, \\u202e.

    Characters in ``keep`` stay as they are.
    """
    if text.isprintable():
        return text
    shown = (
        sign if sign in keep or _shows(text, place) else _written_out(sign)
        for place, sign in enumerate(text)
    )
    return "".join(shown)


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


def _shows(text: str, place: int) -> bool:
    sign = text[place]
    if sign not in JOINERS:
        return sign.isprintable()
    around = text[place - 1 : place] + text[place + 1 : place + 2]
    return len(around) == 2 and all(one.isprintable() and not one.isascii() for one in around)


def _written_out(sign: str) -> str:
    number = ord(sign)
    if number in RESTATED:
        return RESTATED[number]
    width = 2 if number < 0x100 else 4 if number < 0x10000 else 8
    return f"\\{'xuU'[(width > 2) + (width > 4)]}{number:0{width}x}"
