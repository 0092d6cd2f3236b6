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
    visible = [" " if unicodedata.category(letter) in _INVISIBLE else letter for letter in text]
    return " ".join("".join(visible).split()) or "?"


def shortened(text: str, limit: int) -> str:
    """Text cut in the middle, because configurations often differ at the end."""
    text = on_one_line(text)
    if len(text) <= limit:
        return text
    n_letters = max(limit - 1, 2)
    n_at_end = n_letters // 3
    head = text[: n_letters - n_at_end].rstrip()
    tail = text[len(text) - n_at_end :].lstrip()
    return f"{head}…{tail}"


def labels(names: Sequence[str], stated: Mapping[str, str] | None = None) -> dict[str, str]:
    """The label of each algorithm in figures: the ``stated`` one, otherwise its name.

    Names that are too long are shortened to the parts in which they differ.
    """
    stated = stated or {}
    texts = {name: on_one_line(stated.get(name, name)) for name in names}
    too_long = [name for name in names if name not in stated and len(texts[name]) > LONGEST_LABEL]
    if len(too_long) > 1:
        differences = _differing_parts([texts[name] for name in too_long])
        texts |= dict(zip(too_long, differences, strict=True))
    return fitted(texts, names, LONGEST_LABEL)


def labels_in(settings: StoredSettings) -> dict[str, str]:
    """The labels of all algorithms of a store."""
    stated = {
        name: algorithm.label
        for name, algorithm in settings.algorithms.items()
        if algorithm.label is not None
    }
    return labels(list(settings.algorithms), stated)


def fitted(texts: Mapping[str, str], names: Sequence[str], limit: int) -> dict[str, str]:
    """Labels cut to a number of letters; those that would look the same get a number.

    The number of an algorithm is its position among all ``texts``.
    """
    short = {name: shortened(text, limit) for name, text in texts.items()}
    ambiguous = {form for form, count in Counter(short.values()).items() if count > 1}
    for number, name in enumerate(texts, start=1):
        if short[name] in ambiguous:
            mark = f"#{number}"
            short[name] = f"{shortened(texts[name], max(limit - len(mark), 3))}{mark}"
    return {name: short[name] for name in names}


def _differing_parts(names: Sequence[str]) -> list[str]:
    """The words in which names differ; without the name of a setting where that is too long."""
    for pattern in (_PART, _WORD):
        words = [pattern.findall(name) for name in names]
        if len({len(words_of_name) for words_of_name in words}) == 1:
            return _differing_columns(names, words)
    return _without_common_start(names, words)


def _without_common_start(names: Sequence[str], words: Sequence[Sequence[str]]) -> list[str]:
    """Names of different numbers of words, from the first word in which they differ."""
    columns = zip(*words, strict=False)
    n_common = sum(1 for _ in takewhile(lambda column: len({*column}) == 1, columns))
    return [
        " ".join(words_of_name[n_common:]) or name
        for words_of_name, name in zip(words, names, strict=True)
    ]


def _differing_columns(names: Sequence[str], words: Sequence[Sequence[str]]) -> list[str]:
    """The words at the positions where names of the same number of words differ."""
    columns = [column for column in zip(*words, strict=True) if len(set(column)) > 1]
    if not columns:
        return list(names)
    parts = [" ".join(row) for row in zip(*columns, strict=True)]
    if max(map(len, parts)) <= LONGEST_LABEL:
        return parts
    without_keys = [_without_key(column) for column in columns]
    return [" ".join(row) for row in zip(*without_keys, strict=True)]


def _without_key(column: Sequence[str]) -> Sequence[str]:
    """Values of a setting without the name that all have before '='."""
    parts = [word.partition("=") for word in column]
    if len({key for key, _, _ in parts}) == 1 and all(value for _, _, value in parts):
        return [value for _, _, value in parts]
    return column
