"""Which ends of a process were somebody else's doing, not its own."""

from __future__ import annotations

import signal

# Sent by people, schedulers and the kernel when memory runs out; what a process does to itself by
# a fault of its own (SIGSEGV, SIGABRT, SIGFPE and the like) is not among them.
FROM_OUTSIDE = (signal.SIGKILL, signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT)
OF_A_SHELL = 128 + signal.SIGKILL  # what a shell ends with whose program was killed


def killed_from_outside(exit_code: int | None) -> bool:
    """Whether a process that ended so was killed by somebody else."""
    return exit_code is not None and (-exit_code in FROM_OUTSIDE or exit_code == OF_A_SHELL)
