"""How runs end."""

from __future__ import annotations

from enum import StrEnum


class Status(StrEnum):
    """How a run ended."""

    BUDGET = "budget"  # stopped by us when its budget was spent
    ENDED = "ended"  # the algorithm ended by itself; it keeps its last best
    CRASHED = "crashed"  # it raised, or its program failed
    BAD_OUTPUT = "bad-output"  # its program printed what is not a trajectory
    TIMEOUT = "timeout"  # killed at the limit of seconds
    MEMORY = "memory"  # killed at the limit of memory
    KILLED = "killed"  # its process died under it
    LOST = "lost"  # killed from outside: by a signal, for want of memory, or with its worker
    POISONOUS = "poisonous"  # its worker died with it, as often as it was tried

    @property
    def failed(self) -> bool:
        return self not in (Status.BUDGET, Status.ENDED)
