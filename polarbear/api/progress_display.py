"""Progress of a call: live in a notebook and on a terminal, otherwise notes at intervals."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cached_property
from html import escape
from threading import Event, Thread

from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from polarbear.api.standings_words import (
    finished_words,
    forecast_words,
    standings_table,
    summary_line,
)
from polarbear.api.text_table import table_lines
from polarbear.driver.race_progress import ProgressCounter, RoundStart
from polarbear.execution.outcome import Outcome
from polarbear.facts.standings import Standings, standings
from polarbear.racing import RoundRecord
from polarbear.report.words import decisions, without_marks
from polarbear.store import StoreOnDisk
from polarbear.wording import counted, duration, percent

LOG_INTERVAL_SECONDS = 15.0
REFRESH_SECONDS = 0.25
BAR_COLUMNS = 24
PAGE_COLUMNS = 110  # of a notebook

Note = Callable[[str], None]
Picture = Callable[[], Sequence[str]]


def _in_notebook() -> bool:
    """Whether this process is the kernel of a notebook."""
    python = sys.modules.get("IPython")
    return python is not None and hasattr(python.get_ipython(), "kernel")


def _live(picture: Picture) -> AbstractContextManager[object]:
    """Shows lines that are updated, in a notebook or on a terminal."""
    if _in_notebook():
        return _cell(picture)
    if not sys.stderr.isatty():
        return nullcontext()
    return Live(
        console=Console(stderr=True, emoji=False),
        get_renderable=lambda: Group(*map(Text, picture())),
        refresh_per_second=1 / REFRESH_SECONDS,
        transient=True,
    )


@contextmanager
def _cell(picture: Picture) -> Iterator[None]:
    """Show lines below the cell of a notebook; the last ones stay there."""
    from IPython.display import HTML, display  # only where a notebook has imported it

    def html() -> HTML:
        return HTML(f"<pre>{escape(chr(10).join(picture()))}</pre>")

    def refresh() -> None:
        while not over.wait(REFRESH_SECONDS):
            shown.update(html())

    shown, over = display(html(), display_id=True), Event()
    thread = Thread(target=refresh, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
        shown.update(html())


class _Log:
    """Notes at intervals, where standard error is no terminal."""

    def __init__(self, note: Note) -> None:
        self._note, self._last = note, time.monotonic()

    @property
    def is_due(self) -> bool:
        return time.monotonic() - self._last > LOG_INTERVAL_SECONDS

    def write(self, line: str) -> None:
        self._last = time.monotonic()
        if not sys.stderr.isatty():
            self._note(line)


@contextmanager
def runs_display(total: int, note: Note) -> Iterator[Callable[[bool], None]]:
    """Show the number of finished runs; yields a function that counts one."""
    done = failed = 0
    begun, log = time.monotonic(), _Log(note)

    def line() -> str:
        left = (time.monotonic() - begun) / max(done, 1) * (total - done)
        return f"{finished_words(done, total, failed)}{f', {duration(left)} left' if done else ''}"

    def advance(has_failed: bool) -> None:
        nonlocal done, failed
        done, failed = done + 1, failed + has_failed
        if log.is_due:
            log.write(line())

    with _live(lambda: [bar(done, total), line()] if total else []):
        yield advance


@contextmanager
def race_display(store: StoreOnDisk, note: Note) -> Iterator[RaceProgress]:
    """Show the progress of a race."""
    progress = RaceProgress(store, note)
    with _live(progress.picture):
        yield progress


class RaceProgress(ProgressCounter):
    """The standings of a race after its last round, finished runs, and the forecast."""

    def __init__(self, store: StoreOnDisk, note: Note) -> None:
        super().__init__(store.settings)
        self._store = store
        self._log, self._doing = _Log(note), ""

    @cached_property
    def _facts(self) -> Standings | None:
        """The standings after the last round, computed when they are first shown."""
        return standings(self._store)

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
        self._facts, self._doing = standings(self._store), "decided"
        if self._facts is None:
            return
        instances = counted(self._facts.instances, "instance")
        settled = f"{percent(self._facts.share_settled)} of pairs settled"
        parts = [f"round {self._facts.rounds}: {instances}, {settled}"]
        parts += [without_marks(text) for kind, text in decisions(record) if kind != "settled"]
        self._log.write("; ".join([*parts, *self._forecast_words()]))

    def picture(self) -> list[str]:
        """The lines of a live display."""
        now = self.now()
        columns = shutil.get_terminal_size((PAGE_COLUMNS, 1)).columns
        lines = table_lines(*standings_table(self._facts), columns) if self._facts else []
        lines += [summary_line(self._facts)] if self._facts else []
        lines += [bar(now.done, now.runs)] if now.runs else []
        doing = f"{self._runs()}; {self._doing}" if self._doing else "starting"
        return [*lines, "; ".join([doing, *self._forecast_words()])]

    def _runs(self) -> str:
        now = self.now()
        return f"round {now.round}: {finished_words(now.done, now.runs, now.failed)}"

    def _forecast_words(self) -> list[str]:
        if not self._facts or not self._facts.open_pairs:
            return []
        return forecast_words(self._facts, self.seconds_per_instance)


def bar(done: int, of: int) -> str:
    """The share of runs that is done."""
    filled = BAR_COLUMNS * done // of if of else 0
    return "█" * filled + "░" * (BAR_COLUMNS - filled)
