"""How a race that is under way goes: by algorithm, by worker, and how long it will take."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from types import TracebackType

from polarbear.driver.standings import ahead
from polarbear.driver.watching import Watcher
from polarbear.execution.outcome import Outcome, Task
from polarbear.racing import Forecast, RoundRecord, State
from polarbear.store import Store
from polarbear.store import progress as kept

EVERY = 1.0  # seconds between two states of the file


@dataclass
class AlgorithmProgress:
    """One algorithm: of this round's runs so many are done; and all of its runs since the call."""

    algorithm: str
    round_runs: int = 0
    round_done: int = 0
    runs: int = 0
    failed: int = 0
    seconds: float = 0.0


@dataclass
class WorkerProgress:
    """One worker: its runs since the call, how long they took, and which one it ended last."""

    worker: str
    host: str
    runs: int = 0
    failed: int = 0
    seconds: float = 0.0
    last: str = ""
    last_ended: float = 0.0


@dataclass
class UnderWay:
    """How a race goes; fields are keys of `under_way` in `polarbear status --json`.

    ``began`` and ``written`` are seconds since the epoch, ``early`` counts runs that no round has
    asked for yet, and ``busy`` is the share of their time for which workers were running something.
    What is left, of the round and until the race ends, is in seconds at the speed so far, and None
    where nobody can tell.
    """

    began: float
    written: float = 0.0
    round: int = 0
    doing: str = "starting"
    runs: int = 0
    done: int = 0
    failed: int = 0
    early: int = 0
    busy: float | None = None
    left_in_round: float | None = None
    to_go_at_least: float | None = None
    to_go_at_most: float | None = None
    algorithms: list[AlgorithmProgress] = field(default_factory=list)
    workers: list[WorkerProgress] = field(default_factory=list)


class Pace:
    """Seconds an instance takes: those of the last round, from the end of the one before it."""

    def __init__(self) -> None:
        self._since = time.monotonic()
        self.seconds: float | None = None

    def round_over(self, drawn: int, runs: int) -> None:
        """A round on so many instances is over; one without runs says nothing."""
        now = time.monotonic()
        if drawn and runs:
            self.seconds = (now - self._since) / drawn
        self._since = now


class RoundClock:
    """How long a round still takes, by those of its runs that were made since it began."""

    def __init__(self, runs: int = 0) -> None:
        self.runs, self.done, self.failed = runs, 0, 0
        self._made = 0
        self._began = time.time()

    def finished(self, outcome: Outcome) -> None:
        """One of its runs is there."""
        self.done += 1
        self.failed += outcome.status.failed
        self._made += outcome.started + outcome.seconds >= self._began  # others were there before

    @property
    def left(self) -> float | None:
        """Seconds until all are there at the speed so far; None where nobody can tell."""
        if not self._made:
            return None
        return (time.time() - self._began) / self._made * (self.runs - self.done)


