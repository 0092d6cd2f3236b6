"""Every figure by its name, in the order of a report.

A new one is a file in this folder and a line here. Other packages add theirs by an entry point in
the group polarbear.figures. Heavy imports wait until a figure is used: the names alone need none.

Uses the context and the findings of a report.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from polarbear.settings.registry import Registry

if TYPE_CHECKING:
    from polarbear.report.figures.base import ReportFigure

FIGURES: Registry[ReportFigure] = Registry(
    "figure",
    "polarbear.figures",
    f"{__name__}.base:Figure",
    {
        "ratings": f"{__name__}.ratings:RATINGS",
        "leaders": f"{__name__}.best_algorithm:LEADERS",
        "matrix": f"{__name__}.pairs:MATRIX",
        "pairs": f"{__name__}.pairs:PAIRS",
        "rounds": f"{__name__}.round_history:ROUNDS",
        "key-rounds": f"{__name__}.ratings:KEY_ROUNDS",
        "one-budget": f"{__name__}.best_algorithm:ONE_BUDGET",
        "kinds": f"{__name__}.kinds:KINDS",
        "values": f"{__name__}.best_algorithm:VALUES",
        "allocation": f"{__name__}.run_outcomes:ALLOCATION",
        "feasible": f"{__name__}.feasible_share:FEASIBLE",
        "duel-shares": f"{__name__}.duel_shares:DUEL_SHARES",
        "fronts": f"{__name__}.fronts:FRONTS",
        "surfaces": f"{__name__}.fronts:SURFACES",
        "surface-difference": f"{__name__}.fronts:SURFACE_DIFFERENCE",
        "ecdf": f"{__name__}.ecdf:ECDF",
        "aocc": f"{__name__}.ecdf:AOCC",
        "eaf": f"{__name__}.eaf:EAF",
        "eaf-difference": f"{__name__}.eaf:EAF_DIFFERENCE",
        "search": f"{__name__}.design_search:SEARCH",
        "configurations": f"{__name__}.design_search:CONFIGURATIONS",
        "importance": f"{__name__}.design_search:IMPORTANCE",
        "failures": f"{__name__}.run_outcomes:FAILURES",
        "diagnostics": f"{__name__}.round_history:DIAGNOSTICS",
    },
    objects=True,
    guard=f"{__name__}.base:guarded",
)
