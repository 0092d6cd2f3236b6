"""Values to positions to counts to choice sets: what Plackett-Luce needs of any pile of rankings.

Uses `settings` and `numerics`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from polarbear.settings.lazily import lazily

if TYPE_CHECKING:
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
__getattr__ = lazily(
    __name__,
    {
        "ABSENT": "choice_sets",
        "BELOW": "choice_sets",
        "MAX_EXACT_TIE": "choice_sets",
        "MAX_MASKED": "choice_sets",
        "UNRECORDED": "values",
        "ChoiceSets": "choice_sets",
        "GridValues": "values",
        "choice_sets_from_terms": "choice_sets",
        "count_choice_sets": "ranking",
        "rank": "ranking",
    },
)
