"""Progress of a race: observers, counts by algorithm and worker, and the remaining time."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from types import TracebackType

from polarbear.driver.standings import ahead
from polarbear.execution.outcome import Outcome, Task
from polarbear.racing import Forecast, RoundRecord, State
from polarbear.store import Store, progress_file

WRITE_INTERVAL_SECONDS = 1.0


class Watcher:
    """Observes a race; this one ignores everything."""

    wants_draws = False  # in the store after each round, not only after the last

    def checked(self, findings: Sequence[str]) -> None:
        """A short trial of all algorithms found this."""

    def staffed(self, workers: int) -> None:
        """This number of runs goes on at once from now on."""

    def begins(
        self, state: State, horizons: dict[str, float], drawn: int, tasks: Sequence[Task]
    ) -> None:
        """A round begins: horizons of algorithms, number of instances, and missing runs."""

    def finished(self, outcome: Outcome) -> None:
        """A run of the round is finished; a speculative run is used."""

    def ran_early(self, outcome: Outcome) -> None:
        """A speculative run is finished."""

    def infers(self) -> None:
        """The runs of a round are finished; inference begins."""

    def ends(self, record: RoundRecord) -> None:
        """A round is decided and stored."""


@dataclass
class AlgorithmProgress:
    """Runs of one algorithm: in this round, and since the start of the command."""

    algorithm: str
    round_runs: int = 0
    round_done: int = 0
    runs: int = 0
    failed: int = 0
    seconds: float = 0.0


@dataclass
class WorkerProgress:
    """Runs of one worker since the start of the command, their time, and the last one."""

    worker: str
    host: str
    runs: int = 0
    failed: int = 0
    seconds: float = 0.0
    last: str = ""
    last_ended: float = 0.0


@dataclass
class UnderWay:
    """Progress of a race; fields are keys of `under_way` in `polarbear status --json`.

    ``began`` and ``written`` are seconds since the epoch, ``early`` counts unused speculative runs,
    and ``busy`` is the share of time for which workers ran something. The remaining time, of the
    round and of the race, is in seconds at the speed so far, None where it is unknown.
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
    """Seconds per instance in the last round, from the end of the round before."""

    def __init__(self) -> None:
        self._since = time.monotonic()
        self.seconds: float | None = None

    def round_over(self, drawn: int, runs: int) -> None:
        """Take in a round; one without runs is ignored."""
        now = time.monotonic()
        if drawn and runs:
            self.seconds = (now - self._since) / drawn
        self._since = now


class RoundClock:
    """The remaining time of a round, by its runs since it began."""

    def __init__(self, runs: int = 0) -> None:
        self.runs, self.done, self.failed = runs, 0, 0
        self._made = 0
        self._began = time.time()

    def finished(self, outcome: Outcome) -> None:
        """Take in a finished run."""
        self.done += 1
        self.failed += outcome.status.failed
        self._made += outcome.started + outcome.seconds >= self._began  # not before

    @property
    def left(self) -> float | None:
        """Seconds until all runs are finished at the speed so far; None where it is unknown."""
        if not self._made:
            return None
        return (time.time() - self._began) / self._made * (self.runs - self.done)


class Account:
    """Counts the runs of a race."""

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
        elif outcome.started >= self._now.began:  # not by an earlier command
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
        """The present progress."""
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
        """Count a run for its worker and its algorithm."""
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
    """Writes the progress of a race to its store every second, and passes events on."""

    def __init__(self, store: Store, other: Watcher) -> None:
        self._store = store
        self._other = other
        self.wants_draws = other.wants_draws
        self._account = Account()
        self._lock = threading.Lock()
        self._changed = True
        self._over = threading.Event()
        self._writer = threading.Thread(target=self._write_regularly, daemon=True)

    def __enter__(self) -> Progress:
        self._write()
        self._writer.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._over.set()
        self._writer.join()
        progress_file.clear(self._store.path)

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
        with self._lock:
            yield
            self._changed = True

    def _write_regularly(self) -> None:
        while not self._over.wait(WRITE_INTERVAL_SECONDS):
            if self._changed:
                self._write()

    def _write(self) -> None:
        with self._lock:
            now, self._changed = self._account.now(), False
        progress_file.write(self._store.path, asdict(now))


def _name(outcome: Outcome) -> tuple[str, str, float]:
    return outcome.task.algorithm.name, outcome.task.instance.id, outcome.started
