"""Who to run, once something is known about the budget: from a posterior, without experiments.

Uses `driver`'s posteriors and `preferences`.
"""

from __future__ import annotations

from polarbear.select.criteria import (
    GAMMA,
    RISKS,
    Criteria,
    Risk,
    check_gamma,
    check_risk,
    judge,
)
from polarbear.select.information import ENOUGH, value_of_information
from polarbear.select.portfolio_cover import Portfolios
from polarbear.select.posterior_source import Basis, Contest, contest, find_basis
from polarbear.select.selection import Selection, select
from polarbear.select.sweeps import Sweep, sweep

__all__ = [
    "ENOUGH",
    "GAMMA",
    "RISKS",
    "Basis",
    "Contest",
    "Criteria",
    "Portfolios",
    "Risk",
    "Selection",
    "Sweep",
    "check_gamma",
    "check_risk",
    "contest",
    "find_basis",
    "judge",
    "select",
    "sweep",
    "value_of_information",
]
