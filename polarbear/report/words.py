"""Sentences about outcomes, for the terminal, the page, LaTeX and Markdown alike.

They have no full stop. A caller that shows names apart from words, in their colours, inserts
`marked` names and splits the text into `pieces`. Verdicts on pairs and cycles have their
words in `racing.verdicts`.
"""

import re
from collections.abc import Iterable, Sequence

import numpy as np

from polarbear.numerics.arrays import spread
from polarbear.racing import Elimination, RoundRecord, verdict_on
from polarbear.racing.recommendation import Span
from polarbear.racing.rules import Rules
from polarbear.racing.state import BELOW, State
from polarbear.racing.verdicts import MIRROR, SIGNS, VerdictKind, cycle_words, reinstated_words
from polarbear.wording import (
    counted,
    decisive,
    joined,
    percent_cell,
    probability,
    short,
    time,
    timed,
)

CURVE_BLOCKS = " ▁▂▃▄▅▆▇█"
CURVE_LENGTH = 60  # characters
SMALLEST_HEIGHT = 0.08  # smaller shares of a block are drawn as zero
MEMBER_MEANS = "A member was shown to be better than each other candidate at some time"
NEVER_LIKELY = "never likely the best"
ONLY_SURVIVOR = "all others are eliminated"
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
    """The probability that one algorithm is better than another.

    ``joint`` probabilities are about all times together; others are the lowest at any time.
    """
    text = decisive(probability)
    if joint:
        return f"P(better at every time) = {text}"
    return f"P(better) = {text} or more at every time"


def error_bound(rules: Rules) -> str:
    """What holds for wrong eliminations by the guarantee of a race; empty without a guarantee."""
    bound = f"<= {1 - rules.alpha:.3g}, however often a race looks"
    if rules.guarantee == "pair":
        return f"each elimination: P(wrong) {bound}"
    if rules.guarantee == "anytime":
        return f"all eliminations together: P(any wrong) {bound}"
    return ""


def error_estimate(p_any_wrong: float) -> str:
    """The estimate of the probability that a race has eliminated an algorithm wrongly."""
    return f"estimate of P(any elimination is wrong) = {probability(p_any_wrong)}"


def highest(p_best: np.ndarray, times: np.ndarray) -> str:
    """The highest P(best) of an algorithm and its time: 0.72 at 300."""
    peak = int(p_best.argmax())
    return f"{decisive(float(p_best[peak]))} at {time(float(times[peak]))}"


def budgets_led(spans: Iterable[Span], algorithm: str, axis: str) -> str:
    """The budgets at which an algorithm is the likely best one, empty if there are none."""
    return joined([span.budgets(axis) for span in spans if span.algorithms == (algorithm,)])


def budgets_shared(spans: Iterable[Span], algorithm: str, axis: str) -> str:
    """The budgets at which an algorithm is one of several likely best ones."""
    return joined(
        [span.budgets(axis) for span in spans if span.is_open and algorithm in span.algorithms]
    )


def budgets_of_member(spans: Sequence[Span], algorithm: str, axis: str) -> str:
    """The budgets at which an algorithm is, alone or with others, a likely best one.

    It is empty if there are none.
    """
    alone = budgets_led(spans, algorithm, axis)
    shared = budgets_shared(spans, algorithm, axis)
    if not shared:
        return f"likely the best {alone}" if alone else ""
    together = f"one of the likely best {shared}"
    return f"likely the best {alone}, {together}" if alone else together


def all_times(times: np.ndarray, axis: str) -> str:
    """The first and the last time of a grid: 10 to 12,000 evaluations."""
    return f"{time(float(times[0]))} to {timed(float(times[-1]), axis)}"


def share_interval(low: float, high: float) -> str:
    """An interval of shares: 45% to 61%."""
    return f"{percent_cell(low)} to {percent_cell(high)}"


