"""The figures of a report, each in a file of its own, with its data apart from its drawing.

Uses the report's material and drawing.
"""

from __future__ import annotations

from polarbear.report.figures.base import Figure
from polarbear.report.figures.registry import FIGURES

__all__ = ["FIGURES", "Figure"]
