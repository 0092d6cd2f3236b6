"""The verdict on a pair over all times, and its words; the words on cycles.

A verdict counts what was shown: at a time that is above, below or alike, this relation was certain
in some round. A time that was settled because the whole pair was, or because one of the two was
eliminated, shows no relation.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import StrEnum
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from polarbear.racing.state import ABOVE, ALIKE, BELOW, OPEN, OUT, State
from polarbear.wording import joined


class Kind(StrEnum):
    """The relation of a pair over all times, seen from its first; values as in JSON."""

    DOMINATES = "dominates"
    DOMINATED = "dominated"
    NEVER_WORSE = "never worse"
    NEVER_BETTER = "never better"
    SOMETIMES_BETTER = "sometimes better"
    SOMETIMES_WORSE = "sometimes worse"
    EQUIVALENT = "equivalent"
    SOMETIMES_EQUIVALENT = "sometimes equivalent"
    CROSSING = "crossing"
    NOTHING_SHOWN = "nothing shown"
    OPEN = "open"
    MOOT = "moot"


_MIRRORED = (
    (Kind.DOMINATES, Kind.DOMINATED),
    (Kind.NEVER_WORSE, Kind.NEVER_BETTER),
    (Kind.SOMETIMES_BETTER, Kind.SOMETIMES_WORSE),
)
MIRROR = MappingProxyType(dict(_MIRRORED) | {worse: better for better, worse in _MIRRORED})
SIGNS: MappingProxyType[Kind, str] = MappingProxyType(
    dict(zip(Kind, [*"><≥≤≳≲=≈×·?", ""], strict=True))
)
_WORDS = {
    Kind.DOMINATES: "{a} is better than {b} at every time",
    Kind.NEVER_WORSE: "{a} is better than {b} at some times and equivalent at the others",
    Kind.SOMETIMES_BETTER: "{a} and {b}: neither dominates ({a} better at some times, {b} "
    "equivalent or better at others)",
    Kind.EQUIVALENT: "{a} and {b} are equivalent at every time",
    Kind.SOMETIMES_EQUIVALENT: "{a} and {b} are equivalent at some times; no relation was shown at "
    "the others",
    Kind.CROSSING: "{a} and {b} cross: each is better at some times",
    Kind.NOTHING_SHOWN: "no relation between {a} and {b} was shown",
    Kind.OPEN: "{a} and {b} are still open",
    Kind.MOOT: "{a} and {b} are not compared further: one of them is eliminated",
}
WORDS = MappingProxyType(
    {kind: _WORDS.get(kind) or _WORDS[MIRROR[kind]].format(a="{b}", b="{a}") for kind in Kind}
)
# The names of the codes of a pair at a single time, OPEN to OUT.
AT_A_TIME = ("open", "above", "below", "equivalent", "crossing", "moot")


class Verdict(NamedTuple):
    """The relation of a pair, seen from its first.

    ``above``, ``below`` and ``alike`` are the indices of times at which the first was shown to be
    better, the second was, and the two were shown to be equivalent.
    """

    kind: Kind
    above: tuple[int, ...] = ()
    below: tuple[int, ...] = ()
    alike: tuple[int, ...] = ()

    @property
    def sign(self) -> str:
        return SIGNS[self.kind]

    def words(self, a: str, b: str) -> str:
        """The verdict as a sentence without a full stop."""
        return WORDS[self.kind].format(a=a, b=b)

    def mirrored(self) -> Verdict:
        """The same, seen from the second."""
        return Verdict(MIRROR.get(self.kind, self.kind), self.below, self.above, self.alike)


def verdict(codes: Iterable[int]) -> Verdict:
    """The verdict on a pair from its codes, one per time."""
    at = np.fromiter(codes, dtype=np.int8)
    shown = (tuple(np.flatnonzero(at == code).tolist()) for code in (ABOVE, BELOW, ALIKE))
    return Verdict(_kind(set(at.tolist())), *shown)


def _kind(found: set[int]) -> Kind:
    if OPEN in found:
        return Kind.OPEN
    if {ABOVE, BELOW} <= found:
        return Kind.CROSSING  # whatever the other times would show
    if OUT in found:
        return Kind.MOOT
    if ABOVE in found:
        whole = {frozenset({ABOVE}): Kind.DOMINATES, frozenset({ABOVE, ALIKE}): Kind.NEVER_WORSE}
        return whole.get(frozenset(found), Kind.SOMETIMES_BETTER)
    if BELOW in found:
        return MIRROR[_kind({ABOVE if code == BELOW else code for code in found})]
    if ALIKE in found:
        return Kind.EQUIVALENT if found == {ALIKE} else Kind.SOMETIMES_EQUIVALENT
    return Kind.NOTHING_SHOWN


def verdict_on(state: State, a: str, b: str) -> Verdict:
    """The verdict of a race on two algorithms.

    An eliminator was better at every time in one posterior, whatever earlier rounds had settled
    about single times.
    """
    dominates = Verdict(Kind.DOMINATES, above=tuple(range(len(state.times))))
    for gone in state.eliminated:
        if {gone.by, gone.algorithm} == {a, b}:
            return dominates if gone.by == a else dominates.mirrored()
    return verdict(state.relation(a, b))


def cycle_words(names: Sequence[str]) -> str:
    return f"{joined(names)} dominate each other in a cycle: none of them eliminates another"


def reinstated_words(algorithm: str) -> str:
    return (
        f"{algorithm} is a candidate again: it beats the survivor of the cycle in which it was "
        "eliminated"
    )
