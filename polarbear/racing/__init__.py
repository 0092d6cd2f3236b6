"""What decides a race: rules, state, and a pure step from one round's relations to the next state.

Uses `settings`, and `inference`'s relations; nothing that runs, draws or writes.
"""

from __future__ import annotations

from polarbear.racing.decisions import (
    HANGS,
    MUCH,
    PATIENCE,
    about_to_go,
    admit,
    as_good_by,
    codes,
    elimination_hangs,
    hanging,
    horizons,
    settling_hangs,
    step,
)
from polarbear.racing.forecasting import forecast
from polarbear.racing.outlook import TELLING, Forecast
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
    "HANGS",
    "LETTERS",
    "MUCH",
    "OPEN",
    "OUT",
    "PATIENCE",
    "TELLING",
    "Decisions",
    "Elimination",
    "Forecast",
    "Kind",
    "RoundRecord",
    "Rules",
    "State",
    "Threat",
    "Verdict",
    "about_to_go",
    "admit",
    "as_good_by",
    "codes",
    "elimination_hangs",
    "forecast",
    "from_plain",
    "hanging",
    "horizons",
    "settling_hangs",
    "start",
    "step",
    "to_plain",
    "verdict",
    "verdict_on",
]
