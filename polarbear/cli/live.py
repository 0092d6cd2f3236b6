"""A race as it goes on: a line an algorithm on a terminal, a line a round in a log."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from types import TracebackType
from typing import TYPE_CHECKING

import typer

from polarbear.cli import standings as shown
from polarbear.cli.lines import History, bar, lines
from polarbear.driver.progress import Pace, RoundClock
from polarbear.driver.standings import Standings, standings
from polarbear.driver.watching import Watcher
from polarbear.racing.verdicts import withheld_words
from polarbear.wording import counted, duration, noun, percent

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.live import Live

    from polarbear.execution.outcome import Outcome, Task
    from polarbear.racing import RoundRecord, State
    from polarbear.store import Store

EVERY = 15.0  # seconds between lines in a log within a long round


class RaceProgress(Watcher):
    """Shows a race on standard error."""

    def __init__(self, store: Store, quiet: bool) -> None:
        self._store = store
        self._quiet = quiet
        self._live: Live | None = None
        self._facts: Standings | None = None
        self._history = History()
        self._doing = ""
        self._clock = RoundClock()
        self._round = 0
        self._said = time.monotonic()
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

    def checked(self, findings: Sequence[str]) -> None:
        for line in [] if self._quiet else findings:
            typer.echo(f"warning: {line}", err=True)

    def begins(
        self, state: State, horizons: dict[str, float], drawn: int, tasks: Sequence[Task]
    ) -> None:
        if self._facts is None:
            self._facts = standings(self._store)
            for number in self._store.rounds.numbers():
                self._history.ends(self._store.rounds.read(number))
        self._history.enter(state.algorithms)
        self._round, self._clock = state.round + 1, RoundClock(len(tasks))
        whom = f"{state.joining} on cached instances: " if state.joining else ""
        names, instances = noun(len(horizons), "algorithm"), noun(drawn, "instance")
        self._doing = f"{whom}{len(horizons)} {names} on {drawn} {instances}"

    def finished(self, outcome: Outcome) -> None:
        self._history.finished(outcome)
        self._clock.finished(outcome)
        now, left = time.monotonic(), self._clock.left
        if self._live is None and not self._quiet and left is not None and now - self._said > EVERY:
            self._said = now
            typer.echo(f"{self._progress()}, {duration(left)} left in this round", err=True)

    def infers(self) -> None:
        self._doing = "inferring"

    def ends(self, record: RoundRecord) -> None:
        self._facts = standings(self._store)
        self._history.ends(record)
        self._pace.round_over(record.drawn, self._clock.runs)
        if self._live is None and not self._quiet:
            self._said = time.monotonic()
            typer.echo(self._round_line(record), err=True)

    def _progress(self) -> str:
        clock = self._clock
        failures = f", {clock.failed} failed" if clock.failed else ""
        return f"round {self._round}: {clock.done} of {counted(clock.runs, 'run')}{failures}"

    def _round_line(self, record: RoundRecord) -> str:
        assert self._facts is not None
        news = [
            f"{out.algorithm} is out by {out.by} ({out.probability:.4f})"
            for out in record.decisions.eliminated
        ]
        news += [withheld_words(name, by) for name, by in record.decisions.withheld]
        if record.decisions.caught_up:
            news.append(f"{record.decisions.caught_up} has caught up")
        news += [f"do not trust this posterior: {problem}" for problem in record.problems]
        facts = self._facts
        state = (
            f"round {facts.rounds}: {counted(facts.instances, 'instance')}, "
            f"{percent(facts.share_settled)} of pairs settled"
        )
        return "; ".join([state, *news, *self._outlook()])

    def _outlook(self) -> list[str]:
        if not self._facts or not self._facts.open_pairs:
            return []
        return shown.outlook(self._facts, self._pace.seconds)

    def _picture(self) -> RenderableType:
        from rich.console import Group
        from rich.text import Text

        doing = f"{self._progress()}; {self._doing}" if self._doing else "starting"
        seen = [Text(line) for line in lines(self._history)]
        if self._facts:
            seen.append(Text(shown.summary_line(self._facts)))
        if self._clock.runs:
            seen.append(Text(bar(self._clock.done, self._clock.runs)))
        return Group(*seen, Text("; ".join([doing, *self._outlook()])))
