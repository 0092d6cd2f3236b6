"""Preferences by name; a new one is a class in this folder and a line here.

Other packages add theirs by an entry point in the group polarbear.preferences.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from polarbear.settings.registry import Registry

if TYPE_CHECKING:
    from polarbear.preferences.base import Preference

_HERE = "polarbear.preferences"

PREFERENCES: Registry[type[Preference]] = Registry(
    "preference",
    "polarbear.preferences",
    f"{_HERE}.base:Preference",
    {
        "uniform": f"{_HERE}.simple:Uniform",
        "log-uniform": f"{_HERE}.simple:LogUniform",
        "at": f"{_HERE}.simple:At",
        "between": f"{_HERE}.simple:Between",
        "final": f"{_HERE}.simple:Final",
        "worst-case": f"{_HERE}.simple:WorstCase",
        "normal": f"{_HERE}.budgets:Normal",
        "lognormal": f"{_HERE}.budgets:LogNormalBudget",
        "triangular": f"{_HERE}.budgets:Triangular",
        "exponential": f"{_HERE}.budgets:ExponentialBudget",
        "budgets": f"{_HERE}.files:PastBudgets",
        "weights": f"{_HERE}.files:Weights",
        "mix": f"{_HERE}.mix:Mix",
        "python": f"{_HERE}.python:Python",
    },
)