class Account:
    """Adds up what a race does."""

    def __init__(self) -> None:
        self.workers = 1  # runs that go on at once
        self._now = UnderWay(began=time.time())
        self._clock = RoundClock()
        self._algorithms: dict[str, AlgorithmProgress] = {}
        self._workers: dict[tuple[str, str], WorkerProgress] = {}
        self._early: set[tuple[str, str, float]] = set()
        self._forecast: Forecast | None = None
        self._pace = Pace()

    def begins(self, number: int, tasks: Sequence[Task]) -> None:
        self._now.round, self._now.doing = number, "running"
        self._clock = RoundClock(len(tasks))
        for entry in self._algorithms.values():
            entry.round_runs = entry.round_done = 0
        for task in tasks:
            self._of(task).round_runs += 1

    def finished(self, outcome: Outcome) -> None:
        self._clock.finished(outcome)
        self._of(outcome.task).round_done += 1
        if _name(outcome) in self._early:
            self._early.remove(_name(outcome))
        elif outcome.started >= self._now.began:  # and not by a call before this one
            self._ran(outcome)

    def ran_early(self, outcome: Outcome) -> None:
        self._early.add(_name(outcome))
        self._ran(outcome)

    def infers(self) -> None:
        self._now.doing = "inferring"

    def ends(self, drawn: int, forecast: Forecast | None) -> None:
        self._pace.round_over(drawn, self._clock.runs)
        self._now.doing, self._forecast = "beginning the next round", forecast

    def now(self) -> UnderWay:
        """How things stand at this moment."""
        written = time.time()
        workers = list(self._workers.values())
        busy = sum(worker.seconds for worker in workers)
        lasted = self.workers * (written - self._now.began)
        return replace(
            self._now,
            written=written,
            early=len(self._early),
            busy=min(1.0, busy / lasted) if workers and lasted > 0 else None,
            runs=self._clock.runs,
            done=self._clock.done,
            failed=self._clock.failed,
            left_in_round=self._clock.left if self._now.doing == "running" else None,
            to_go_at_least=self._seconds(self._forecast.low) if self._forecast else None,
            to_go_at_most=self._seconds(self._forecast.high) if self._forecast else None,
            algorithms=[replace(entry) for entry in self._algorithms.values()],
            workers=[replace(worker) for worker in workers],
        )

    def _seconds(self, instances: int | None) -> float | None:
        pace = self._pace.seconds
        return None if instances is None or pace is None else instances * pace

    def _ran(self, outcome: Outcome) -> None:
        """A worker has executed a run."""
        where, task = outcome.where, outcome.task
        place = (where.host, where.worker)
        worker = self._workers.setdefault(place, WorkerProgress(where.worker, where.host))
        for entry in (worker, self._of(task)):
            entry.runs += 1
            entry.failed += outcome.status.failed
            entry.seconds += outcome.seconds
        worker.last = f"{task.algorithm.name} on {task.instance.id}"
        worker.last_ended = outcome.started + outcome.seconds

    def _of(self, task: Task) -> AlgorithmProgress:
        name = task.algorithm.name
        return self._algorithms.setdefault(name, AlgorithmProgress(name))


class Progress(Watcher):
    """Says in a store, about once a second, how its race goes; another watcher hears it all."""

    def __init__(self, store: Store, other: Watcher) -> None:
        self._store = store
        self._other = other
        self.wants_draws = other.wants_draws
        self._account = Account()
        self._at_it = threading.Lock()
        self._news = True
        self._over = threading.Event()
        self._teller = threading.Thread(target=self._tell_on, daemon=True)

    def __enter__(self) -> Progress:
        self._tell()
        self._teller.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._over.set()
        self._teller.join()
        kept.clear(self._store.path)

    def checked(self, findings: Sequence[str]) -> None:
        self._other.checked(findings)

    def staffed(self, workers: int) -> None:
        with self._counting():
            self._account.workers = workers
        self._other.staffed(workers)

    def begins(
        self, state: State, horizons: dict[str, float], drawn: int, tasks: Sequence[Task]
    ) -> None:
        with self._counting():
            self._account.begins(state.round + 1, tasks)
        self._other.begins(state, horizons, drawn, tasks)

    def finished(self, outcome: Outcome) -> None:
        with self._counting():
            self._account.finished(outcome)
        self._other.finished(outcome)

    def ran_early(self, outcome: Outcome) -> None:
        with self._counting():
            self._account.ran_early(outcome)
        self._other.ran_early(outcome)

    def infers(self) -> None:
        with self._counting():
            self._account.infers()
        self._other.infers()

    def ends(self, record: RoundRecord) -> None:
        with self._counting():
            self._account.ends(record.drawn, ahead(record, self._store.config))
        self._other.ends(record)

    @contextmanager
    def _counting(self) -> Iterator[None]:
        with self._at_it:
            yield
            self._news = True

    def _tell_on(self) -> None:
        while not self._over.wait(EVERY):
            if self._news:
                self._tell()

    def _tell(self) -> None:
        with self._at_it:
            now, self._news = self._account.now(), False
        kept.tell(self._store.path, asdict(now))


def _name(outcome: Outcome) -> tuple[str, str, float]:
    return outcome.task.algorithm.name, outcome.task.instance.id, outcome.started
