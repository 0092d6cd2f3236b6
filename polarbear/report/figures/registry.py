"""Every figure by its name, in the order in which a reader wants them.

A new one is a file in this folder and a line here. Other packages add theirs by an entry point in
the group polarbear.figures.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from polarbear.settings.registry import Registry

if TYPE_CHECKING:
    from polarbear.report.figures.base import Figure

_HERE = "polarbear.report.figures"

FIGURES: Registry[Figure] = Registry(
    "figure",
    "polarbear.figures",
    f"{_HERE}.base:Figure",
    {
        "ratings": f"{_HERE}.ratings:RATINGS",
        "leaders": f"{_HERE}.leaders:LEADERS",
        "matrix": f"{_HERE}.matrix:MATRIX",
        "pairs": f"{_HERE}.pairs:PAIRS",
        "rounds": f"{_HERE}.rounds:ROUNDS",
        "key-rounds": f"{_HERE}.key_rounds:KEY_ROUNDS",
        "one-budget": f"{_HERE}.one_budget:ONE_BUDGET",
        "values": f"{_HERE}.values:VALUES",
        "allocation": f"{_HERE}.allocation:ALLOCATION",
        "ecdf": f"{_HERE}.ecdf:ECDF",
        "aocc": f"{_HERE}.aocc:AOCC",
        "eaf": f"{_HERE}.eaf:EAF",
        "eaf-difference": f"{_HERE}.eaf_difference:EAF_DIFFERENCE",
        "failures": f"{_HERE}.failures:FAILURES",
        "diagnostics": f"{_HERE}.diagnostics:DIAGNOSTICS",
    },
    objects=True,
    guard=f"{_HERE}.base:guarded",
)
