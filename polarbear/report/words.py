"""Sentences about outcomes, for the terminal, the page, LaTeX and Markdown alike.

They have no full stop. A caller that shows names apart from words, in their colours, inserts
`marked` names and splits the text into `pieces`. Verdicts on pairs and cycles have their
words in `racing.verdicts`.
"""

import re
from collections.abc import Collection, Iterable, Sequence

import numpy as np

from polarbear.numerics.arrays import spread
from polarbear.racing import Elimination, RoundRecord, Threat, verdict_on
from polarbear.racing.race_settings import RaceSettings
from polarbear.racing.recommendation import Span
from polarbear.racing.rules import Rules
from polarbear.racing.state import BELOW, State
from polarbear.racing.verdicts import MIRROR, SIGNS, VerdictKind, cycle_words, reinstated_words
from polarbear.rankings.front_duels import MARGIN, DuelRule, DuelSettings
from polarbear.wording import (
    P_DOMINATED,
    counted,
    decisive,
    evidence_number,
    joined,
    noun,
    percent_cell,
    probability,
    short,
    time,
    timed,
    wealth_number,
)

CURVE_BLOCKS = " ▁▂▃▄▅▆▇█"
CURVE_LENGTH = 60  # characters
SMALLEST_HEIGHT = 0.08  # smaller shares of a block are drawn as zero
MEMBER_MEANS = "A member was shown to be better than each other candidate at some time"
BETTER_AT_SOME_TIME = "better than each other candidate at some time"
ONLY_SURVIVOR = "all others are eliminated"
P_DOMINATED_MEANS = "the lowest P({a} better) at any time"
MIN_TO_SHOW_EVIDENCE = 0.5  # P(dominated) of an open pair from which its evidence is shown
Pair = tuple[str, str]
WORDS_AT_A_TIME = {
    "open": "open",
    "above": "{a} was shown to be better",
    "below": "{b} was shown to be better",
    "equivalent": "shown to be equivalent",
    "crossing": "neither better, worse nor equivalent here; the pair is settled by other times",
    "moot": "not compared further: one of them is eliminated",
}


def p_dominated(nearest: Elimination | Threat) -> str:
    """The neutral probability that an algorithm is dominated: P(dominated by A) = 0.27."""
    return f"P(dominated by {marked(nearest.by)}) = {decisive(nearest.probability)}"


def deciding_probability(settings: RaceSettings) -> str:
    """The name of the probability that decides eliminations by the settings of a race."""
    if not settings.inference.plackett_luce:
        return "sceptical P"
    return "joint P" if settings.rules.elimination == "joint" else P_DOMINATED


def evidence(nearest: Elimination | Threat, settings: RaceSettings) -> str:
    """The evidence that decides an elimination: sceptical P = 0.984, wealth 33.1."""
    if nearest.sceptical is None:  # in a round of another version
        return f"{P_DOMINATED} = {decisive(nearest.probability)}"
    guarantee = settings.rules.guarantee
    parts = []
    if guarantee != "anytime":
        number = evidence_number(nearest.sceptical)
        parts.append(f"{deciding_probability(settings)} = {number}")
    if guarantee != "none" and nearest.wealth is not None:
        parts.append(f"wealth {wealth_number(nearest.wealth)}")
    return ", ".join(parts)


def evidence_needed(settings: RaceSettings) -> str:
    """The evidence that an elimination needs, empty where it differs between pairs."""
    alpha = settings.rules.alpha
    guarantee = settings.rules.guarantee
    if guarantee == "anytime":
        return ""
    needed = f"{deciding_probability(settings)} >= {short(alpha)}"
    if guarantee == "pair" and alpha < 1:
        needed = f"{needed} and wealth >= {1 / (1 - alpha):.3g}"
    return f"an elimination needs {needed} at every time"


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


def budgets_led(spans: Iterable[Span], algorithm: str, axis: str = "") -> str:
    """The budgets at which an algorithm is the likely best one, empty if there are none."""
    return joined([span.budgets(axis) for span in spans if span.algorithms == (algorithm,)])