def settled_means(rules: Rules) -> str:
    """What it means that a pair is settled, by the rules of a race."""
    shown = f"with P >= {short(rules.alpha)}"
    relations = {
        "strict": "at every time one is better or both are equivalent",
        "crossing": "each is, at some time, better or equivalent",
        "membership": "one is better at some time and the other, at some time, better or as good",
    }
    whole = relations[rules.resolution]
    if rules.resolution != "strict":
        whole += ", or both are equivalent at every time"
    return f"settled means that one of the two is eliminated, or, {shown}, {whole}"


def decisions(record: RoundRecord) -> list[tuple[str, str]]:
    """The decisions of a round: the kind of each, and its words with marked names."""
    state = record.state
    decided = record.decisions
    sentences = []
    for elimination in decided.eliminated:
        loser = marked(elimination.algorithm)
        winner = marked(elimination.by)
        probability = better(elimination.probability, record.joint)
        sentences.append(("eliminated", f"{loser} eliminated by {winner}: {probability}"))
    for a, b in decided.settled_pairs:
        if {a, b} <= set(state.candidates):
            sentences.append(("settled", verdict_on(state, a, b).words(marked(a), marked(b))))
    for a, b in decided.reopened:
        sentences.append(("reopened", reopened(state, a, b)))
    for algorithm, by in decided.withheld:
        text = (
            f"{marked(algorithm)} stays: the model finds {marked(by)} better, but their duels "
            "alone do not show it"
        )
        sentences.append(("withheld", text))
    for names in decided.cycles:
        sentences.append(("cycle", cycle_words([*map(marked, names)])))
    for name in decided.reinstated:
        sentences.append(("reinstated", reinstated_words(marked(name))))
    if decided.caught_up:
        text = f"{marked(decided.caught_up)} has caught up and races with the others"
        sentences.append(("joined", text))
    for problem in record.problems:
        text = f"the posterior was not used for decisions: {problem}"
        sentences.append(("doubted", text))
    return sentences


def eliminated_by(elimination: Elimination, by: str, joint: bool) -> str:
    """The words about an elimination that follow the name of the eliminated algorithm."""
    instances = counted(elimination.instances, "instance")
    probability = better(elimination.probability, joint)
    return f"by {by} in round {elimination.round}, after {instances}: {probability}"


def not_dominated(by: str, highest: float, joint: bool = False) -> str:
    """Why an algorithm that is never likely to be the best is a candidate."""
    event = f"P({by} better at every time)" if joint else LOWEST_P_BETTER.format(a=by)
    return f"not dominated with the required confidence: {event} = {decisive(highest)}"


def reopened(state: State, a: str, b: str) -> str:
    """Why a pair is compared again although one algorithm of it was better at every time."""
    is_second_better = BELOW in state.relation(a, b)
    better_one = marked(b if is_second_better else a)
    worse_one = marked(a if is_second_better else b)
    return (
        f"{better_one} was shown to be better than {worse_one} at every time, but in different "
        f"rounds: they are compared again where {better_one} is least certain to be better"
    )


def legend(kinds: Iterable[str]) -> list[str]:
    """The meaning of the signs of verdicts; a sign and its mirror image are explained once."""
    explained: list[VerdictKind] = []
    for kind in sorted(set(map(VerdictKind, kinds)), key=list(VerdictKind).index):
        if SIGNS[kind] and MIRROR.get(kind) not in explained:
            explained.append(kind)
    return [f"{SIGNS[kind]} {kind}" for kind in explained]


# These characters surround a marked name in a text; no name contains them.
BEGIN = "\x02"
END = "\x03"
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
    """A curve as block characters, one for each value, or for CURVE_LENGTH evenly spaced values."""
    values = values[spread(len(values), CURVE_LENGTH)]
    heights = np.nan_to_num(np.clip(values / top, 0, 1)) * (len(CURVE_BLOCKS) - 1)
    blocks = []
    for height in heights.tolist():
        # A value above zero is never shown as a blank.
        lowest = 1 if height > SMALLEST_HEIGHT else 0
        blocks.append(CURVE_BLOCKS[max(round(height), lowest)])
    return "".join(blocks)
