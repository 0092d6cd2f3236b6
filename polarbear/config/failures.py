"""Options for failed runs: how they are ranked, and how many a race tolerates."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field

from polarbear.settings.options import Options
from polarbear.wording import counted, noun

Meaning = Literal["keeps", "last", "absent", "ends"]
KEEPS: Meaning = "keeps"


class Failures(Options):
    """How a failed run is ranked, and the share of failed runs that ends a race."""

    means: Meaning = Field(
        KEEPS,
        description="after its failure, a run 'keeps' the best it had found, is 'last', or "
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
        """How a failed run is ranked; outside of a race, 'ends' means the default."""
        return KEEPS if self.means == "ends" else self.means


def failed_words(runs: int, ranks: str) -> str:
    """A sentence on failed runs and their ranking."""
    if ranks == "last":
        meaning = f"{noun(runs, 'is', 'are')} last from there on"
    elif ranks == "absent":
        meaning = f"{noun(runs, 'is', 'are')} left out of rankings from there on"
    else:
        meaning = f"kept the best {noun(runs, 'it', 'they')} had found"
    return f"{counted(runs, 'run')} failed and {meaning}"


def failures_in(plain: Mapping[str, Any]) -> Failures:
    """The options in a stored configuration, or the defaults; imported stores have none."""
    execution = plain.get("execution") or {}
    return Failures.model_validate(execution.get("failures") or {})
