"""Progress on standard error: a live display on a terminal, lines in a log."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from polarbear.api.experiments import (
    Account,
    Outcome,
    RoundRecord,
    RoundStart,
    StoreOnDisk,
    standings,
    withheld,
)
from polarbear.cli import output
from polarbear.cli.race_summary import forecast_words, standings_table, summary_line
from polarbear.wording import counted, decisive, duration, percent

LOG_INTERVAL_SECONDS = 15.0
BAR_COLUMNS = 24


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
    """The standings of a race after its last round, finished runs, and the forecast."""

    def __init__(self, store: StoreOnDisk) -> None:
        super().__init__(store.config)
        self._store, self._facts = store, standings(store)
        self._log, self._doing = _Log(), ""

    def begins(self, start: RoundStart) -> None:
        super().begins(start)
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
        if self._facts is None:
            return
        settled = f"{percent(self._facts.share_settled)} of pairs settled"
        parts = [
            f"round {self._facts.rounds}: {counted(self._facts.instances, 'instance')}, {settled}"
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
        lines = []
        if self._facts:
            columns = shutil.get_terminal_size().columns
            lines = output.table_lines(*standings_table(self._facts), columns)
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


def _finished(done: int, total: int, failed: int) -> str:
    return f"{done} of {counted(total, 'run')}{f', {failed} failed' if failed else ''}"


def bar(done: int, of: int) -> str:
    """The share of runs that is done."""
    filled = BAR_COLUMNS * done // of if of else 0
    return "█" * filled + "░" * (BAR_COLUMNS - filled)
