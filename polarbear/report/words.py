"""Sentences about outcomes and spans of time, for the terminal, the page, LaTeX and Markdown alike.

Sentences have no full stop. Names are inserted unchanged, so that a caller may mark them first.
Verdicts on pairs have their words in `racing.verdicts`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from types import MappingProxyType

from polarbear.racing.state import BELOW, State
from polarbear.racing.verdicts import MIRROR, SIGNS, Kind
from polarbear.wording import decisive, joined

# The probability by which an elimination is shown: of all times jointly, or the lowest over time.
_BETTER = MappingProxyType(
    {
        True: "P(better at every time) = {probability}",
        False: "P(better) = {probability} or more at every time",
    }
)
LOWEST_P_BETTER = "lowest P({a} better) at any time"
WORDS_AT_A_TIME = MappingProxyType(
    {
        "open": "open",
        "above": "{a} was shown to be better",
        "below": "{b} was shown to be better",
        "equivalent": "shown to be equivalent",
        "crossing": "neither better, worse nor equivalent here; the pair is settled by other times",
        "moot": "not compared further: one of them is eliminated",
    }
)


def better(probability: float, joint: bool) -> str:
    """The probability that one algorithm is better than another at every time."""
    return _BETTER[joint].format(probability=decisive(probability))


def eliminated(
    algorithm: str, by: str, probability: float, joint: bool, round: int | None = None
) -> str:
    when = "" if round is None else f" in round {round}"
    return f"{algorithm} eliminated{when} by {by}: {better(probability, joint)}"


def not_dominated(by: str, lowest: float) -> str:
    """Why an algorithm is a candidate that is never the best."""
    closest = f"{LOWEST_P_BETTER.format(a=by)} = {decisive(lowest)}"
    return f"not dominated with the required confidence: {closest}"


def reopened(state: State, a: str, b: str, mark: Callable[[str], str] = str) -> str:
    """Why a pair is open again although one of it was better at every time."""
    a, b = (mark(b), mark(a)) if BELOW in state.relation(a, b) else (mark(a), mark(b))
    return (
        f"{a} was shown to be better than {b} at every time, but in different rounds: they are "
        f"compared again where {a} is least certain to be better"
    )


def withheld(algorithm: str, by: str) -> str:
    """Why an algorithm stays that the model alone would eliminate."""
    return f"{algorithm} stays: the model finds {by} better, but their duels alone do not show it"


def cycle(names: Sequence[str]) -> str:
    return f"{joined(names)} dominate each other in a cycle: none of them eliminates another"


def reinstated(algorithm: str) -> str:
    return (
        f"{algorithm} is a candidate again: it beats the survivor of the cycle in which it was "
        "eliminated"
    )


def caught_up(algorithm: str) -> str:
    return f"{algorithm} has caught up and races with the others"


def not_usable(problem: str) -> str:
    return f"the posterior was not used for decisions: {problem}"


def legend(kinds: Iterable[str]) -> list[str]:
    """The meaning of the signs of verdicts; of two that mirror each other, one is explained."""
    used: list[Kind] = []
    for kind in sorted(set(map(Kind, kinds)), key=list(Kind).index):
        if SIGNS[kind] and MIRROR.get(kind) not in used:
            used.append(kind)
    return [f"{SIGNS[kind]} {kind}" for kind in used]
