"""Names as a drawing can show them: short, harmless, on one line, and the same in every drawing."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from polarbear.settings.names import LONGEST_LABEL

_INVISIBLE = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
_WORD = re.compile(r"[^\s,;:/_|+()\[\]{}-]+")
_WHOLE_WORD = re.compile(r"[^\s,;|()\[\]{}]+")  # two-point is one, as median-success-rule is
_SHORTEST = 4  # letters of a word that is cut, with its dot


def plain(text: str) -> str:
    """Text without what cannot be seen: line ends, control characters, changes of direction."""
    seen = (" " if unicodedata.category(c) in _INVISIBLE else c for c in text)
    return " ".join("".join(seen).split()) or "?"


def shortened(text: str, limit: int) -> str:
    """Text cut in the middle, because configurations often differ at the end."""
    text = plain(text)
    if len(text) <= limit:
        return text
    kept = max(limit - 1, 2)
    tail = kept // 3
    return f"{text[: kept - tail].rstrip()}…{text[len(text) - tail :].lstrip()}"


def labels(
    names: Sequence[str], given: Mapping[str, str] | None = None, limit: int = LONGEST_LABEL
) -> dict[str, str]:
    """What figures call each algorithm: its label if it was ``given`` one, otherwise its name.

    Names that are too long are shortened to the parts in which they differ.
    """
    given = given or {}
    made = {name: plain(given.get(name, name)) for name in names}
    too_long = [name for name in names if name not in given and len(made[name]) > limit]
    if len(too_long) > 1:
        made |= dict(zip(too_long, _what_differs([made[n] for n in too_long], limit), strict=True))
    return fitted(made, names, limit)


def labels_in(config: Mapping[str, Any]) -> dict[str, str]:
    """The labels of all algorithms of a configuration, as a store keeps it."""
    entries: Mapping[str, Mapping[str, Any]] = config["algorithms"]
    stated = {name: entry.get("label") for name, entry in entries.items()}
    given = {name: label for name, label in stated.items() if isinstance(label, str)}
    return labels(list(entries), given)


def fitted(made: Mapping[str, str], names: Sequence[str], limit: int) -> dict[str, str]:
    """Labels cut to a number of letters; those that would look the same get a number.

    The number is an algorithm's place among all of ``made``.
    """
    short = {name: shortened(text, limit) for name, text in made.items()}
    twins = {form for form, count in Counter(short.values()).items() if count > 1}
    for number, name in enumerate(made, start=1):
        if short[name] in twins:
            mark = f"#{number}"
            short[name] = f"{shortened(made[name], max(limit - len(mark), 3))}{mark}"
    return {name: short[name] for name in names}


def _what_differs(names: Sequence[str], limit: int) -> list[str]:
    """Names without the words that all begin and end with; if need be, only words that differ."""
    cut, inner = _inner(names, _WORD)
    if max(map(len, cut)) <= limit:
        return cut
    if len({len(found) for found in inner}) > 1:  # words of words: what stands in whose place?
        cut, inner = _inner(names, _WHOLE_WORD)
    if max(map(len, cut)) <= limit or len({len(found) for found in inner}) > 1:
        return cut
    columns = [column for column in zip(*inner, strict=True) if len(set(column)) > 1]
    for shown in (columns, [_without_key(column) for column in columns]):
        rows = [" ".join(row) for row in zip(*shown, strict=True)]
        if max(map(len, rows)) <= limit:
            return rows
    return [" ".join(row) for row in zip(*_abbreviated(shown, limit), strict=True)]


def _inner(names: Sequence[str], word: re.Pattern[str]) -> tuple[list[str], list[list[str]]]:
    """Names without the words that all begin and end with, as they are and word by word."""
    words = [list(word.finditer(name)) for name in names]
    fewest = min(map(len, words))
    if fewest == 0:
        return list(names), [[name] for name in names]
    texts = [[one[0] for one in found] for found in words]
    first = _common([found[: fewest - 1] for found in texts])
    last = _common([found[:first:-1][: fewest - 1 - first] for found in texts])
    inner = [found[first : len(found) - last] for found in words]
    cut = [
        name[found[0].start() : found[-1].end()] for name, found in zip(names, inner, strict=True)
    ]
    return cut, [[one[0] for one in found] for found in inner]


def _abbreviated(columns: Sequence[Sequence[str]], limit: int) -> Sequence[Sequence[str]]:
    """Words cut, the longest first, until a row fits; unchanged if some would be equal."""
    lengths = [max(map(len, column)) for column in columns]
    while sum(lengths) + len(lengths) - 1 > limit and max(lengths) > _SHORTEST:
        lengths[len(lengths) - 1 - lengths[::-1].index(max(lengths))] -= 1
    made = [
        [w if len(w) <= n else f"{w[: n - 1].rstrip('-_=+/:.')}." for w in column]
        for column, n in zip(columns, lengths, strict=True)
    ]
    differ = all(len({*a}) == len({*b}) for a, b in zip(made, columns, strict=True))
    return made if differ else columns


def _common(rows: Sequence[Sequence[str]]) -> int:
    """How many words all rows begin with."""
    count = 0
    for column in zip(*rows, strict=False):
        if len(set(column)) > 1:
            break
        count += 1
    return count


def _without_key(column: Sequence[str]) -> Sequence[str]:
    """Values of a setting without the name that all have before '='."""
    parts = [word.partition("=") for word in column]
    if len({key for key, _, _ in parts}) == 1 and all(value for _, _, value in parts):
        return [value for _, _, value in parts]
    return column
