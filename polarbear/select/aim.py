"""A race for one preference: it goes on only until the choice for that is good enough."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from polarbear.errors import SelectionError
from polarbear.inference import Posterior
from polarbear.preferences import Context, Preference, Valuation
from polarbear.racing import State
from polarbear.select.criteria import judge
from polarbear.select.information import ENOUGH
from polarbear.wording import short


@dataclass(frozen=True)
class Prospect:
    """Whom one would take now, how likely that is the best, and what it is expected to lose."""

    preference: str
    choice: str
    p2bb: float
    expected_regret: float
    threshold: float


@dataclass(frozen=True)
class Aim:
    """A preference, and the expected regret below which more rounds are not worth their cost."""

    preference: Preference
    valuation: Valuation
    threshold: float

    def prospect(self, state: State, posterior: Posterior) -> Prospect:
        """Whom one would take now, and what that is expected to lose."""
        items = [state.algorithms.index(name) for name in state.candidates]
        criteria = judge(self.valuation.values(posterior.theta[:, :, items]))
        best = criteria.best("regret")
        return Prospect(
            preference=self.preference.text,
            choice=state.candidates[best],
            p2bb=float(criteria.p2bb[best]),
            expected_regret=float(criteria.regret[best]),
            threshold=self.threshold,
        )

    def horizon(self, times: Sequence[float]) -> float:
        """The last time that has a say in the preference."""
        weights = self.valuation.weights
        last = len(times) - 1 if weights is None else int(np.flatnonzero(weights)[-1])
        return float(times[last])

    def reached(self, state: State, posterior: Posterior) -> str | None:
        """Why the race has served its purpose, if it has."""
        now = self.prospect(state, posterior)
        if now.expected_regret >= self.threshold:
            return None
        return (
            f"the expected regret of {now.choice} for '{now.preference}' is "
            f"{now.expected_regret:.2g}, below {short(self.threshold)}"
        )


def aim(preference: Preference, context: Context, threshold: float = ENOUGH) -> Aim:
    """What a race is to be run for, checked before anything is run."""
    if not threshold > 0:
        raise SelectionError(
            f"an expected regret never falls below {short(threshold)}; give a threshold above 0"
        )
    return Aim(preference, preference.on(context), threshold)
