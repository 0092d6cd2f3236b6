"""One line for each algorithm of a running race, within the 80 columns of a terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from polarbear.wording import counted

if TYPE_CHECKING:
    from polarbear.api.race_events import Outcome, RoundRecord

NAME_COLUMNS, ROUND_COLUMNS, BAR_COLUMNS = 24, 20, 24


@dataclass
class History:
    """P(dominated) of each algorithm after each round, and its runs and failures."""

    dominated: dict[str, list[float]] = field(default_factory=dict)
    eliminated: set[str] = field(default_factory=set)
    runs: Counter[str] = field(default_factory=Counter)
    failed: Counter[str] = field(default_factory=Counter)

    def enter(self, names: Sequence[str]) -> None:
        """Add algorithms, even if nothing is known about them yet."""
        for name in names:
            self.dominated.setdefault(name, [])

    def finished(self, outcome: Outcome) -> None:
        """Count a finished run."""
        name = outcome.task.algorithm.name
        self.runs[name] += 1
        self.failed[name] += outcome.status.failed

    def ends(self, record: RoundRecord) -> None:
        """Add a round; an eliminated algorithm keeps the probability of its elimination."""
        state = record.state
        self.enter(state.algorithms)
        decided = {gone.algorithm: gone.probability for gone in state.eliminated}
        for name, seen in self.dominated.items():
            if name in decided and name not in self.eliminated:
                seen.append(decided[name])
            elif name in record.threats:
                seen.append(record.threats[name].probability)
        self.eliminated = set(decided)


def lines(history: History) -> list[str]:
    """Each algorithm: P(dominated) as a curve over the last rounds, and now; runs and failures."""
    from polarbear.api.labels import curve, labels

    if not history.dominated:
        return []
    names = labels(list(history.dominated), limit=NAME_COLUMNS)
    first = max(len("algorithm"), *map(len, names.values()))
    made = [f"{'algorithm':<{first}}  {'P(dominated) by round':<{ROUND_COLUMNS + 6}}"]
    for name, seen in history.dominated.items():
        drawn = curve(seen[-ROUND_COLUMNS:])
        now = f"{seen[-1]:.2f}" if seen else "?"
        parts = ["eliminated"] if name in history.eliminated else []
        parts.append(counted(history.runs[name], "run"))
        if history.failed[name]:
            parts.append(f"{history.failed[name]} failed")
        made.append(
            f"{names[name]:<{first}}  {drawn:<{ROUND_COLUMNS}}  {now:<4}  {', '.join(parts)}"
        )
    return [line.rstrip() for line in made]


def bar(done: int, of: int) -> str:
    """The share of a round's runs that is done."""
    filled = BAR_COLUMNS * done // of if of else 0
    return "█" * filled + "░" * (BAR_COLUMNS - filled)
