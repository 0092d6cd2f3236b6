"""Outcomes on a grid to positions, duels and choice sets. Uses `numerics`."""

from polarbear.rankings.outcomes import Improvements
from polarbear.rankings.ranking import ABSENT, BELOW, UNRECORDED, GridValues, rank

__all__ = ["ABSENT", "BELOW", "UNRECORDED", "GridValues", "Improvements", "rank"]
