"""Who looks on while a race goes on."""

from __future__ import annotations

from collections.abc import Sequence

from polarbear.execution.outcome import Outcome, Task
from polarbear.racing import RoundRecord, State


class Watcher:
    """Someone who looks on while a race goes on; this one sees nothing."""

    wants_draws = False  # in the store after each round, not only after the last

    def checked(self, findings: Sequence[str]) -> None:
        """Everything was tried out for a moment, and this was found."""

    def staffed(self, workers: int) -> None:
        """So many runs go on at once from now on."""

    def begins(
        self, state: State, horizons: dict[str, float], drawn: int, tasks: Sequence[Task]
    ) -> None:
        """A round begins: who runs how far, on how many instances, and which runs are missing."""

    def finished(self, outcome: Outcome) -> None:
        """A run of the round is finished, or was run early and is used now."""

    def ran_early(self, outcome: Outcome) -> None:
        """A run is finished that no round has asked for yet."""

    def infers(self) -> None:
        """The runs of a round are there; inference begins."""

    def ends(self, record: RoundRecord) -> None:
        """A round is over and kept."""
