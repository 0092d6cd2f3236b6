"""What is settled about a pair over all times: decided once, and worded once.

A verdict goes by what was shown: at a time that is above, below or alike, one of these relations
was certain in some round. A time that was settled only because the pair is, for all times, or
because one of the two is out, shows none of them, and no verdict counts it as if it did.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import StrEnum
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from polarbear.racing.state import ABOVE, ALIKE, BELOW, CROSSING, OPEN, OUT, State
from polarbear.wording import decisive


class Kind(StrEnum):
    """How a pair stands, as seen from its first; a value is what JSON and CSV call it."""

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


MIRROR = MappingProxyType(
    {
        Kind.DOMINATES: Kind.DOMINATED,
        Kind.DOMINATED: Kind.DOMINATES,
        Kind.NEVER_WORSE: Kind.NEVER_BETTER,
        Kind.NEVER_BETTER: Kind.NEVER_WORSE,
        Kind.SOMETIMES_BETTER: Kind.SOMETIMES_WORSE,
        Kind.SOMETIMES_WORSE: Kind.SOMETIMES_BETTER,
    }
)
SIGNS = MappingProxyType(
    {
        Kind.DOMINATES: ">",
        Kind.DOMINATED: "<",
        Kind.NEVER_WORSE: "≥",
        Kind.NEVER_BETTER: "≤",
        Kind.SOMETIMES_BETTER: "≳",
        Kind.SOMETIMES_WORSE: "≲",
        Kind.EQUIVALENT: "=",
        Kind.SOMETIMES_EQUIVALENT: "≈",
        Kind.CROSSING: "×",
        Kind.NOTHING_SHOWN: "·",
        Kind.OPEN: "?",
        Kind.MOOT: "",
    }
)
_SEEN_FROM_THE_FIRST = {
    Kind.DOMINATES: "{a} is better than {b} at each time",
    Kind.NEVER_WORSE: "{a} is better than {b} at some times, and as good at each of the others",
    Kind.SOMETIMES_BETTER: "{a} is better than {b} at some times, {b} equivalent or better at some",
    Kind.EQUIVALENT: "{a} and {b} are equivalent at each time",
    Kind.SOMETIMES_EQUIVALENT: "{a} and {b} are equivalent at some times; at the others no "
    "relation was shown",
    Kind.CROSSING: "{a} and {b} cross: each is better at some times",
    Kind.NOTHING_SHOWN: "nothing was shown about {a} and {b}",
    Kind.OPEN: "{a} and {b} are still open",
    Kind.MOOT: "{a} and {b} were not looked into any further: one of them is out",
}
WORDS = MappingProxyType(
    {
        kind: _SEEN_FROM_THE_FIRST[kind]
        if kind in _SEEN_FROM_THE_FIRST
        else _SEEN_FROM_THE_FIRST[MIRROR[kind]].format(a="{b}", b="{a}")
        for kind in Kind
    }
)
# What a single time of a pair is called, and what that says of the time.
AT_A_TIME = MappingProxyType(
    {
        OPEN: "open",
        ABOVE: "above",
        BELOW: "below",
        ALIKE: "equivalent",
        CROSSING: "crossing",
        OUT: "moot",
    }
)
WORDS_AT_A_TIME = MappingProxyType(
    {
        "open": "open",
        "above": "{a} was shown to be better",
        "below": "{b} was shown to be better",
        "equivalent": "shown to be equivalent",
        "crossing": "shown to be neither better, worse nor equivalent here: the pair is settled "
        "all the same",
        "moot": "not looked into any further: one is out",
    }
)


class Verdict(NamedTuple):
    """What is settled about a pair, as seen from its first.

    ``above``, ``below`` and ``alike`` are the places on the grid at which the first was shown to be
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
        """What is settled about two algorithms, in a sentence without its full stop."""
        return WORDS[self.kind].format(a=a, b=b)

    def mirrored(self) -> Verdict:
        """The same, as seen from the second."""
        return Verdict(MIRROR.get(self.kind, self.kind), self.below, self.above, self.alike)


def verdict(codes: Iterable[int]) -> Verdict:
    """What the codes of a pair come to, one code a time."""
    at = np.fromiter(codes, dtype=np.int8)
    above, below, alike = (
        tuple(np.flatnonzero(at == code).tolist()) for code in (ABOVE, BELOW, ALIKE)
    )
    return Verdict(_kind(set(at.tolist())), above, below, alike)


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
    """What a race has settled about two of its algorithms.

    Whoever put another out was better at every time in one posterior, whatever earlier rounds had
    settled about single times.
    """
    everywhere = tuple(range(len(state.times)))
    for gone in state.eliminated:
        if (gone.by, gone.algorithm) == (a, b):
            return Verdict(Kind.DOMINATES, above=everywhere)
        if (gone.by, gone.algorithm) == (b, a):
            return Verdict(Kind.DOMINATED, below=everywhere)
    return verdict(state.relation(a, b))


def legend(kinds: Iterable[str]) -> list[str]:
    """What the signs of these verdicts mean; of two that mirror each other, one speaks for both."""
    used: list[Kind] = []
    for kind in sorted(set(map(Kind, kinds)), key=list(Kind).index):
        if SIGNS[kind] and MIRROR.get(kind) not in used:
            used.append(kind)
    return [f"{SIGNS[kind]} {kind}" for kind in used]


# What a probability of being better over the whole grid is of: of all times at once where that was
# inferred (joint), otherwise the lowest of what was inferred of each time for itself.
_OVER_TIME = MappingProxyType(
    {
        True: "at every time with probability {probability}",
        False: "at each time, with probability at least {probability}",
    }
)
CHANCE = MappingProxyType(
    {
        True: "P({a} better at every time)",
        False: "lowest P({a} better) at any time",
    }
)


def over_time(probability: float, joint: bool) -> str:
    """A probability of being better over the whole grid, as what it was computed."""
    return _OVER_TIME[joint].format(probability=decisive(probability))


def better_words(by: str, probability: float, joint: bool) -> str:
    """Why somebody is out."""
    return f"{by} is better {over_time(probability, joint)}"


def nearest_words(by: str, probability: float, joint: bool) -> str:
    """Who comes nearest to putting somebody out."""
    return f"{by} comes nearest, better {over_time(probability, joint)}"


def reopened_words(state: State, a: str, b: str, say: Callable[[str], str] = str) -> str:
    """Why a pair is looked at again that was shown to be above at each time.

    ``say`` makes of a name what stands in the sentence.
    """
    a, b = (say(b), say(a)) if BELOW in state.relation(a, b) else (say(a), say(b))
    return (
        f"{a} was shown to be better than {b} at each time, in one round or another, but that "
        f"did not put {b} out: they are compared again where {a} is least sure to be better"
    )


def withheld_words(algorithm: str, by: str) -> str:
    """Why somebody is still in whom the model would put out."""
    return (
        f"{algorithm} stays in: the model is sure that {by} is better, but their duels alone do "
        "not bear that out yet"
    )
