"""Progress on standard error: a live display on a terminal, lines in a log."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import numpy as np

from polarbear.api.experiments import (
    Account,
    AlgorithmProgress,
    Outcome,
    RoundRecord,
    RoundStart,
    StoreOnDisk,
    curve,
    labels,
    standings,
    withheld,
)
from polarbear.cli import output
from polarbear.cli.race_summary import forecast_words, summary_line
from polarbear.wording import counted, decisive, duration, percent

LOG_INTERVAL_SECONDS = 15.0
NAME_COLUMNS, ROUND_COLUMNS, BAR_COLUMNS = 24, 20, 24


@contextmanager
def _live(picture: Callable[[], Sequence[str]]) -> Iterator[None]:
    """Show lines on a terminal, and update them four times a second."""
    if output.quiet or not sys.stderr.isatty():
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


@contextmanager
def runs_display(total: int) -> Iterator[Callable[[bool], None]]:
    """Show the number of finished runs; yields a function that counts one."""
    done = failed = 0
    begun, log = time.monotonic(), _Log()

    def line() -> str:
        left = (time.monotonic() - begun) / max(done, 1) * (total - done)
        return f"{_finished(done, total, failed)}{f', {duration(left)} left' if done else ''}"

    def advance(has_failed: bool) -> None:
        nonlocal done, failed
        done, failed = done + 1, failed + has_failed
        if log.is_due:
            log.write(line())

    with _live(lambda: [bar(done, total), line()] if total else []):
        yield advance


@contextmanager
def race_display(store: StoreOnDisk) -> Iterator[RaceProgress]:
    """Show the progress of a race."""
    progress = RaceProgress(store)
    with _live(progress.picture):
        yield progress


class RaceProgress(Account):
    """The rounds of a race: P(dominated) of each algorithm, finished runs, the forecast."""

    def __init__(self, store: StoreOnDisk) -> None:
        super().__init__(store.config)
        self._store, self._facts = store, standings(store)
        self._history, self._log, self._doing = History(), _Log(), ""
        for number in store.rounds.numbers():
            self._history.ends(store.rounds.read(number))

    def begins(self, start: RoundStart) -> None:
        super().begins(start)
        self._history.enter(start.state.algorithms)
        algorithms, drawn = len(start.horizons), counted(start.drawn, "instance")
        self._doing = f"{counted(algorithms, 'algorithm')} on {drawn}"

    def finished(self, outcome: Outcome) -> None:
        super().finished(outcome)
        if self._log.is_due and (left := self.now().left_in_round) is not None:
            self._log.write(f"{self._runs()}, {duration(left)} left in this round")

    def infers(self) -> None:
        super().infers()
        self._doing = "inferring"

    def ends(self, record: RoundRecord) -> None:
        super().ends(record)
        self._facts = standings(self._store)
        self._history.ends(record)
        if self._facts is None:
            return
        settled = f"{percent(self._facts.share_settled)} of pairs settled"
        parts = [
            f"round {self._facts.rounds}: {counted(self._facts.instances, 'problem')}, {settled}"
        ]
        parts += [
            f"{one.algorithm} eliminated by {one.by} (P = {decisive(one.probability)})"
            for one in record.decisions.eliminated
        ]
        parts += [withheld(name, by) for name, by in record.decisions.withheld]
        if record.decisions.caught_up:
            parts.append(f"{record.decisions.caught_up} has caught up")
        parts += [f"do not trust this posterior: {problem}" for problem in record.problems]
        self._log.write("; ".join([*parts, *self._forecast_words()]))

    def picture(self) -> list[str]:
        """The lines of a live display."""
        now = self.now()
        lines = self._history.lines(now.algorithms)
        if self._facts:
            lines.append(summary_line(self._facts))
        if now.runs:
            lines.append(bar(now.done, now.runs))
        doing = f"{self._runs()}; {self._doing}" if self._doing else "starting"
        return [*lines, "; ".join([doing, *self._forecast_words()])]

    def _runs(self) -> str:
        now = self.now()
        return f"round {now.round}: {_finished(now.done, now.runs, now.failed)}"

    def _forecast_words(self) -> list[str]:
        if not self._facts or not self._facts.open_pairs:
            return []
        return forecast_words(self._facts, self.seconds_per_instance)


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
            failures = f", {entry.failed} failed" if entry.failed else ""
            status = "eliminated, " if name in self._eliminated else ""
            words = f"{status}{counted(entry.runs, 'run')}{failures}"
            made.append(f"{names[name]:<{first}}  {drawn:<{ROUND_COLUMNS}}  {now:<4}  {words}")
        return made


def _finished(done: int, total: int, failed: int) -> str:
    return f"{done} of {counted(total, 'run')}{f', {failed} failed' if failed else ''}"


def bar(done: int, of: int) -> str:
    """The share of runs that is done."""
    filled = BAR_COLUMNS * done // of if of else 0
    return "█" * filled + "░" * (BAR_COLUMNS - filled)
