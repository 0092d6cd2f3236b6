"""Decisions of a race: rules, state, and a pure step from probabilities to the next state.

Uses `settings` and `inference`'s relations; nothing here runs, draws or writes.
"""

from __future__ import annotations

from polarbear.racing.decide import (
    LARGE_SHARE,
    MAX_UNTRUSTED_ROUNDS,
    admit,
    codes,
    horizons,
    needs_more_draws,
    settled_codes,
    step,
)
from polarbear.racing.forecast_range import MIN_ROUNDS, Forecast
from polarbear.racing.record import Decisions, RoundRecord, Threat
from polarbear.racing.rules import Rules
from polarbear.racing.state import (
    ABOVE,
    ALIKE,
    BELOW,
    CROSSING,
    LETTERS,
    OPEN,
    OUT,
    Elimination,
    State,
    from_plain,
    start,
    to_plain,
)
from polarbear.racing.verdicts import Kind, Verdict, verdict, verdict_on

__all__ = [
    "ABOVE",
    "ALIKE",
    "BELOW",
    "CROSSING",
    "LARGE_SHARE",
    "LETTERS",
    "MAX_UNTRUSTED_ROUNDS",
    "MIN_ROUNDS",
    "OPEN",
    "OUT",
    "Decisions",
    "Elimination",
    "Forecast",
    "Kind",
    "RoundRecord",
    "Rules",
    "State",
    "Threat",
    "Verdict",
    "admit",
    "codes",
    "from_plain",
    "horizons",
    "needs_more_draws",
    "settled_codes",
    "start",
    "step",
    "to_plain",
    "verdict",
    "verdict_on",
]
