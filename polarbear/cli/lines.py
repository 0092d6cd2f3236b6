"""A line for each algorithm of a race that goes on, within the 80 columns of a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from polarbear.wording import counted

if TYPE_CHECKING:
    from polarbear.execution.outcome import Outcome
    from polarbear.racing import RoundRecord

NAME, ROUNDS, BAR = 24, 20, 24  # columns


@dataclass
class History:
    """What was seen of each algorithm so far: P(dominated) after each round, runs, failures."""

    dominated: dict[str, list[float]] = field(default_factory=dict)
    out: set[str] = field(default_factory=set)
    runs: dict[str, int] = field(default_factory=dict)
    failed: dict[str, int] = field(default_factory=dict)

    def enter(self, names: Sequence[str]) -> None:
        """These are in the race, even if nothing is known about them yet."""
        for name in names:
            self.dominated.setdefault(name, [])

    def finished(self, outcome: Outcome) -> None:
        """A run is finished."""
        name = outcome.task.algorithm.name
        self.runs[name] = self.runs.get(name, 0) + 1
        self.failed[name] = self.failed.get(name, 0) + outcome.status.failed

    def ends(self, record: RoundRecord) -> None:
        """A round is over; whoever is out stays at what put it out."""
        state = record.state
        self.enter(state.algorithms)
        decided = {gone.algorithm: gone.probability for gone in state.eliminated}
        for name, seen in self.dominated.items():
            if name in decided and name not in self.out:
                seen.append(decided[name])
            elif name in record.threats:
                seen.append(record.threats[name].probability)
        self.out |= set(decided)


def lines(history: History) -> list[str]:
    """Each algorithm: P(dominated) as a curve over the last rounds, and now; runs and failures."""
    from polarbear.report.drawing.lettering import labels
    from polarbear.report.prose.outline import curve

    if not history.dominated:
        return []
    import numpy as np

    names = labels(list(history.dominated), limit=NAME)
    first = max(len("algorithm"), *map(len, names.values()))
    made = [f"{'algorithm':<{first}}  {'P(dominated) by round':<{ROUNDS + 6}}"]
    for name, seen in history.dominated.items():
        drawn = curve(np.array(seen[-ROUNDS:])) if seen else ""
        now = f"{seen[-1]:.2f}" if seen else "?"
        parts = ["out"] if name in history.out else []
        parts += [counted(history.runs.get(name, 0), "run")]
        parts += _failures(history.failed, name)
        made.append(f"{names[name]:<{first}}  {drawn:<{ROUNDS}}  {now:<4}  {', '.join(parts)}")
    return [line.rstrip() for line in made]


def bar(done: int, of: int) -> str:
    """How much of a round's runs is done."""
    filled = BAR * done // of if of else 0
    return "█" * filled + "░" * (BAR - filled)


def _failures(failed: Mapping[str, int], name: str) -> list[str]:
    return [f"{failed[name]} failed"] if failed.get(name) else []
