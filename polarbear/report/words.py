"""Sentences about outcomes, for the terminal, the page, LaTeX and Markdown alike.

They have no full stop. Names are inserted unchanged; a caller that wants them apart from words, in
their colours, inserts `marked` names and has the text `parsed`. Verdicts on pairs have their words
in `racing.verdicts`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from polarbear.racing import Elimination
from polarbear.racing.state import BELOW, State
from polarbear.racing.verdicts import MIRROR, SIGNS, Kind
from polarbear.wording import counted, decisive, joined

# The probability by which an elimination is shown: of all times jointly, or the lowest over time.
_BETTER = MappingProxyType(
    {
        True: "P(better at every time) = {probability}",
        False: "P(better) = {probability} or more at every time",
    }
)
CURVE_BLOCKS = " ▁▂▃▄▅▆▇█"
CURVE_LENGTH = 60  # characters
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


def eliminated_by(gone: Elimination, by: str, joint: bool) -> str:
    """An elimination after the name of the algorithm."""
    seen = counted(gone.instances, "instance")
    return f"by {by} in round {gone.round}, after {seen}: {better(gone.probability, joint)}"


def not_dominated(by: str, highest: float, joint: bool = False) -> str:
    """Why an algorithm is a candidate that is never the best."""
    event = f"P({by} better at every time)" if joint else LOWEST_P_BETTER.format(a=by)
    return f"not dominated with the required confidence: {event} = {decisive(highest)}"


def reopened(state: State, a: str, b: str, mark: Callable[[str], str] = str) -> str:
    """Why a pair is compared again although one of it was better at every time."""
    a, b = (mark(b), mark(a)) if BELOW in state.relation(a, b) else (mark(a), mark(b))
    return (
        f"{a} was shown to be better than {b} at every time, but in different rounds: they are "
        f"compared again where {a} is least certain to be better"
    )


def withheld(algorithm: str, by: str) -> str:
    """Why an algorithm that the model alone would eliminate is kept."""
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
    """The meaning of the signs of verdicts; of a sign and its mirror image, only one."""
    used: list[Kind] = []
    for kind in sorted(set(map(Kind, kinds)), key=list(Kind).index):
        if SIGNS[kind] and MIRROR.get(kind) not in used:
            used.append(kind)
    return [f"{SIGNS[kind]} {kind}" for kind in used]


BEGIN, END = "\x02", "\x03"  # around a name in a text; no name contains them
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
    """A name as `parsed` finds it in a text."""
    return f"{BEGIN}{name}{END}"


def parsed(text: str) -> Sentence:
    """A text with marked names, as words and names."""
    pieces = _MARKED.split(text)
    parts = (Name(piece) if place % 2 else piece for place, piece in enumerate(pieces))
    return tuple(part for part in parts if part != "")


def standing_alone(sentence: Sentence) -> Sentence:
    """A sentence with a capital letter and a full stop."""
    first, *rest = sentence
    if isinstance(first, str):
        first = first[:1].upper() + first[1:]
    return (first, *rest, ".")


def listed(parts: Sequence[Sentence], last: str = "and") -> Sentence:
    """Sentences joined: A, B and C."""
    made: list[str | Name] = []
    for place, part in enumerate(parts):
        if place:
            made.append(f" {last} " if place == len(parts) - 1 else ", ")
        made += part
    return tuple(made)


def curve(values: np.ndarray, top: float = 1.0) -> str:
    """A curve as block characters, one per value, thinned where there are too many."""
    if len(values) > CURVE_LENGTH:
        values = values[np.linspace(0, len(values) - 1, CURVE_LENGTH).round().astype(int)]
    steps = np.nan_to_num(np.clip(values / top, 0, 1)) * (len(CURVE_BLOCKS) - 1)
    # a value that is not zero is never shown as nothing
    return "".join(CURVE_BLOCKS[max(round(float(s)), int(s > 0.08))] for s in steps)
