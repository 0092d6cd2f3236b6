"""Values on a grid to positions, duels and choice sets. Uses `numerics`."""

from __future__ import annotations

from polarbear.rankings.choice_sets import ABSENT, BELOW, ChoiceSets, count_choice_sets
from polarbear.rankings.ranking import UNRECORDED, GridValues, rank

__all__ = [
    "ABSENT",
    "BELOW",
    "UNRECORDED",
    "ChoiceSets",
    "GridValues",
    "count_choice_sets",
    "rank",
]
