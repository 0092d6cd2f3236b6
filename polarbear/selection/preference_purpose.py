"""A preference as the purpose of a race: its times, the values of algorithms, and their duels."""

from collections.abc import Sequence

import numpy as np

from polarbear.errors import SelectionError
from polarbear.inference import Posterior
from polarbear.inference.strongest_rival import p_equivalent
from polarbear.rankings.duels import DuelRecord, ProblemDuels
from polarbear.selection.criteria import draws_of_values, strongest_rival
from polarbear.selection.criterion_names import ValueKind
from polarbear.selection.preference import Context, Preference, Valuation
from polarbear.wording import short


class PreferencePurpose:
    """The purpose of a race that ends when the choice for a preference is good enough."""

    def __init__(self, preference: Preference, context: Context, threshold: float) -> None:
        if not threshold > 0:
            raise SelectionError(
                f"an expected regret never falls below {short(threshold)}; give a threshold above 0"
            )
        self.preference = preference.text
        self.threshold = threshold
        self._valuation = preference.on(context)
        self._n_times = len(context.times)

    @property
    def is_used(self) -> np.ndarray:
        return self._valuation.is_used(self._n_times)

    def values(self, posterior: Posterior, items: Sequence[int]) -> np.ndarray:
        return draws_of_values(posterior, items, self._valuation, ValueKind.DUELS)

    def strongest_rival(self, posterior: Posterior, item: int, rivals: Sequence[int]) -> int | None:
        return strongest_rival(posterior, item, rivals, self._valuation)

    def p_equivalent(self, posterior: Posterior, a: int, b: int, epsilon: float) -> float:
        return p_equivalent_for(self._valuation, posterior.head_to_head(a, b), epsilon)

    def record(self, duels: ProblemDuels) -> DuelRecord:
        """The duels at the times that matter.

        With weights a problem counts as the weighted share of times won. Without weights the duels
        at every time count by themselves.
        """
        weights = self._valuation.weights
        if weights is None:
            return duels.record()
        return duels.weighted_record(np.where(self.is_used, weights, 0.0))


def p_equivalent_for(valuation: Valuation, wins: np.ndarray, epsilon: float) -> float:
    """P(two algorithms are as good for a preference), from win probabilities[draw, time].

    Their weighted win rate is within epsilon of even; without weights, that at every time is.
    """
    if valuation.weights is None:
        return float(p_equivalent(wins, epsilon).min())
    return float(p_equivalent(valuation.of_curve(wins), epsilon))
