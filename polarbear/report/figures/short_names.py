"""Names as a drawing can show them: short, harmless, on one line, and the same in every drawing."""

import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import takewhile

from polarbear.config.stored_settings import StoredSettings
from polarbear.settings.names import LONGEST_LABEL

_INVISIBLE = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
_PART = re.compile(r"[^\s,;:/_|+()\[\]{}-]+")
_WORD = re.compile(r"[^\s,;|()\[\]{}]+")  # two-point is one


def on_one_line(text: str) -> str:
    """Text without what cannot be seen: line ends, control characters, changes of direction."""
    seen = (" " if unicodedata.category(c) in _INVISIBLE else c for c in text)
    return " ".join("".join(seen).split()) or "?"


def shortened(text: str, limit: int) -> str:
    """Text cut in the middle, because configurations often differ at the end."""
    text = on_one_line(text)
    if len(text) <= limit:
        return text
    kept = max(limit - 1, 2)
    tail = kept // 3
    return f"{text[: kept - tail].rstrip()}…{text[len(text) - tail :].lstrip()}"


def labels(names: Sequence[str], given: Mapping[str, str] | None = None) -> dict[str, str]:
    """What figures call each algorithm: its label if it was ``given`` one, otherwise its name.

    Names that are too long are shortened to the parts in which they differ.
    """
    given = given or {}
    made = {name: on_one_line(given.get(name, name)) for name in names}
    too_long = [name for name in names if name not in given and len(made[name]) > LONGEST_LABEL]
    if len(too_long) > 1:
        made |= dict(zip(too_long, _what_differs([made[n] for n in too_long]), strict=True))
    return fitted(made, names, LONGEST_LABEL)


def labels_in(settings: StoredSettings) -> dict[str, str]:
    """The labels of all algorithms of a store."""
    algorithms = settings.algorithms
    stated = {name: one.label for name, one in algorithms.items() if one.label is not None}
    return labels(list(algorithms), stated)


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


def _what_differs(names: Sequence[str]) -> list[str]:
    """The words in which names differ; without the name of a setting where that is too long."""
    for word in (_PART, _WORD):
        words = [word.findall(name) for name in names]
        if len({len(found) for found in words}) == 1:
            break
    else:
        columns = zip(*words, strict=False)
        same = sum(1 for _ in takewhile(lambda column: len({*column}) == 1, columns))
        return [" ".join(found[same:]) or name for found, name in zip(words, names, strict=True)]
    differing = [column for column in zip(*words, strict=True) if len(set(column)) > 1]
    if not differing:
        return list(names)
    for shown in (differing, [_without_key(column) for column in differing]):
        rows = [" ".join(row) for row in zip(*shown, strict=True)]
        if max(map(len, rows)) <= LONGEST_LABEL:
            break
    return rows


def _without_key(column: Sequence[str]) -> Sequence[str]:
    """Values of a setting without the name that all have before '='."""
    parts = [word.partition("=") for word in column]
    if len({key for key, _, _ in parts}) == 1 and all(value for _, _, value in parts):
        return [value for _, _, value in parts]
    return column
