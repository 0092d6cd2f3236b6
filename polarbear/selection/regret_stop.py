"""A race for one preference: it stops when the expected regret of the choice is small."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from polarbear.errors import SelectionError
from polarbear.inference import Posterior
from polarbear.racing import State
from polarbear.selection.criteria import draws_of_values, judge
from polarbear.selection.information_value import ENOUGH
from polarbear.selection.preference import Context, Preference, Valuation
from polarbear.wording import short


@dataclass(frozen=True)
class Prospect:
    """The choice at this point of a race, its P(best) and its expected regret."""

    preference: str
    choice: str
    p2bb: float
    expected_regret: float
    threshold: float


@dataclass(frozen=True)
class RegretStop:
    """A preference, and the expected regret below which the race stops."""

    preference: Preference
    valuation: Valuation
    threshold: float

    def prospect(self, state: State, posterior: Posterior) -> Prospect:
        """The choice now, and its expected regret."""
        items = [state.algorithms.index(name) for name in state.candidates]
        criteria = judge(draws_of_values(posterior, items, self.valuation, "duels"))
        best = criteria.best("regret")
        return Prospect(
            preference=self.preference.text,
            choice=state.candidates[best],
            p2bb=float(criteria.p2bb[best]),
            expected_regret=float(criteria.regret[best]),
            threshold=self.threshold,
        )

    def horizon(self, times: Sequence[float]) -> float:
        """The last time that matters to the preference."""
        weights = self.valuation.weights
        last = len(times) - 1 if weights is None else int(np.flatnonzero(weights)[-1])
        return float(times[last])

    def reached(self, state: State, posterior: Posterior) -> str | None:
        """Why the race can stop, if it can."""
        now = self.prospect(state, posterior)
        if now.expected_regret >= self.threshold:
            return None
        return (
            f"the expected regret of {now.choice} for '{now.preference}' is "
            f"{now.expected_regret:.2g}, below {short(self.threshold)}"
        )


def regret_stop(preference: Preference, context: Context, threshold: float = ENOUGH) -> RegretStop:
    """The stopping rule for a preference, checked before anything is run."""
    if not threshold > 0:
        raise SelectionError(
            f"an expected regret never falls below {short(threshold)}; give a threshold above 0"
        )
    return RegretStop(preference, preference.on(context), threshold)