def budgets_shared(spans: Iterable[Span], algorithm: str, axis: str = "") -> str:
    """The budgets at which an algorithm is one of several likely best ones."""
    return joined(
        [
            span.budgets(axis)
            for span in spans
            if len(span.algorithms) > 1 and algorithm in span.algorithms
        ]
    )


def budgets_of_member(spans: Sequence[Span], algorithm: str, axis: str = "") -> str:
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


def decisions(
    record: RoundRecord, reopened_before: Collection[Pair] = (), names_pairs: bool = True
) -> list[tuple[str, str]]:
    """The decisions of a round: the kind of each, and its words with marked names.

    Pairs that were ``reopened_before``, in an earlier round, are not mentioned again.
    """
    state = record.state
    decided = record.decisions
    sentences = []
    for elimination in decided.eliminated:
        loser = marked(elimination.algorithm)
        winner = marked(elimination.by)
        evidence_found = evidence(elimination, record.settings)
        sentences.append(("eliminated", f"{loser} eliminated by {winner}: {evidence_found}"))
    for a, b in decided.settled_pairs:
        if {a, b} <= set(state.candidates):
            sentences.append(("settled", verdict_on(state, a, b).words(marked(a), marked(b))))
    newly_reopened = [pair for pair in decided.reopened if pair not in reopened_before]
    if newly_reopened:
        sentences.append(("reopened", reopened(state, newly_reopened, names_pairs)))
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


def eliminated_by(elimination: Elimination, settings: RaceSettings) -> str:
    """The words about an elimination that follow the name of the eliminated algorithm."""
    instances = counted(elimination.instances, "instance")
    return (
        f"by {marked(elimination.by)} in round {elimination.round}, after {instances}: "
        f"{evidence(elimination, settings)}"
    )


def nearest_elimination(nearest: Threat, settings: RaceSettings, is_open: bool) -> str:
    """How near an algorithm is to its elimination: the evidence, if it is likely.

    Otherwise, or where its pair with the nearest one is not ``is_open``, it is P(dominated).
    """
    if is_open and nearest.probability >= MIN_TO_SHOW_EVIDENCE:
        return f"not yet eliminated by {marked(nearest.by)}: {evidence(nearest, settings)}"
    return p_dominated(nearest)


def reopened(state: State, pairs: Sequence[Pair], names_pairs: bool) -> str:
    """Why pairs stay open although one algorithm of each was better at every time."""
    verb = noun(len(pairs), "stays", "stay")
    of_which = noun(len(pairs), "one of the two", "one algorithm of each")
    text = (
        f"{counted(len(pairs), 'pair')} {verb} open: {of_which} is better at every time, but "
        "without the evidence that an elimination needs"
    )
    if not names_pairs:
        return text
    names = []
    for a, b in pairs:
        is_second_better = BELOW in state.relation(a, b)
        better_one = marked(b if is_second_better else a)
        worse_one = marked(a if is_second_better else b)
        names.append(f"{better_one} against {worse_one}")
    return f"{text} ({joined(names)})"


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


def duel_words(settings: DuelSettings, sign: int) -> str:
    """How a duel of two fronts is decided, with the reference of an indicator.

    ``sign`` is the factor between stored values and those of the problems.
    """
    rule = settings.rule
    if rule is DuelRule.COVERAGE:
        return "of two fronts the one that weakly dominates the larger share of the other wins"
    if rule is DuelRule.DOMINANCE:
        return "of two fronts one wins if it weakly dominates all of the other, but not vice versa"
    if rule is DuelRule.EPSILON:
        return (
            "of two fronts the one wins whose additive epsilon with respect to the other is smaller"
        )
    if rule is DuelRule.IGD_PLUS:
        return (
            "of two fronts the one with the smaller IGD+ wins; its reference set are the "
            "non-dominated points of both runs over the whole grid"
        )
    reference = f"beyond the worst values of both runs by {percent_cell(MARGIN)} of their range"
    if settings.reference is not None:
        reference = f"({', '.join(short(sign * value) for value in settings.reference)})"
    wins = "of two fronts the one with the larger hypervolume wins"
    return f"{wins}; the reference point is {reference}"


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
