"""Expected regret: the possible gain of further rounds."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from polarbear.inference.strongest_rival import gains_over
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


def value_of_information(
    values: np.ndarray, p2bb: np.ndarray, names: Sequence[str]
) -> InformationValue:
    """The gain from knowing theta exactly, from values[draw, item]; the first item is the choice.

    ``p2bb`` is P(best) of each item.

    It is split by the item that is best: E[(V_rival - V_choice) [rival is best]].
    """
    gains = gains_over(values, np.array(0))
    rivals = tuple(
        RivalGain(names[item], float(p2bb[item]), float(gains[item]))
        for item in np.argsort(-gains, kind="stable")
        if item != 0 and p2bb[item] > 0
    )
    gain = float(gains.sum())
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
