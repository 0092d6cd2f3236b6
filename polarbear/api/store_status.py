"""The contents of a store, the state of its race, its progress, and the soundness of its files."""

from dataclasses import dataclass
from pathlib import Path

from polarbear.driver.race_progress import LiveProgress
from polarbear.facts import summary
from polarbear.facts.standings import Standings, standings
from polarbear.facts.summary import AlgorithmRuns, AsideRuns, Failure, HostRuns, InstanceWeights
from polarbear.records import Facts, Record
from polarbear.store import StoreOnDisk
from polarbear.store.repair import Repaired, repair
from polarbear.store.rounds import PastRace
from polarbear.store.verify import Verified, verify
from polarbear.store.writer import holder, read_progress
from polarbear.wording import counted

__all__ = ["Repaired", "StoreStatus", "Verified", "repair", "status", "verify"]
_KILLED_KEYS = ("pid", "host", "round", "written")


@dataclass(frozen=True, repr=False)
class StoreStatus(Record):
    """The contents of a store; fields are the keys of `polarbear status --json`.

    ``contracts`` has the contract times of each contract algorithm.
    ``under_way`` is the progress of a race that is running, ``killed`` the last state of one that
    was killed.
    """

    store: str
    format: int
    tool: str
    created: str
    written_by: str | None
    suite: str
    seed: int
    axis: str
    budget: float
    times: int
    instances: int
    runs: int
    superseded_runs: int
    weights: InstanceWeights | None
    extra_runs: int
    rankings: int
    posteriors: int
    algorithms: list[AlgorithmRuns]
    contracts: dict[str, list[float]]
    failures: list[Failure]
    hosts: list[HostRuns]
    bytes: int
    races: list[PastRace]
    set_aside: list[AsideRuns]
    under_way: Facts | None
    killed: Facts | None
    race: Standings | None
    ROWS = "algorithms"

    def one_line(self) -> str:
        return f"{counted(self.runs, 'run')} on {counted(self.instances, 'instance')}"


def status(path: str | Path, race: int | None = None) -> StoreStatus:
    """The contents of a store; ``race`` selects an earlier race."""
    store = StoreOnDisk.open(Path(path)).frozen()
    running = read_progress(Path(path), LiveProgress)
    if race is not None:
        store = store.at_race(race)
    budget = store.settings.budget
    writer = holder(store.path / "lock")
    is_running = False
    progress = None
    if running is not None:
        is_running, progress = running
    killed = None
    if progress and not is_running:
        killed = {key: progress[key] for key in _KILLED_KEYS}
    return StoreStatus(
        store=str(store.path),
        format=store.catalog.manifest.format,
        tool=store.catalog.manifest.tool,
        created=store.catalog.manifest.created,
        written_by=writer and writer.words,
        suite=store.settings.instances.suite,
        seed=store.settings.seed,
        axis=budget.axis,
        budget=budget.limit,
        times=len(budget.times),
        instances=len(store.instances()),
        runs=len(store.runs()),
        superseded_runs=len(store.all_runs()) - len(store.runs()),
        weights=summary.weights(store),
        extra_runs=len(store.speculative.table()),
        rankings=len(store.rankings()),
        posteriors=len(store.posteriors.stored()),
        algorithms=summary.by_algorithm(store),
        contracts={name: times.tolist() for name, times in store.settings.contracts.items()},
        failures=summary.failures(store),
        hosts=summary.hosts(store),
        bytes=summary.disk_use(store),
        races=store.races.past(),
        set_aside=summary.set_aside(store),
        under_way=progress if is_running else None,
        killed=killed,
        race=standings(store),
    )
