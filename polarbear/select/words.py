"""Choices in sentences."""

from __future__ import annotations

from polarbear.preferences import Preference, Valuation
from polarbear.preferences.simple import At, Final, WorstCase
from polarbear.select.information import ENOUGH, Information
from polarbear.select.selection import Disagreement, Selection
from polarbear.wording import counted, percent, percent_cell, probability, short, small

CRITERIA = {
    "p2bb": "probability of being best",
    "mean": "expected value",
    "quantile": "lower quantile",
    "regret": "expected regret",
}


# How a value combines the times of a preference.
AT_THE_BUDGET = "at this budget"
OVER_BUDGETS = "on average over these budgets"
AT_ITS_WORST = "at its worst time"
# Parts of the statement of a choice, which the report's page uses as well.
EARLY = "too early to say; "
RESTS = " on {problems}"
BEATS = "; beats {rival}, its strongest rival, on {share} of problems {where}"
REGRET = "; expected regret {regret}, or {other_regret} with {other}"


def where(preference: Preference, valuation: Valuation) -> str | None:
    """The times that a value is about; None where a value need not be a share."""
    if isinstance(preference, At | Final):
        return AT_THE_BUDGET
    if isinstance(preference, WorstCase):
        return AT_ITS_WORST
    return None if valuation.weights is None else OVER_BUDGETS


def among(counts_those_in: bool) -> str:
    """The field of first places, where it is not all algorithms."""
    return "among the Pareto set " if counts_those_in else ""


def statement(made: Selection) -> str:
    """The choice, its probability, its evidence, and the cost of the runner-up."""
    criteria, name = made.criteria, made.name(made.choice)
    if made.runner_up is None:
        return f"{name}: no other algorithm competes"
    sure = f"P(best) = {probability(criteria.p2bb[made.choice])}"
    problems = made.problems[made.choice]
    rests = "" if problems is None else RESTS.format(problems=counted(problems, "problem"))
    other = made.runner_up
    how = f"{name}: {sure}{rests}{_value_words(made)}"
    if made.too_early():
        how = f"{EARLY}{how} so far"
    return how + REGRET.format(
        regret=small(criteria.regret[made.choice]),
        other_regret=small(criteria.regret[other]),
        other=made.name(other),
    )


def _value_words(made: Selection) -> str:
    """The mean value of the choice in words."""
    taken, mean = where(made.preference, made.valuation), made.criteria.mean[made.choice]
    if taken is None:
        return ""
    if made.value == "duels":
        rival = made.rival(made.choice)
        assert rival is not None
        beaten, share = made.basis.algorithms[rival], percent(float(mean))
        return BEATS.format(rival=beaten, share=share, where=taken)
    if made.value == "firsts":
        whom = among(made.basis.counts_those_in)
        return f"; first {whom}on {percent(float(mean))} of problems {taken}"
    return f"; mean rating {small(float(mean))} {taken}"


def disagreement(made: Selection, found: Disagreement) -> str:
    """A criterion that prefers another algorithm, and what the choice costs by it."""
    return (
        f"by {CRITERIA[found.criterion]} the choice would be {made.name(found.prefers)}; "
        f"{made.name(made.choice)} costs {small(found.cost)} of it"
    )


def information(made: Selection, found: Information) -> list[str]:
    """What further rounds could gain, and from which rival."""
    name = made.name(made.choice)
    if not found.rivals:
        return [f"further rounds can gain nothing: {name} is the best in every draw"]
    first = found.rivals[0]
    verdict = "below" if found.gain < ENOUGH else "above"
    return [
        f"further rounds could gain at most {small(found.gain)} over {name} "
        f"({percent_cell(found.share, 1)} of its value), {verdict} the default limit of "
        f"{short(ENOUGH)}",
        f"{small(first.gain)} of it from {made.name(made.candidates[first.item])}, whose P(best) "
        f"is {probability(first.p2bb)}",
    ]
