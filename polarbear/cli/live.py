"""Progress of a race: a table on a terminal, a line per round in a log."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from types import TracebackType
from typing import TYPE_CHECKING

import typer

from polarbear.api.race_events import (
    Outcome,
    Pace,
    RoundClock,
    RoundRecord,
    State,
    StoreOnDisk,
    Task,
    Watcher,
    withheld_words,
)
from polarbear.api.status import Standings, standings_of
from polarbear.cli.live_table import History, bar, lines
from polarbear.cli.race_summary import outlook, summary_line
from polarbear.wording import counted, decisive, duration, percent

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.live import Live

LOG_INTERVAL_SECONDS = 15.0  # within a long round


class RaceProgress(Watcher):
    """Shows a race on standard error."""

    def __init__(self, store: StoreOnDisk, quiet: bool) -> None:
        self._store = store
        self._quiet = quiet
        self._live: Live | None = None
        self._facts: Standings | None = None
        self._history = History()
        self._doing = ""
        self._clock = RoundClock()
        self._round = 0
        self._last_line = time.monotonic()
        self._pace = Pace()

    def __enter__(self) -> RaceProgress:
        if not self._quiet and sys.stderr.isatty():
            from rich.console import Console
            from rich.live import Live

            self._live = Live(
                console=Console(stderr=True, emoji=False),
                get_renderable=self._picture,
                refresh_per_second=4,
                transient=True,
            )
            self._live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._live is not None:
            self._live.stop()

    @property
    def _is_logging(self) -> bool:
        return self._live is None and not self._quiet

    def checked(self, findings: Sequence[str]) -> None:
        for line in [] if self._quiet else findings:
            typer.echo(f"warning: {line}", err=True)

    def begins(
        self, state: State, horizons: dict[str, float], drawn: int, tasks: Sequence[Task]
    ) -> None:
        if self._facts is None:
            self._facts = standings_of(self._store)
            for number in self._store.rounds.numbers():
                self._history.ends(self._store.rounds.read(number))
        self._history.enter(state.algorithms)
        self._round, self._clock = state.round + 1, RoundClock(len(tasks))
        newcomer = f"{state.joining} on stored instances: " if state.joining else ""
        algorithms, instances = counted(len(horizons), "algorithm"), counted(drawn, "instance")
        self._doing = f"{newcomer}{algorithms} on {instances}"

    def finished(self, outcome: Outcome) -> None:
        self._history.finished(outcome)
        self._clock.finished(outcome)
        now, left = time.monotonic(), self._clock.left
        due = now - self._last_line > LOG_INTERVAL_SECONDS
        if self._is_logging and left is not None and due:
            self._last_line = now
            typer.echo(f"{self._progress()}, {duration(left)} left in this round", err=True)

    def infers(self) -> None:
        self._doing = "inferring"

    def ends(self, record: RoundRecord) -> None:
        self._facts = standings_of(self._store)
        self._history.ends(record)
        self._pace.round_over(record.drawn, self._clock.runs)
        if self._is_logging and self._facts is not None:
            self._last_line = time.monotonic()
            typer.echo(self._round_line(self._facts, record), err=True)

    def _progress(self) -> str:
        clock = self._clock
        failures = f", {clock.failed} failed" if clock.failed else ""
        return f"round {self._round}: {clock.done} of {counted(clock.runs, 'run')}{failures}"

    def _round_line(self, facts: Standings, record: RoundRecord) -> str:
        parts = [
            f"round {facts.rounds}: {counted(facts.instances, 'instance')}, "
            f"{percent(facts.share_settled)} of pairs settled"
        ]
        parts += [
            f"{one.algorithm} eliminated by {one.by} (P = {decisive(one.probability)})"
            for one in record.decisions.eliminated
        ]
        parts += [withheld_words(name, by) for name, by in record.decisions.withheld]
        if record.decisions.caught_up:
            parts.append(f"{record.decisions.caught_up} has caught up")
        parts += [f"do not trust this posterior: {problem}" for problem in record.problems]
        return "; ".join([*parts, *self._outlook()])

    def _outlook(self) -> list[str]:
        if not self._facts or not self._facts.open_pairs:
            return []
        return outlook(self._facts, self._pace.seconds)

    def _picture(self) -> RenderableType:
        from rich.console import Group
        from rich.text import Text

        doing = f"{self._progress()}; {self._doing}" if self._doing else "starting"
        shown = [Text(line) for line in lines(self._history)]
        if self._facts:
            shown.append(Text(summary_line(self._facts)))
        if self._clock.runs:
            shown.append(Text(bar(self._clock.done, self._clock.runs)))
        return Group(*shown, Text("; ".join([doing, *self._outlook()])))
