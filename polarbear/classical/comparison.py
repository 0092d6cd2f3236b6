"""What the classical view is asked: who is compared, which pair is looked at, on what scale."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from polarbear.classical.options import ViewOptions
from polarbear.errors import ReportError


@dataclass(frozen=True)
class Comparison:
    """Without algorithms: of a race the Pareto set, where it has more instances in common, and
    ``everyone`` otherwise or if asked for; without a pair, figures choose pairs that matter."""

    algorithms: tuple[str, ...] | None = None
    pair: tuple[str, str] | None = None
    everyone: bool = False
    options: ViewOptions = field(default_factory=ViewOptions)


EVERYONE = "all"  # what takes in those that a race has put out


def checked_names(names: Sequence[str]) -> tuple[str, ...]:
    """Names of algorithms, each once."""
    if not all(names):
        raise ReportError(
            f"expected names separated by commas, as in A,B; found '{','.join(names)}'"
        )
    return tuple(dict.fromkeys(names))


def checked_pair(names: Sequence[str]) -> tuple[str, str]:
    """The names of two algorithms."""
    if len(names) != 2 or names[0] == names[1] or not all(names):
        raise ReportError(
            f"a pair is two different algorithms, as in --pair A,B; found '{','.join(names)}'"
        )
    return names[0], names[1]
