"""The verdict on a pair over all times, and the sentences about it and about cycles.

A verdict counts only relations that were shown: some round was certain, at that very time, that
the first is above, below or equivalent. Times can also be settled without that: because one
algorithm of the pair was eliminated, or because relations at other times settled the whole pair.
Such a time shows no relation.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import StrEnum
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from polarbear.racing.state import ABOVE, ALIKE, BELOW, OPEN, OUT, State
from polarbear.wording import joined


class VerdictKind(StrEnum):
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
    (VerdictKind.DOMINATES, VerdictKind.DOMINATED),
    (VerdictKind.NEVER_WORSE, VerdictKind.NEVER_BETTER),
    (VerdictKind.SOMETIMES_BETTER, VerdictKind.SOMETIMES_WORSE),
)
MIRROR = MappingProxyType(dict(_MIRRORED) | {worse: better for better, worse in _MIRRORED})
SIGNS: MappingProxyType[VerdictKind, str] = MappingProxyType(
    dict(zip(VerdictKind, [*"><≥≤≳≲=≈×·?", ""], strict=True))
)
_WORDS = {
    VerdictKind.DOMINATES: "{a} is better than {b} at every time",
    VerdictKind.NEVER_WORSE: "{a} is better than {b} at some times and equivalent at the others",
    VerdictKind.SOMETIMES_BETTER: "{a} and {b}: neither dominates ({a} better at some times, {b} "
    "equivalent or better at others)",
    VerdictKind.EQUIVALENT: "{a} and {b} are equivalent at every time",
    VerdictKind.SOMETIMES_EQUIVALENT: "{a} and {b} are equivalent at some times; no relation was "
    "shown at the others",
    VerdictKind.CROSSING: "{a} and {b} cross: each is better at some times",
    VerdictKind.NOTHING_SHOWN: "no relation between {a} and {b} was shown",
    VerdictKind.OPEN: "{a} and {b} are still open",
    VerdictKind.MOOT: "{a} and {b} are not compared further: one of them is eliminated",
}


def _template(kind: VerdictKind) -> str:
    """The sentence of a kind; that of a mirrored kind with its two algorithms exchanged."""
    if kind in _WORDS:
        return _WORDS[kind]
    return _WORDS[MIRROR[kind]].format(a="{b}", b="{a}")


WORDS = MappingProxyType({kind: _template(kind) for kind in VerdictKind})
# The names of the codes of a pair at a single time, OPEN to OUT.
AT_A_TIME = ("open", "above", "below", "equivalent", "crossing", "moot")


class Verdict(NamedTuple):
    """The relation of a pair, seen from its first.

    ``above``, ``below`` and ``alike`` are the indices of times at which the first was shown to be
    better, the second was, and the two were shown to be equivalent.
    """

    kind: VerdictKind
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
    relations = np.fromiter(codes, dtype=np.int8)
    return Verdict(
        kind=_kind(frozenset(relations.tolist())),
        above=_times_with(relations, ABOVE),
        below=_times_with(relations, BELOW),
        alike=_times_with(relations, ALIKE),
    )


def _times_with(relations: np.ndarray, code: int) -> tuple[int, ...]:
    return tuple(np.flatnonzero(relations == code).tolist())


def _kind(codes: frozenset[int]) -> VerdictKind:
    """The kind of a pair that has these codes at its times."""
    if OPEN in codes:
        return VerdictKind.OPEN
    if {ABOVE, BELOW} <= codes:
        return VerdictKind.CROSSING  # whatever the other times would show
    if OUT in codes:
        return VerdictKind.MOOT
    if ABOVE in codes:
        return _kind_of_sometimes_above(codes)
    if BELOW in codes:
        from_other_side = frozenset(ABOVE if code == BELOW else code for code in codes)
        return MIRROR[_kind_of_sometimes_above(from_other_side)]
    if codes == {ALIKE}:
        return VerdictKind.EQUIVALENT
    if ALIKE in codes:
        return VerdictKind.SOMETIMES_EQUIVALENT
    return VerdictKind.NOTHING_SHOWN


def _kind_of_sometimes_above(codes: frozenset[int]) -> VerdictKind:
    """The kind of a pair whose first is above at some time, and never below."""
    if codes == {ABOVE}:
        return VerdictKind.DOMINATES
    if codes == {ABOVE, ALIKE}:
        return VerdictKind.NEVER_WORSE
    return VerdictKind.SOMETIMES_BETTER


def verdict_on(state: State, a: str, b: str) -> Verdict:
    """The verdict of a race on two algorithms.

    An eliminator was better at every time in one posterior, whatever earlier rounds had settled
    about single times.
    """
    dominates = Verdict(VerdictKind.DOMINATES, above=tuple(range(len(state.times))))
    for elimination in state.eliminated:
        if {elimination.by, elimination.algorithm} == {a, b}:
            return dominates if elimination.by == a else dominates.mirrored()
    return verdict(state.relation(a, b))


def is_shown_member(state: State, algorithm: str) -> bool:
    """Whether a candidate was shown to be better, at some time, than each other candidate.

    Then none of them beats it at every time: it belongs to the anytime Pareto set.
    """
    others = [name for name in state.candidates if name != algorithm]
    return algorithm in state.candidates and all(
        (state.relation(algorithm, name) == ABOVE).any() for name in others
    )


def cycle_words(names: Sequence[str]) -> str:
    return f"{joined(names)} dominate each other in a cycle: none of them eliminates another"


def reinstated_words(algorithm: str) -> str:
    return (
        f"{algorithm} is a candidate again: it beats the survivor of the cycle in which it was "
        "eliminated"
    )
