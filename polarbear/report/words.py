"""Sentences about outcomes, for the terminal, the page, LaTeX and Markdown alike.

They have no full stop. A caller that shows names apart from words, in their colours, inserts
`marked` names and splits the text into `pieces`. Verdicts on pairs and cycles have their
words in `racing.verdicts`.
"""

import re
from collections.abc import Iterable

import numpy as np

from polarbear.numerics.arrays import spread
from polarbear.racing import Elimination, RoundRecord, verdict_on
from polarbear.racing.state import BELOW, State
from polarbear.racing.verdicts import MIRROR, SIGNS, VerdictKind, cycle_words, reinstated_words
from polarbear.wording import counted, decisive

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


def decisions(record: RoundRecord) -> list[tuple[str, str]]:
    """The decisions of a round: the kind of each, and its words with marked names."""
    state, taken = record.state, record.decisions
    made = [
        (
            "eliminated",
            f"{marked(one.algorithm)} eliminated by {marked(one.by)}: "
            f"{better(one.probability, record.joint)}",
        )
        for one in taken.eliminated
    ]
    made += [
        ("settled", verdict_on(state, a, b).words(marked(a), marked(b)))
        for a, b in taken.settled_pairs
        if {a, b} <= set(state.candidates)
    ]
    made += [("reopened", reopened(state, a, b)) for a, b in taken.reopened]
    made += [
        (
            "withheld",
            f"{marked(algorithm)} stays: the model finds {marked(by)} better, but their duels "
            "alone do not show it",
        )
        for algorithm, by in taken.withheld
    ]
    made += [("cycle", cycle_words([*map(marked, names)])) for names in taken.cycles]
    made += [("reinstated", reinstated_words(marked(name))) for name in taken.reinstated]
    if taken.caught_up:
        words = f"{marked(taken.caught_up)} has caught up and races with the others"
        made.append(("joined", words))
    not_used = "the posterior was not used for decisions"
    return made + [("doubted", f"{not_used}: {problem}") for problem in record.problems]


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


def legend(kinds: Iterable[str]) -> list[str]:
    """The meaning of the signs of verdicts; of a sign and its mirror image, only one."""
    used: list[VerdictKind] = []
    for kind in sorted(set(map(VerdictKind, kinds)), key=list(VerdictKind).index):
        if SIGNS[kind] and MIRROR.get(kind) not in used:
            used.append(kind)
    return [f"{SIGNS[kind]} {kind}" for kind in used]


BEGIN, END = "\x02", "\x03"  # around a name in a text; no name contains them
_MARKED = re.compile(f"{BEGIN}([^{END}]*){END}")


def marked(name: str) -> str:
    """A name between marks, which `pieces` finds and `without_marks` removes."""
    return f"{BEGIN}{name}{END}"


def pieces(text: str) -> list[str]:
    """The words of a text and its marked names in turn, words first."""
    return _MARKED.split(text)


def without_marks(text: str) -> str:
    """A text without the marks of names."""
    return _MARKED.sub(r"\1", text)


def as_sentence(text: str) -> str:
    """A text with a capital letter and a full stop; a name keeps its first letter."""
    return f"{text[:1].upper()}{text[1:]}."


def curve(values: np.ndarray, top: float = 1.0) -> str:
    """A curve as block characters, one per value, or for CURVE_LENGTH evenly spaced ones."""
    values = values[spread(len(values), CURVE_LENGTH)]
    steps = np.nan_to_num(np.clip(values / top, 0, 1)) * (len(CURVE_BLOCKS) - 1)
    # a value that is not zero is never shown as nothing
    return "".join(CURVE_BLOCKS[max(round(float(s)), int(s > 0.08))] for s in steps)
