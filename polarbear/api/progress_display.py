"""Progress of a call: live in a notebook and on a terminal, otherwise notes at intervals."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cached_property
from threading import Event, Thread

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
PAGE_COLUMNS = 110  # the width of a page in a notebook

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
    from rich.console import Console, Group
    from rich.live import Live
    from rich.text import Text

    return Live(
        console=Console(stderr=True, emoji=False),
        get_renderable=lambda: Group(*map(Text, picture())),
        refresh_per_second=1 / REFRESH_SECONDS,
        transient=True,
    )


@contextmanager
def _cell(picture: Picture) -> Iterator[None]:
    """Show lines below the cell of a notebook; the last ones stay there."""
    from html import escape

    from IPython.display import HTML, display  # only where a notebook has imported it

    def html() -> HTML:
        return HTML(f"<pre>{escape(chr(10).join(picture()))}</pre>")

    def refresh() -> None:
        while not has_ended.wait(REFRESH_SECONDS):
            cell.update(html())

    cell = display(html(), display_id=True)
    has_ended = Event()
    thread = Thread(target=refresh, daemon=True)
    thread.start()
    try:
        yield
    finally:
        has_ended.set()
        thread.join()
        cell.update(html())


class _Log:
    """Notes at intervals, where standard error is no terminal."""

    def __init__(self, note: Note) -> None:
        self._note = note
        self._last = time.monotonic()

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
    done = 0
    failed = 0
    begun = time.monotonic()
    log = _Log(note)

    def line() -> str:
        words = finished_words(done, total, failed)
        if done == 0:
            return words
        seconds_left = (time.monotonic() - begun) / done * (total - done)
        return f"{words}, {duration(seconds_left)} left"

    def advance(has_failed: bool) -> None:
        nonlocal done, failed
        done += 1
        failed += has_failed
        if log.is_due:
            log.write(line())

    with _live(lambda: [bar(done, total), line()] if total else []):
        yield advance


@contextmanager
def race_display(
    store: StoreOnDisk, note: Note, is_verbose: bool = False
) -> Iterator[RaceProgress]:
    """Show the progress of a race."""
    progress = RaceProgress(store, note, is_verbose)
    with _live(progress.picture):
        yield progress


class RaceProgress(ProgressCounter):
    """The standings of a race after its last round, finished runs, and the forecast."""

    def __init__(self, store: StoreOnDisk, note: Note, is_verbose: bool = False) -> None:
        super().__init__(store.settings)
        self._store = store
        self._log = _Log(note)
        self._is_verbose = is_verbose
        self._activity = ""
        self._reopened: set[tuple[str, str]] = set()

    @cached_property
    def _facts(self) -> Standings | None:
        """The standings after the last round, computed when they are first shown."""
        return standings(self._store, with_times_as_long=False)

    def begins(self, start: RoundStart) -> None:
        super().begins(start)
        algorithms = counted(len(start.horizons), "algorithm")
        self._activity = f"{algorithms} on {counted(start.drawn, 'instance')}"

    def finished(self, outcome: Outcome) -> None:
        super().finished(outcome)
        seconds_left = self.now().left_in_round
        if self._log.is_due and seconds_left is not None:
            self._log.write(f"{self._runs()}, {duration(seconds_left)} left in this round")

    def infers(self) -> None:
        super().infers()
        self._activity = "inferring"

    def ends(self, record: RoundRecord) -> None:
        super().ends(record)
        self._facts = standings(self._store, with_times_as_long=False)
        self._activity = "decided"
        if self._facts is None:
            return
        instances = counted(self._facts.instances, "instance")
        settled = f"{percent(self._facts.share_settled)} of pairs settled"
        parts = [f"round {self._facts.rounds}: {instances}, {settled}"]
        sentences = decisions(record, self._reopened, names_pairs=self._is_verbose)
        parts += [without_marks(text) for kind, text in sentences if kind != "settled"]
        self._reopened.update(record.decisions.reopened)
        parts += self._forecast_words()
        self._log.write("; ".join(parts))

    def picture(self) -> list[str]:
        """The lines of a live display."""
        now = self.now()
        columns = shutil.get_terminal_size((PAGE_COLUMNS, 1)).columns
        lines = []
        if self._facts is not None:
            titles, rows = standings_table(self._facts)
            lines += table_lines(titles, rows, columns)
            lines.append(summary_line(self._facts))
        if now.runs:
            lines.append(bar(now.done, now.runs))
        activity = f"{self._runs()}; {self._activity}" if self._activity else "starting"
        lines.append("; ".join([activity, *self._forecast_words()]))
        return lines

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
