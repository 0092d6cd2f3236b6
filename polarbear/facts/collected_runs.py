"""The result of `polarbear run`: the runs of a store, and how often each algorithm was best."""

from dataclasses import dataclass

from polarbear.facts import summary
from polarbear.facts.summary import AlgorithmRuns, Failure
from polarbear.records import Record
from polarbear.settings.grid import Budget
from polarbear.store import StoreOnDisk
from polarbear.wording import counted


@dataclass(frozen=True)
class AlgorithmResult(AlgorithmRuns):
    """The runs of one algorithm, and how often it was best at the end of the grid.

    ``first_at_end`` is a share of the instances that all ran on; None without such instances.
    """

    first_at_end: float | None = None


@dataclass(frozen=True, repr=False)
class Collected(Record):
    """A store after runs were added; fields are the keys of `polarbear run --json`."""

    store: str
    axis: str
    budget: float
    instances: int
    executed: int
    present: int
    failed_runs: int
    evaluations: dict[str, int | None]
    algorithms: tuple[AlgorithmResult, ...]
    failures: tuple[Failure, ...]
    seconds: float
    ROWS = "algorithms"

    def one_line(self) -> str:
        return f"{counted(self.executed, 'run')} executed, {self.present} present before"


def collected(
    store: StoreOnDisk, budget: Budget, executed: int, present: int, seconds: float
) -> Collected:
    """The store after ``executed`` runs; ``present`` ones were stored before."""
    shares = summary.first_at(store, budget.limit)
    algorithms = tuple(
        AlgorithmResult(**counts, first_at_end=shares.get(counts["algorithm"]))
        for counts in summary.counts_by_algorithm(store)
    )
    return Collected(
        store=str(store.path),
        axis=budget.axis,
        budget=budget.limit,
        instances=len(store.instances()),
        executed=executed,
        present=present,
        failed_runs=sum(entry.failed for entry in algorithms),
        evaluations={entry.algorithm: entry.evaluations for entry in algorithms},
        algorithms=algorithms,
        failures=tuple(summary.failures(store)),
        seconds=round(seconds, 3),
    )
