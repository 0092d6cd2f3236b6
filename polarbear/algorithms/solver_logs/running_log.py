"""The log of a solver that is running: its values with their times on the clock of the run."""

from collections.abc import Iterable, Iterator
from enum import StrEnum
from math import inf

from polarbear.algorithms.solver_logs.log_format import Ending, LogFormat
from polarbear.algorithms.solver_logs.log_reader import LogEntry, LogReader


class LogClock(StrEnum):
    """The clock that tells the time of an entry."""

    LOG = "log"  # the number in the line, in whatever unit
    ARRIVAL = "arrival"  # when the line arrives
    BOTH = "both"  # when the line arrives, unless the program kept it back


class RunningLog:
    """The entries of a log as its lines arrive.

    The clock of a run starts when the program is started. The clock of a log starts later, for
    example once the instance was read, and its digits are few. An entry therefore counts from when
    its line arrives. A line that the program kept back in a buffer arrives late: its entry counts
    one unit of the log's last digit after the log's time. The start of the log's clock is known up
    to the smallest delay between that clock and an arrival.
    """

    def __init__(self, log_format: LogFormat, clock: LogClock) -> None:
        self.ending: Ending | None = None
        self.end = 0.0  # the time of the ending
        self._reader = LogReader(log_format)
        self._clock = clock
        self._delay = inf  # the smallest so far
        self._latest = 0.0

    def values(self, lines: Iterable[str], arrival: float) -> Iterator[tuple[float, float]]:
        """The times and values in lines that arrive together."""
        entries = [entry for line in lines if (entry := self._reader.entry(line)) is not None]
        delays = [arrival - entry.clock for entry in entries if entry.clock is not None]
        self._delay = min([self._delay, *delays])
        for entry in entries:
            # Times never go back, whatever rounding and delays say.
            self._latest = max(self._latest, self._time(entry, arrival))
            if entry.ending is not None and self.ending is None:
                self.ending = entry.ending
                self.end = self._latest
            if entry.y is not None and not entry.is_same:
                yield self._latest, entry.y

    def _time(self, entry: LogEntry, arrival: float) -> float:
        if self._clock is LogClock.LOG:
            return entry.clock or 0.0
        if entry.clock is None or self._clock is LogClock.ARRIVAL:
            return arrival
        return min(arrival, entry.clock + entry.resolution + self._delay)

    @property
    def has_proof(self) -> bool:
        """Whether the solver has said that nothing is better, or that there is no solution."""
        return self.ending in (Ending.PROVEN, Ending.INFEASIBLE)

    @property
    def flaw(self) -> str:
        """The reason why the log cannot be used; otherwise empty."""
        if self._reader.remedy:
            return self._reader.remedy
        if self.ending is Ending.INFEASIBLE and self._reader.n_values:
            return "it says that the instance is infeasible, after a value"
        return ""
