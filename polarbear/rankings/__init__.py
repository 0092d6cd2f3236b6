"""Values to positions to counts to choice sets: what Plackett-Luce needs of any pile of rankings.

Uses `settings` and `numerics`.
"""

from __future__ import annotations

from polarbear.rankings.choice_sets import (
    ABSENT,
    BELOW,
    MAX_EXACT_TIE,
    MAX_MASKED,
    ChoiceSets,
    choice_sets_from_terms,
)
from polarbear.rankings.ranking import count_choice_sets, rank
from polarbear.rankings.values import UNRECORDED, GridValues

__all__ = [
    "ABSENT",
    "BELOW",
    "MAX_EXACT_TIE",
    "MAX_MASKED",
    "UNRECORDED",
    "ChoiceSets",
    "GridValues",
    "choice_sets_from_terms",
    "count_choice_sets",
    "rank",
]
