"""Progress of a race: its observers, counts by algorithm and worker, and the remaining time."""

import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Self

from polarbear.config.stored_settings import StoredSettings
from polarbear.execution.outcome import Outcome, Task
from polarbear.facts.standings import forecast_within_limits
from polarbear.racing import RaceForecast, RoundRecord, State
from polarbear.store import StoreOnDisk
from polarbear.store.writer import clear_progress, write_progress

WRITE_INTERVAL_SECONDS = 1.0
RUNNING = "running"


@dataclass(frozen=True)
class RoundStart:
    """A round that begins: horizons of algorithms, number of instances, and missing runs.

    ``workers`` is the number of runs that go on at once.
    """

    state: State
    horizons: Mapping[str, float]
    drawn: int
    tasks: Sequence[Task]
    workers: int


class Watcher:
    """Observes a race; this one ignores everything."""

    # Whether the posterior is needed in the store after each round, not only after the last.
    wants_draws = False

    def begins(self, start: RoundStart) -> None:
        """A round begins."""

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
class LiveProgress:
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


class ProgressCounter(Watcher):
    """Counts the runs of a race; another thread may read ``now``."""

    def __init__(self, settings: StoredSettings) -> None:
        self._settings = settings
        self._lock = threading.Lock()
        self._now = LiveProgress(began=time.time())
        self._round_began = self._now.began
        # Runs that ended since the round began; speculative ones may have ended before it.
        self._n_ended_in_round = 0
        self._workers_at_once = 1
        self._algorithms: dict[str, AlgorithmProgress] = {}
        self._workers: dict[tuple[str, str], WorkerProgress] = {}
        self._early: set[tuple[str, str, float]] = set()
        self._forecast: RaceForecast | None = None
        self._last_end = time.monotonic()
        self.seconds_per_instance: float | None = None  # in the last round that had runs

    def begins(self, start: RoundStart) -> None:
        with self._lock:
            self._now.round = start.state.round + 1
            self._now.doing = RUNNING
            self._now.runs = len(start.tasks)
            self._now.done = 0
            self._now.failed = 0
            self._round_began = time.time()
            self._n_ended_in_round = 0
            self._workers_at_once = start.workers
            for entry in self._algorithms.values():
                entry.round_runs = 0
                entry.round_done = 0
            for task in start.tasks:
                self._of(task).round_runs += 1

    def finished(self, outcome: Outcome) -> None:
        with self._lock:
            self._now.done += 1
            self._now.failed += outcome.status.failed
            self._n_ended_in_round += outcome.started + outcome.seconds >= self._round_began
            self._of(outcome.task).round_done += 1
            if _name(outcome) in self._early:
                self._early.remove(_name(outcome))
            elif outcome.started >= self._now.began:
                self._count(outcome)  # Runs of an earlier command count for no worker.

    def ran_early(self, outcome: Outcome) -> None:
        with self._lock:
            self._early.add(_name(outcome))
            self._count(outcome)

    def infers(self) -> None:
        with self._lock:
            self._now.doing = "inferring"

    def ends(self, record: RoundRecord) -> None:
        with self._lock:
            end = time.monotonic()
            if record.drawn and self._now.runs:
                self.seconds_per_instance = (end - self._last_end) / record.drawn
            self._last_end = end
            self._forecast = forecast_within_limits(record, self._settings)
            self._now.doing = "beginning the next round"

    def now(self) -> LiveProgress:
        """The present progress."""
        with self._lock:
            now = replace(
                self._now,
                written=time.time(),
                early=len(self._early),
                algorithms=[replace(entry) for entry in self._algorithms.values()],
                workers=[replace(worker) for worker in self._workers.values()],
            )
            self._add_remaining_time(now)
            capacity = self._workers_at_once * (now.written - now.began)
            if now.workers and capacity > 0:
                now.busy = min(1.0, sum(worker.seconds for worker in now.workers) / capacity)
            return now

    def _add_remaining_time(self, now: LiveProgress) -> None:
        if now.doing == RUNNING and self._n_ended_in_round:
            seconds_per_run = (now.written - self._round_began) / self._n_ended_in_round
            now.left_in_round = seconds_per_run * (now.runs - now.done)
        if self.seconds_per_instance is not None and self._forecast is not None:
            low = self._forecast.low
            high = self._forecast.high
            now.to_go_at_least = low * self.seconds_per_instance
            now.to_go_at_most = None if high is None else high * self.seconds_per_instance

    def _count(self, outcome: Outcome) -> None:
        """Count a run for its worker and its algorithm."""
        host = outcome.where.host
        name = outcome.where.worker
        worker = self._workers.setdefault((host, name), WorkerProgress(name, host))
        task = outcome.task
        for entry in (worker, self._of(task)):
            entry.runs += 1
            entry.failed += outcome.status.failed
            entry.seconds += outcome.seconds
        worker.last = f"{task.algorithm.name} on {task.instance.id}"
        worker.last_ended = outcome.started + outcome.seconds

    def _of(self, task: Task) -> AlgorithmProgress:
        name = task.algorithm.name
        return self._algorithms.setdefault(name, AlgorithmProgress(name))


def _name(outcome: Outcome) -> tuple[str, str, float]:
    return outcome.task.algorithm.name, outcome.task.instance.id, outcome.started


class ProgressFile(ProgressCounter):
    """Writes the progress of a race to its store every second, while it is used as a context."""

    def __init__(self, store: StoreOnDisk) -> None:
        super().__init__(store.settings)
        self._store = store.path
        self._over = threading.Event()
        self._writer = threading.Thread(target=self._write_regularly, daemon=True)

    def __enter__(self) -> Self:
        self._write()
        self._writer.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._over.set()
        self._writer.join()
        clear_progress(self._store)

    def _write(self) -> None:
        write_progress(self._store, asdict(self.now()))

    def _write_regularly(self) -> None:
        while not self._over.wait(WRITE_INTERVAL_SECONDS):
            self._write()
