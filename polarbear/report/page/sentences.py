"""Sentences for what a reader drags: the page fills their gaps, {named}, and words nothing itself.

Where `polarbear select` says the same, the words are its own.
"""

from __future__ import annotations

from polarbear.preferences import Context
from polarbear.preferences.budgets import CUT_OFF, OFF_THE_GRID
from polarbear.preferences.simple import NEAREST
from polarbear.racing import Elimination
from polarbear.racing.verdicts import over_time
from polarbear.select import Basis
from polarbear.select.selection import EACH_TIME
from polarbear.select.words import AT_ITS_WORST, AT_THE_BUDGET, OVER_BUDGETS, among

CHOICE = (
    "First {among}on {share} of instances {where}; that this is the most of all is {probability} "
    "sure (±\u00a0{error}). Expected regret {regret}, or {other_regret} if you take {other} "
    "instead."
)
SLOT = "{name} adds {more}: one of them is then first {among}on {share} of instances {where}."
GAIN = (
    "Racing on could gain at most {gain} over {name}; {part} of it would come from {rival}, "
    "{probability} likely to be the best."
)
NO_GAIN = "Racing on can gain nothing here: {name} is the best in every draw."
TOO_CLOSE = "{first} and {second} differ by less than these draws can tell: either will do"


def sentences(basis: Basis) -> dict[str, str | dict[str, str]]:
    """What the selector may have to say."""
    context, whom = Context(basis.times, basis.axis), among(basis.counts_those_in)
    return {
        "alone": "Nobody else competes.",
        "choice": CHOICE.replace("{among}", whom),
        "close": TOO_CLOSE,
        "gain": GAIN,
        "no_gain": NO_GAIN,
        "slot": SLOT.replace("{among}", whom),
        "cut_off": CUT_OFF,
        "where": {
            "at": AT_THE_BUDGET,
            "worst-case": AT_ITS_WORST,
            "otherwise": OVER_BUDGETS,
        },
        "each_time": EACH_TIME.format(model=basis.posterior.model),
        "grid": f"the grid goes {context.span}",
        "nearest": NEAREST,
        "off_the_grid": OFF_THE_GRID,
    }


def is_out(gone: Elimination, now: int, joint: bool) -> dict[str, str]:
    """Who was out by a round, put out by whom, in words around their names."""
    when = "in this round" if gone.round == now else f"in round {gone.round}"
    words = f"{{algorithm}} was out {when}: {{by}} was better {over_time(gone.probability, joint)}"
    return {"algorithm": gone.algorithm, "by": gone.by, "words": words}
