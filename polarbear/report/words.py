"""Sentences about outcomes, for the terminal, the page, LaTeX and Markdown alike.

They have no full stop. A caller that shows names apart from words, in their colours, inserts
`marked` names and splits the text into `pieces`. Verdicts on pairs have their words in
`racing.verdicts`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import numpy as np

from polarbear.racing import Elimination
from polarbear.racing.state import BELOW, State
from polarbear.racing.verdicts import MIRROR, SIGNS, Kind
from polarbear.wording import counted, decisive, joined

CURVE_BLOCKS = " ▁▂▃▄▅▆▇█"
CURVE_LENGTH = 60  # characters
LOWEST_P_BETTER = "lowest P({a} better) at any time"
WORDS_AT_A_TIME = {
    "open": "open",
    "above": "{a} was shown to be better",
    "below": "{b} was shown to be better",
    "equivalent": "shown to be equivalent",
    "crossing": "neither better, worse nor equivalent here; the pair is settled by other times",
    "moot": "not compared further: one of them is eliminated",
}


def better(probability: float, joint: bool) -> str:
    """The probability that one algorithm is better: of all times jointly, or the lowest of any."""
    shown = decisive(probability)
    if joint:
        return f"P(better at every time) = {shown}"
    return f"P(better) = {shown} or more at every time"


def eliminated(algorithm: str, by: str, probability: float, joint: bool) -> str:
    return f"{algorithm} eliminated by {by}: {better(probability, joint)}"


def eliminated_by(gone: Elimination, by: str, joint: bool) -> str:
    """An elimination after the name of the algorithm."""
    seen = counted(gone.instances, "instance")
    return f"by {by} in round {gone.round}, after {seen}: {better(gone.probability, joint)}"


def not_dominated(by: str, highest: float, joint: bool = False) -> str:
    """Why an algorithm is a candidate that is never the best."""
    event = f"P({by} better at every time)" if joint else LOWEST_P_BETTER.format(a=by)
    return f"not dominated with the required confidence: {event} = {decisive(highest)}"


def reopened(state: State, a: str, b: str) -> str:
    """Why a pair is compared again although one of it was better at every time."""
    a, b = map(marked, (b, a) if BELOW in state.relation(a, b) else (a, b))
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


def marked(name: str) -> str:
    """A name between marks, which `pieces` finds and `plain` removes."""
    return f"{BEGIN}{name}{END}"


def pieces(text: str) -> list[str]:
    """The words of a text and its marked names in turn, words first."""
    return _MARKED.split(text)


def plain(text: str) -> str:
    """A text without the marks of names."""
    return _MARKED.sub(r"\1", text)


def standing_alone(text: str) -> str:
    """A text with a capital letter and a full stop; a name keeps its first letter."""
    return f"{text[:1].upper()}{text[1:]}."


def curve(values: np.ndarray, top: float = 1.0) -> str:
    """A curve as block characters, one per value, thinned where there are too many."""
    if len(values) > CURVE_LENGTH:
        values = values[np.linspace(0, len(values) - 1, CURVE_LENGTH).round().astype(int)]
    steps = np.nan_to_num(np.clip(values / top, 0, 1)) * (len(CURVE_BLOCKS) - 1)
    # a value that is not zero is never shown as nothing
    return "".join(CURVE_BLOCKS[max(round(float(s)), int(s > 0.08))] for s in steps)
