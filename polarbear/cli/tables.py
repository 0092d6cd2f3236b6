"""Tables and paragraphs as text that fits a terminal: lines are folded, long words are cut."""

from __future__ import annotations

import unicodedata
from itertools import zip_longest

from polarbear.wording import visible

WIDEST_GAP = 3  # spaces between two columns


class Table:
    """Titles, a rule, and rows; a column whose title ends in '#' is aligned to the right."""

    def __init__(self, *titles: str) -> None:
        self._numbers = [title.endswith("#") for title in titles]
        self._titles = [visible(title.removesuffix("#")) for title in titles]
        self._rows: list[list[str]] = []

    def add_row(self, *cells: str) -> None:
        self._rows.append([visible(cell) for cell in cells])

    def lines(self, most: int | None = None, rule: str = "─") -> list[str]:
        """The table with an empty line before and after; ``most`` is the maximum width."""
        cells = [self._titles, *self._rows]
        columns = list(zip(*cells, strict=True))
        widths, gap = [max(map(width, column)) for column in columns], WIDEST_GAP
        if most is not None:
            words = [max(map(_longest_word, column)) for column in columns]
            between, room = len(columns) - 1, most - 1
            while gap > 1 and sum(words) + gap * between > room:
                gap -= 1
            widths = _narrowed(widths, words, room - gap * between)
        titles, *rows = [self._row(row, widths, gap) for row in cells]
        whole = sum(widths) + gap * (len(widths) - 1)
        return ["", *titles, f" {rule * whole}", *(line for row in rows for line in row), ""]

    def _row(self, cells: list[str], widths: list[int], gap: int) -> list[str]:
        folds = [folded(cell, most) for cell, most in zip(cells, widths, strict=True)]
        lines = []
        for parts in zip_longest(*folds, fillvalue=""):
            spaced = []
            for part, most, right in zip(parts, widths, self._numbers, strict=True):
                space = " " * (most - width(part))
                spaced.append(space + part if right else part + space)
            lines.append(f" {(' ' * gap).join(spaced)}".rstrip())
        return lines


def width(text: str) -> int:
    """The width of a text on a screen: East Asian characters take two columns, accents none."""
    if text.isascii():
        return len(text)
    return sum(map(_columns, text))


def _columns(sign: str) -> int:
    if unicodedata.combining(sign) or unicodedata.category(sign) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(sign) in "WF" else 1


def _longest_word(text: str) -> int:
    return max(map(width, text.split(" ")))


def folded(text: str, most: int) -> list[str]:
    """A text in lines of at most this width, broken between words."""
    if width(text) <= most:
        return [text]
    lines: list[str] = []
    for word in text.split(" "):
        if lines and width(f"{lines[-1]} {word}") <= most:
            lines[-1] += f" {word}"
        else:
            lines += _cut(word, most)
    return lines


def _cut(word: str, most: int) -> list[str]:
    pieces, room = [""], most
    for sign in word:
        taken = _columns(sign)
        if taken > room and pieces[-1]:
            pieces.append("")
            room = most
        pieces[-1] += sign
        room -= taken
    return pieces


def _narrowed(widths: list[int], words: list[int], most: int) -> list[int]:
    """Widths that fit: the widest columns shrink first; words are cut only if necessary."""
    widths = list(widths)
    for least in (words, [2] * len(widths)):  # a character may take two columns
        while sum(widths) > most:
            spare = [(now, -place) for place, now in enumerate(widths) if now > least[place]]
            if not spare:
                break
            widths[-max(spare)[1]] -= 1
    return widths
