"""Every figure by its name, in the order in which a reader wants them."""

from __future__ import annotations

from polarbear.report.figures.allocation import ALLOCATION
from polarbear.report.figures.aocc import AOCC
from polarbear.report.figures.base import Figure
from polarbear.report.figures.diagnostics import DIAGNOSTICS
from polarbear.report.figures.eaf import EAF
from polarbear.report.figures.eaf_difference import EAF_DIFFERENCE
from polarbear.report.figures.ecdf import ECDF
from polarbear.report.figures.failures import FAILURES
from polarbear.report.figures.leaders import LEADERS
from polarbear.report.figures.matrix import MATRIX
from polarbear.report.figures.pairs import PAIRS
from polarbear.report.figures.ratings import RATINGS
from polarbear.report.figures.rounds import ROUNDS
from polarbear.report.figures.values import VALUES

FIGURES: dict[str, Figure] = {
    figure.name: figure
    for figure in (
        RATINGS,
        LEADERS,
        MATRIX,
        PAIRS,
        ROUNDS,
        VALUES,
        ALLOCATION,
        ECDF,
        AOCC,
        EAF,
        EAF_DIFFERENCE,
        FAILURES,
        DIAGNOSTICS,
    )
}
