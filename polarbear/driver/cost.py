"""What it would cost to take the decisions of a race anew from the runs that are there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from polarbear.config import Config
from polarbear.driver.outdated import Outdated
from polarbear.execution.status import Status
from polarbear.store import Store
from polarbear.wording import counted, duration


@dataclass(frozen=True)
class Cost:
    """What taking decisions anew asks for: at most so many runs, and about so many seconds.

    ``seconds`` is what the whole posterior of the last round took, for each of the rounds, whose
    decisions mostly take fewer draws; None where the store does not tell.
    """

    repeat: int
    extend: int
    rounds: int
    seconds: float | None

    @property
    def words(self) -> str:
        about = "" if self.seconds is None else f" in about {duration(self.seconds)}"
        extend = ""
        if self.extend:
            extend = (
                f"; up to {counted(self.extend, 'run')} to extend, which start from the beginning"
            )
        return (
            f"{counted(self.repeat, 'run')} to repeat, {counted(self.rounds, 'round')} decided "
            f"anew{about}{extend}"
        )


def cost_of(config: Config, store: Store, outdated: Sequence[Outdated]) -> Cost:
    """Count what does not fit any more, and what ends before the grid does."""
    rounds = store.rounds.numbers()
    stale = {run for one in outdated for run in one.runs["run"]}
    names, limit = {algorithm.name for algorithm in config.algorithms}, config.budget.limit
    runs = store.runs().select("run", "algorithm", "status", "reached").iter_rows()
    short = [
        run
        for run, name, status, reached in runs
        if name in names and status == Status.BUDGET and reached < limit and run not in stale
    ]
    last = store.rounds.last()
    seconds = None
    if last is not None and last.posterior in store.posteriors.stored():
        seconds = len(rounds) * float(store.posteriors.facts(last.posterior)["seconds"])
    return Cost(len(stale), len(short), len(rounds), seconds)
