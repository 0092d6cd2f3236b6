"""How runs end."""

from __future__ import annotations

from enum import StrEnum


class Status(StrEnum):
    """How a run ended."""

    BUDGET = "budget"  # stopped by PolarBear when its budget was spent
    ENDED = "ended"  # the algorithm ended before its budget; it keeps its last best
    CRASHED = "crashed"  # it raised, or its program failed
    BAD_OUTPUT = "bad-output"  # its program printed something that is not a trajectory
    TIMEOUT = "timeout"  # killed at the limit of seconds
    MEMORY = "memory"  # killed at the limit of memory
    KILLED = "killed"  # its process died
    LOST = "lost"  # killed from outside: by a signal, for lack of memory, or with its worker
    POISONOUS = "poisonous"  # its worker died in every attempt

    @property
    def failed(self) -> bool:
        return self not in (Status.BUDGET, Status.ENDED)
