"""Expected regret: the possible gain of further rounds, and a race that stops when it is small."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from polarbear.errors import SelectionError
from polarbear.inference import Posterior
from polarbear.inference.strongest_rival import is_best
from polarbear.racing import State
from polarbear.selection.criteria import Criteria, draws_of_values
from polarbear.selection.criterion_names import Risk, ValueKind
from polarbear.selection.preference import Context, Preference
from polarbear.wording import percent_cell, probability, short, small

ENOUGH = 0.01  # expected regret below which further rounds are said to gain little


@dataclass(frozen=True)
class RivalGain:
    """An algorithm that may turn out to be better, and its part of the expected gain."""

    algorithm: str
    p2bb: float
    gain: float


@dataclass(frozen=True)
class InformationValue:
    """The expected gain of perfect knowledge over the choice, an upper bound for further rounds."""

    gain: float
    share: float
    enough: float
    words: tuple[str, ...]
    rivals: tuple[RivalGain, ...]


def value_of_information(values: np.ndarray, names: Sequence[str]) -> InformationValue:
    """The gain from knowing theta exactly, from values[draw, item]; the first item is the choice.

    It is split by the item that is best: E[(V_rival - V_choice) [rival is best]].
    """
    won = is_best(values)
    lost = values.max(axis=1) - values[:, 0]
    gains = lost @ won / len(values)
    p2bb = won.mean(axis=0)
    rivals = tuple(
        RivalGain(names[item], float(p2bb[item]), float(gains[item]))
        for item in np.argsort(-gains, kind="stable")
        if item != 0 and p2bb[item] > 0
    )
    gain = float(lost.mean())
    size_of_value = abs(float(values[:, 0].mean()))
    share = gain / size_of_value if size_of_value > 0 else 0.0
    return InformationValue(gain, share, ENOUGH, _words(gain, share, names[0], rivals), rivals)


def _words(gain: float, share: float, name: str, rivals: Sequence[RivalGain]) -> tuple[str, ...]:
    if not rivals:
        return (f"exact knowledge can gain nothing: {name} is the best in every draw",)
    verdict = "below" if gain < ENOUGH else "above"
    return (
        f"exact knowledge could gain at most {small(gain)} over {name} "
        f"({percent_cell(share, 1)} of its value), {verdict} the default limit of {short(ENOUGH)}",
        f"{small(rivals[0].gain)} of it from {rivals[0].algorithm}, whose P(best) is "
        f"{probability(rivals[0].p2bb)}",
    )


@dataclass(frozen=True)
class Prospect:
    """The choice at this point of a race, its P(best) and its expected regret."""

    preference: str
    choice: str
    p2bb: float
    expected_regret: float
    threshold: float


class RegretStop:
    """The purpose of a race for one preference: an expected regret below a threshold."""

    def __init__(self, preference: Preference, context: Context, threshold: float) -> None:
        if not threshold > 0:
            raise SelectionError(
                f"an expected regret never falls below {short(threshold)}; give a threshold above 0"
            )
        self._preference = preference.text
        self._threshold = threshold
        self._valuation = preference.on(context)

    def prospect(self, state: State, posterior: Posterior) -> Prospect:
        """The choice now, and its expected regret."""
        items = [state.algorithms.index(name) for name in state.candidates]
        criteria = Criteria(draws_of_values(posterior, items, self._valuation, ValueKind.DUELS))
        best = criteria.best(Risk.REGRET)
        return Prospect(
            preference=self._preference,
            choice=state.candidates[best],
            p2bb=float(criteria.p2bb[best]),
            expected_regret=float(criteria.regret[best]),
            threshold=self._threshold,
        )

    def horizon(self, times: Sequence[float]) -> float:
        """The last time that matters to the preference."""
        weights = self._valuation.weights
        last = len(times) - 1 if weights is None else int(np.flatnonzero(weights)[-1])
        return float(times[last])

    def reached(self, state: State, posterior: Posterior) -> str | None:
        """Why the race can stop, if it can."""
        now = self.prospect(state, posterior)
        if now.expected_regret >= now.threshold:
            return None
        return (
            f"the expected regret of {now.choice} for '{now.preference}' is "
            f"{now.expected_regret:.2g}, below {short(now.threshold)}"
        )
