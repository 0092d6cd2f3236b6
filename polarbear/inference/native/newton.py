"""When a search for a mode by Newton's method ends, and what to say where it finds none."""

from __future__ import annotations

from polarbear.errors import InferenceError
from polarbear.wording import counted

MOST_STEPS = 100
SHORTEST_STEP = 1e-7
CONVERGED = 1e-7  # squared Newton decrement: distance to the mode in posterior standard deviations


def no_mode(n: int, n_times: int) -> InferenceError:
    """Newton's method went on without end."""
    return InferenceError(
        f"no mode of the posterior was found for {counted(n, 'algorithm')} at "
        f"{counted(n_times, 'time')}: the rankings and the prior together leave it (nearly) flat; "
        "choose a less diffuse prior"
    )
