"""What becomes of runs that fail, and how much failure a race puts up with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field

from polarbear.settings.options import Options
from polarbear.wording import counted, noun

Meaning = Literal["keeps", "last", "absent", "ends"]
KEEPS: Meaning = "keeps"


class Failures(Options):
    """What a failed run means, and from which share on a race ends with an error."""

    means: Meaning = Field(
        KEEPS,
        description="from where it failed on, a run 'keeps' the best it had found, is 'last', or "
        "is 'absent' from rankings; or it 'ends' the race",
    )
    tolerated: float = Field(
        0.2,
        ge=0,
        le=1,
        description="a race ends with an error when more than this share of an algorithm's runs "
        "has failed",
    )

    @property
    def ranks(self) -> Meaning:
        """How a failed run is ranked; one that ends a race is ranked as by default elsewhere."""
        return KEEPS if self.means == "ends" else self.means


def failed_words(runs: int, ranks: str) -> str:
    """That so many runs failed, and what that means for them."""
    if ranks == "last":
        meaning = f"{noun(runs, 'is', 'are')} last from there on"
    elif ranks == "absent":
        meaning = f"{noun(runs, 'is', 'are')} left out of rankings from there on"
    else:
        meaning = f"kept the best {noun(runs, 'it', 'they')} had found"
    return f"{counted(runs, 'run')} failed and {meaning}"


def failures_in(plain: Mapping[str, Any]) -> Failures:
    """What a stored configuration says of failures, or the default where it is older than that."""
    execution = plain.get("execution") or {}
    return Failures.model_validate(execution.get("failures") or {})
