"""Sentences in which names stand apart from words, so that a page can give them their colours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Name:
    """An algorithm's name within a sentence."""

    name: str


Sentence = tuple[str | Name, ...]


def plain(sentence: Sentence) -> str:
    """A sentence as text."""
    return "".join(part.name if isinstance(part, Name) else part for part in sentence)


def listed(parts: Sequence[Sentence], last: str = "and") -> Sentence:
    """A, B and C, each of them words with names."""
    made: list[str | Name] = []
    for place, part in enumerate(parts):
        if place:
            made.append(f" {last} " if place == len(parts) - 1 else ", ")
        made += part
    return tuple(made)
