"""What a race needs to know about a preference, so that it imports nothing of `selection`."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from polarbear.inference import Posterior
from polarbear.rankings.duels import DuelRecord, ProblemDuels


class Purpose(Protocol):
    """A preference, and the expected regret below which its choice is good enough."""

    @property
    def preference(self) -> str:
        """The preference in the notation of the command line."""

    @property
    def threshold(self) -> float:
        """The expected regret below which no further problem is needed."""

    @property
    def is_used(self) -> np.ndarray:
        """The times of the grid that matter: bool[time]."""

    def values(self, posterior: Posterior, items: Sequence[int]) -> np.ndarray:
        """Draws of the values of these algorithms against each other: [draw, item]."""

    def p_equivalent(self, posterior: Posterior, a: int, b: int, epsilon: float) -> float:
        """P(the win rate of a against b is within epsilon of even)."""

    def strongest_rival(self, posterior: Posterior, item: int, rivals: Sequence[int]) -> int | None:
        """The rival against which an algorithm has the lowest mean value; None without any."""

    def record(self, duels: ProblemDuels) -> DuelRecord:
        """The duels of all pairs that bets on the higher value are placed on."""
