"""Who looks on while a race goes on."""

from __future__ import annotations

from collections.abc import Sequence

from polarbear.execution.outcome import Outcome
from polarbear.racing import RoundRecord, State


class Watcher:
    """Someone who looks on while a race goes on; this one sees nothing."""

    def checked(self, findings: Sequence[str]) -> None:
        """Everything was tried out for a moment, and this was found."""

    def begins(self, state: State, horizons: dict[str, float], drawn: int, runs: int) -> None:
        """A round begins: who runs how far, on how many instances, in how many runs."""

    def finished(self, outcome: Outcome) -> None:
        """A run of the round is finished, or was run early and is used now."""

    def ran_early(self, outcome: Outcome) -> None:
        """A run is finished that no round has asked for yet."""

    def infers(self) -> None:
        """The runs of a round are there; inference begins."""

    def ends(self, record: RoundRecord) -> None:
        """A round is over and kept."""
