"""Choices in sentences."""

from __future__ import annotations

from polarbear.select.information import ENOUGH, Information
from polarbear.select.selection import Disagreement, Selection
from polarbear.wording import percent_cell, probability, short, small

CRITERIA = {
    "p2bb": "probability of being best",
    "mean": "expected value",
    "quantile": "lower quantile",
    "regret": "expected regret",
}


def statement(made: Selection) -> str:
    """The choice, how credible it is, and what another would cost."""
    criteria, name = made.criteria, made.name(made.choice)
    if made.runner_up is None:
        return f"{name}: nobody else competes"
    other = made.runner_up
    return (
        f"{name}, {probability(criteria.p2bb[made.choice])} likely to be the best; expected regret "
        f"{small(criteria.regret[made.choice])}, or {small(criteria.regret[other])} if you take "
        f"{made.name(other)} instead"
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
