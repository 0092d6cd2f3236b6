"""Progress on standard error: a live display on a terminal, lines in a log."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import numpy as np

from polarbear.api.race_events import (
    Account,
    AlgorithmProgress,
    Outcome,
    RoundRecord,
    RoundStart,
    StoreOnDisk,
    UnderWay,
    curve,
    labels,
    standings_of,
    withheld_words,
)
from polarbear.cli import output
from polarbear.cli.race_summary import forecast_words, summary_line
from polarbear.wording import counted, decisive, duration, percent

LOG_INTERVAL_SECONDS = 15.0
NAME_COLUMNS, ROUND_COLUMNS, BAR_COLUMNS = 24, 20, 24


@contextmanager
def live_display(picture: Callable[[], Sequence[str]]) -> Iterator[None]:
    """Show lines on a terminal, and update them four times a second."""
    if output.is_quiet() or not sys.stderr.isatty():
        yield
        return
    from rich.console import Console, Group
    from rich.live import Live
    from rich.text import Text

    with Live(
        console=Console(stderr=True, emoji=False),
        get_renderable=lambda: Group(*map(Text, picture())),
        refresh_per_second=4,
        transient=True,
    ):
        yield


class _Log:
    """Lines on standard error that is not a terminal, at intervals."""

    def __init__(self) -> None:
        self._last = time.monotonic()

    @property
    def is_due(self) -> bool:
        return time.monotonic() - self._last > LOG_INTERVAL_SECONDS

    def write(self, line: str) -> None:
        self._last = time.monotonic()
        if not sys.stderr.isatty():
            output.note(line)


class RunProgress:
    """The number of finished runs, of a known number."""

    def __init__(self, total: int) -> None:
        self._total = total
        self._done = self._failed = 0
        self._begun = time.monotonic()
        self._log = _Log()

    def advance(self, failed: bool) -> None:
        """Count a finished run."""
        self._done += 1
        self._failed += failed
        if self._log.is_due:
            self._log.write(self._line())

    def picture(self) -> list[str]:
        """The lines of a live display."""
        return [bar(self._done, self._total), self._line()] if self._total else []

    def _line(self) -> str:
        failures = f", {self._failed} failed" if self._failed else ""
        line = f"{self._done} of {counted(self._total, 'run')}{failures}"
        if not self._done:
            return line
        left = (time.monotonic() - self._begun) / self._done * (self._total - self._done)
        return f"{line}, {duration(left)} left"


class RaceProgress(Account):
    """The rounds of a race: P(dominated) of each algorithm, finished runs, the forecast."""

    def __init__(self, store: StoreOnDisk) -> None:
        super().__init__(store.config)
        self._store = store
        self._facts = standings_of(store)
        self._history = History()
        for number in store.rounds.numbers():
            self._history.ends(store.rounds.read(number))
        self._doing = ""
        self._log = _Log()

    def begins(self, start: RoundStart) -> None:
        super().begins(start)
        self._history.enter(start.state.algorithms)
        joining = start.state.joining
        newcomer = f"{joining} on stored instances: " if joining else ""
        algorithms = counted(len(start.horizons), "algorithm")
        self._doing = f"{newcomer}{algorithms} on {counted(start.drawn, 'instance')}"

    def finished(self, outcome: Outcome) -> None:
        super().finished(outcome)
        if self._log.is_due:
            now = self.now()
            if now.left_in_round is not None:
                left = duration(now.left_in_round)
                self._log.write(f"{runs_line(now)}, {left} left in this round")

    def infers(self) -> None:
        super().infers()
        self._doing = "inferring"

    def ends(self, record: RoundRecord) -> None:
        super().ends(record)
        self._facts = standings_of(self._store)
        self._history.ends(record)
        if self._facts is None:
            return
        parts = [
            f"round {self._facts.rounds}: {counted(self._facts.instances, 'instance')}, "
            f"{percent(self._facts.share_settled)} of pairs settled"
        ]
        parts += [
            f"{one.algorithm} eliminated by {one.by} (P = {decisive(one.probability)})"
            for one in record.decisions.eliminated
        ]
        parts += [withheld_words(name, by) for name, by in record.decisions.withheld]
        if record.decisions.caught_up:
            parts.append(f"{record.decisions.caught_up} has caught up")
        parts += [f"do not trust this posterior: {problem}" for problem in record.problems]
        self._log.write("; ".join([*parts, *self._forecast_words()]))

    def picture(self) -> list[str]:
        """The lines of a live display."""
        now = self.now()
        doing = f"{runs_line(now)}; {self._doing}" if self._doing else "starting"
        lines = self._history.lines(now.algorithms)
        if self._facts:
            lines.append(summary_line(self._facts))
        if now.runs:
            lines.append(bar(now.done, now.runs))
        return [*lines, "; ".join([doing, *self._forecast_words()])]

    def _forecast_words(self) -> list[str]:
        if not self._facts or not self._facts.open_pairs:
            return []
        return forecast_words(self._facts, self.seconds_per_instance)


def runs_line(now: UnderWay) -> str:
    """The finished runs of a round."""
    failures = f", {now.failed} failed" if now.failed else ""
    return f"round {now.round}: {now.done} of {counted(now.runs, 'run')}{failures}"


class History:
    """P(dominated) of each algorithm after each round."""

    def __init__(self) -> None:
        self._dominated: dict[str, list[float]] = {}
        self._eliminated: set[str] = set()

    def enter(self, names: Sequence[str]) -> None:
        """Add algorithms, even if nothing is known about them yet."""
        for name in names:
            self._dominated.setdefault(name, [])

    def ends(self, record: RoundRecord) -> None:
        """Add a round; an eliminated algorithm keeps the probability of its elimination."""
        state = record.state
        self.enter(state.algorithms)
        decided = {gone.algorithm: gone.probability for gone in state.eliminated}
        for name, seen in self._dominated.items():
            if name in decided and name not in self._eliminated:
                seen.append(decided[name])
            elif name in record.threats:
                seen.append(record.threats[name].probability)
        self._eliminated = set(decided)

    def lines(self, progress: Sequence[AlgorithmProgress]) -> list[str]:
        """P(dominated) of each algorithm as a curve over the last rounds, and its runs."""
        if not self._dominated:
            return []
        runs = {entry.algorithm: entry for entry in progress}
        names = labels(list(self._dominated), limit=NAME_COLUMNS)
        first = max(len("algorithm"), *map(len, names.values()))
        made = [f"{'algorithm':<{first}}  P(dominated) by round"]
        for name, seen in self._dominated.items():
            drawn = curve(np.array(seen[-ROUND_COLUMNS:]))
            now = f"{seen[-1]:.2f}" if seen else "?"
            entry = runs.get(name, AlgorithmProgress(name))
            parts = ["eliminated"] if name in self._eliminated else []
            parts.append(counted(entry.runs, "run"))
            if entry.failed:
                parts.append(f"{entry.failed} failed")
            made.append(
                f"{names[name]:<{first}}  {drawn:<{ROUND_COLUMNS}}  {now:<4}  {', '.join(parts)}"
            )
        return made


def bar(done: int, of: int) -> str:
    """The share of runs that is done."""
    filled = BAR_COLUMNS * done // of if of else 0
    return "█" * filled + "░" * (BAR_COLUMNS - filled)
