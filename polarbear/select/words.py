"""Choices in sentences."""

from __future__ import annotations

from polarbear.preferences import Preference, Valuation
from polarbear.preferences.simple import At, Final, WorstCase
from polarbear.select.information import ENOUGH, Information
from polarbear.select.selection import Disagreement, Selection
from polarbear.wording import percent, percent_cell, probability, short, small

CRITERIA = {
    "p2bb": "probability of being best",
    "mean": "expected value",
    "quantile": "lower quantile",
    "regret": "expected regret",
}


# Where the share of firsts is taken that a preference goes by.
AT_THE_BUDGET = "at this budget"
OVER_BUDGETS = "on average over these budgets"
AT_ITS_WORST = "at its worst time"


def where(preference: Preference, valuation: Valuation) -> str | None:
    """Of which budgets a value is the share of firsts; None where it need not be a share."""
    if isinstance(preference, At | Final):
        return AT_THE_BUDGET
    if isinstance(preference, WorstCase):
        return AT_ITS_WORST
    return None if valuation.weights is None else OVER_BUDGETS


def among(counts_those_in: bool) -> str:
    """Among whom somebody is first, where that is not everybody."""
    return "among those still in " if counts_those_in else ""


def statement(made: Selection) -> str:
    """The choice, how credible it is, and what another would cost."""
    criteria, name = made.criteria, made.name(made.choice)
    if made.runner_up is None:
        return f"{name}: nobody else competes"
    other = made.runner_up
    sure = probability(criteria.p2bb[made.choice])
    taken = where(made.preference, made.valuation)
    how = (
        f"{name}, {sure} sure to be the best"
        if taken is None
        else f"{name}: first {among(made.basis.counts_those_in)}on "
        f"{percent(float(criteria.mean[made.choice]))} of instances {taken}; "
        f"that this is the most of all is {sure} sure"
    )
    return (
        f"{how}; expected regret {small(criteria.regret[made.choice])}, or "
        f"{small(criteria.regret[other])} if you take {made.name(other)} instead"
    )


def disagreement(made: Selection, found: Disagreement) -> str:
    """Which criterion prefers whom, and what not following it costs."""
    return (
        f"the criteria disagree: by {CRITERIA[found.criterion]} it would be "
        f"{made.name(found.prefers)}; {made.name(made.choice)} costs {small(found.cost)} of it"
    )


def information(made: Selection, found: Information) -> list[str]:
    """What racing on could gain, and due to whom."""
    name = made.name(made.choice)
    if not found.rivals:
        return [f"racing on can gain nothing here: {name} is the best in every draw"]
    first = found.rivals[0]
    verdict = "too little to race on for" if found.gain < ENOUGH else "worth racing on for"
    return [
        f"racing on could gain at most {small(found.gain)} over {name}, "
        f"{percent_cell(found.share, 1)} of its value: {verdict}, if {short(ENOUGH)} is what "
        "matters",
        f"{small(first.gain)} of it would come from {made.name(made.candidates[first.item])}, "
        f"{probability(first.p2bb)} likely to be the best",
    ]
