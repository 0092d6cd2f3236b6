"""What more evidence could still gain for a preference: whether to race on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from polarbear.select.criteria import wins

ENOUGH = 0.01  # expected regret below which a race for one preference stops, unless told


@dataclass(frozen=True)
class Rival:
    """How likely an item is better than the choice, and how much of the regret is due to it."""

    item: int
    p2bb: float
    gain: float


@dataclass(frozen=True)
class Information:
    """The expected regret of a choice: with perfect knowledge so much could be gained, not more."""

    gain: float
    share: float
    rivals: tuple[Rival, ...]


def value_of_information(values: np.ndarray, choice: int) -> Information:
    """What knowing theta exactly would gain over a choice, from values[draw, item].

    The gain is split by who would be the better choice: E[(V_rival - V_choice) [rival is best]].
    """
    best = values.max(axis=1)
    won = wins(values, best)
    lost = best - values[:, choice]
    gains, p2bb = lost @ won / len(values), won.mean(axis=0)
    others = [item for item in np.argsort(-gains, kind="stable") if item != choice]
    rivals = tuple(Rival(int(i), float(p2bb[i]), float(gains[i])) for i in others if p2bb[i] > 0)
    gain = float(lost.mean())
    size = abs(float(values[:, choice].mean()))
    return Information(gain, gain / size if size > 0 else 0.0, rivals)
