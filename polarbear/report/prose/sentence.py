"""Sentences in which names stand apart from words, so that a page can give them their colours."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

BEGIN, END = "\x02", "\x03"  # around a name in a text; no name can hold them
_MARKED = re.compile(f"{BEGIN}([^{END}]*){END}")


@dataclass(frozen=True)
class Name:
    """An algorithm's name within a sentence."""

    name: str


Sentence = tuple[str | Name, ...]


def plain(sentence: Sentence) -> str:
    """A sentence as text."""
    return "".join(part.name if isinstance(part, Name) else part for part in sentence)


def marked(name: str) -> str:
    """A name to be put into a text that `parsed` then takes apart."""
    return f"{BEGIN}{name}{END}"


def parsed(text: str) -> Sentence:
    """A text with marked names, as words and names."""
    pieces = _MARKED.split(text)
    parts = (Name(piece) if place % 2 else piece for place, piece in enumerate(pieces))
    return tuple(part for part in parts if part != "")


def standing_alone(sentence: Sentence) -> Sentence:
    """Words with a capital at their beginning and a full stop at their end."""
    first, *rest = sentence
    if isinstance(first, str):
        first = first[:1].upper() + first[1:]
    return (first, *rest, ".")


def listed(parts: Sequence[Sentence], last: str = "and") -> Sentence:
    """A, B and C, each of them words with names."""
    made: list[str | Name] = []
    for place, part in enumerate(parts):
        if place:
            made.append(f" {last} " if place == len(parts) - 1 else ", ")
        made += part
    return tuple(made)
