"""Tables as text, in the width of a terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from itertools import zip_longest

from rich.cells import cell_len, chop_cells

from polarbear.wording import visible

GAP = 3  # spaces between two columns of a table
MIN_COLUMN = 2  # a character may take two columns


def table_lines(
    titles: Sequence[str], rows: Iterable[Sequence[str]], most: int | None = None
) -> list[str]:
    """Titles, a rule and rows between empty lines, in at most this width.

    A column whose title ends in '#' is aligned to the right.
    """
    right = [title.endswith("#") for title in titles]
    shown = [title.removesuffix("#") for title in titles]
    cells = [[visible(cell) for cell in row] for row in (shown, *rows)]
    widths = [max(map(cell_len, column)) for column in zip(*cells, strict=True)]
    gaps = GAP * (len(widths) - 1) + 1
    while most is not None and sum(widths) + gaps > most and max(widths) > MIN_COLUMN:
        widths[widths.index(max(widths))] -= 1
    lines = []
    for row in cells:
        for parts in zip_longest(*map(folded, row, widths), fillvalue=""):
            spaces = [" " * (w - cell_len(part)) for part, w in zip(parts, widths, strict=True)]
            aligned = [s + p if r else p + s for p, s, r in zip(parts, spaces, right, strict=True)]
            lines.append(f" {(' ' * GAP).join(aligned)}".rstrip())
        if row is cells[0]:
            lines.append(" " + ("─" if is_unicode() else "-") * (sum(widths) + gaps - 1))
    return ["", *lines, ""]


def folded(text: str, most: int) -> list[str]:
    """A text in lines of at most this width, broken between words; long words are cut."""
    if cell_len(text) <= most:
        return [text]
    lines: list[str] = []
    for word in text.split(" "):
        if lines and cell_len(f"{lines[-1]} {word}") <= most:
            lines[-1] += f" {word}"
        else:
            lines += chop_cells(word, most) or [""]
    return lines


def is_unicode() -> bool:
    """Whether standard output can encode Unicode, as far as that is known."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    return str(encoding).lower().startswith("utf")
