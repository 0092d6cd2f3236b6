"""What a race asks about the choice of an algorithm, and what is open of it after a round.

A race for a preference asks which algorithm to choose for it; a default race asks this at every
single time of the grid.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class OpenChoice:
    """A choice that needs more problems: between which algorithms, and at which times.

    ``first`` and ``last`` are the first and the last of these times. ``regret`` is the highest
    expected regret there that does not come from equivalent rivals, and ``p_best`` that of the
    choice where it is highest; both are None before the first round.
    """

    algorithms: tuple[str, ...]
    first: float
    last: float
    regret: float | None = None
    p_best: float | None = None


@dataclass(frozen=True)
class OutForPurpose:
    """An algorithm that is no longer considered for a preference, and the evidence for that.

    ``by`` has the higher value with this ``probability``; ``wealth`` is the betting wealth in their
    duels, None for a wealth that is not needed. It is no elimination.
    """

    algorithm: str
    by: str
    round: int
    problems: int
    probability: float
    wealth: float | None = None


@dataclass(frozen=True)
class ChoiceQuestion:
    """The choice for a ``preference``, or at every single time if that is None.

    It is answered as soon as nothing of it is ``open``: the expected regret of the choice is below
    the ``threshold``, or what exceeds it comes from rivals that are equivalent to the choice, named
    in ``as_good_as``. The other fields are those of the choice for a preference after the last
    round; algorithms that are ``out`` make no further runs for it.
    """

    preference: str | None
    threshold: float
    open: tuple[OpenChoice, ...] = ()
    out: tuple[OutForPurpose, ...] = ()
    choice: str | None = None
    p2bb: float | None = None
    expected_regret: float | None = None
    as_good_as: tuple[str, ...] = ()

    @property
    def is_answered(self) -> bool:
        return not self.open
