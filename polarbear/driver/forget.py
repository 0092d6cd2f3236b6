"""Setting runs aside and taking them back at the user's request, and renaming algorithms."""

from dataclasses import dataclass

import polars as pl

from polarbear.algorithms import ADAPTERS
from polarbear.driver.reconcile import end_race_of, withdraw
from polarbear.errors import StoreError, StoreMismatchError
from polarbear.facts.summary import FAILED
from polarbear.records import Record
from polarbear.settings.options import Source, unknown, validate
from polarbear.store import StoreOnDisk
from polarbear.store.rename import rename as rename_in_store
from polarbear.store.runs import Reason
from polarbear.store.store import KEY
from polarbear.wording import counted, joined


@dataclass(frozen=True, repr=False)
class Renamed(Record):
    """A renamed algorithm; fields are the keys of `polarbear rename --json`."""

    store: str
    old: str
    new: str
    runs: int
    seeds_of: str  # the name that seeds of its further runs derive from

    def one_line(self) -> str:
        runs = counted(self.runs, "run")
        return f"renamed {self.old} to {self.new} in {self.store}: {runs}"


@dataclass(frozen=True, repr=False)
class Forgotten(Record):
    """Runs that were set aside or taken back; fields are the keys of `polarbear forget --json`."""

    store: str
    algorithm: str
    set_aside: int
    restored: int
    superseded: int  # restored runs that do not count, because a later attempt does
    notes: tuple[str, ...]

    def one_line(self) -> str:
        if self.set_aside:
            return f"{counted(self.set_aside, 'run')} of {self.algorithm} set aside"
        rest = f", {self.superseded} of which do not count, since they were repeated"
        runs = counted(self.restored, "run")
        return f"{runs} of {self.algorithm} restored{rest if self.superseded else ''}"


def rename(store: StoreOnDisk, old: str, new: str) -> Renamed:
    """Rename an algorithm throughout a store; the caller holds its lock."""
    seed_name = store.provenance.seed_name
    names = list(store.settings.algorithms)
    # A command that is given again after a crash may have been finished.
    is_finished = old not in names and new in names and seed_name(new) == old
    if not is_finished:
        _check_rename(store, old, new)
        rename_in_store(store, old, new)
    n_runs = len(store.every_run().filter(pl.col("algorithm") == new))
    return Renamed(str(store.path), old, new, n_runs, seed_name(new))


def _check_rename(store: StoreOnDisk, old: str, new: str) -> None:
    """Refuse an unknown algorithm, a new name that is taken, and one that is no name."""
    names = list(store.settings.algorithms)
    if old not in names:
        raise StoreError(f"{unknown('algorithm', old, names)} (in {store.path})")
    if new in names:
        raise StoreMismatchError(f"'{new}' is in {store.path} already; choose another name")
    if new in set(store.set_aside.runs()["algorithm"]):
        raise StoreMismatchError(
            f"'{new}' is in {store.path} already, among the runs set aside; choose another name"
        )
    entry = {"name": new, "use": "random-search"}
    validate(ADAPTERS["random-search"], entry, Source("the new name"))


def forget(store: StoreOnDisk, algorithm: str, failed: bool = False) -> Forgotten:
    """Set all runs of an algorithm aside, or those that failed; the caller holds the lock."""
    runs = _runs(store, store.all_runs(), algorithm, failed)
    notes = withdraw(store, runs, Reason.FORGOTTEN)
    # The next race would use the speculative runs of the algorithm.
    speculative = store.speculative.runs()
    others = [finished for finished in speculative if finished.run.algorithm != algorithm]
    store.speculative.replace(others)
    return Forgotten(
        store=str(store.path),
        algorithm=algorithm,
        set_aside=len(runs),
        restored=0,
        superseded=0,
        notes=tuple(notes[1:]),  # The first one is about the runs, which have fields here.
    )


def restore(store: StoreOnDisk, algorithm: str, failed: bool = False) -> Forgotten:
    """Take back runs that `forget` has set aside; the caller holds the lock."""
    aside = store.set_aside.runs().filter(pl.col("algorithm") == algorithm)
    forgotten = aside.filter(pl.col("reason") == Reason.FORGOTTEN)
    if len(aside) and forgotten.is_empty():
        raise StoreError(
            f"{counted(len(aside), 'run')} of '{algorithm}' in {store.path} were set aside because "
            f"they were {joined(sorted(set(aside['reason'])))}: `polarbear race` takes them back "
            "when the configuration and the code are those that made them"
        )
    forgotten_runs = store.every_run().join(forgotten, on="run", how="semi", maintain_order="left")
    runs = _runs(store, forgotten_runs, algorithm, failed)
    n_counting = _count_latest_attempts(store, runs)
    notes: list[str] = []
    if n_counting:
        reason = f"{counted(n_counting, 'run')} of {algorithm} taken back"
        notes = end_race_of(store, [algorithm], reason, "did not use them")
    store.set_aside.take_back(runs["run"])
    return Forgotten(
        store=str(store.path),
        algorithm=algorithm,
        set_aside=0,
        restored=len(runs),
        superseded=len(runs) - n_counting,
        notes=tuple(notes),
    )


def _count_latest_attempts(store: StoreOnDisk, runs: pl.DataFrame) -> int:
    """The number of runs that count once they are restored: no later attempt does."""
    present = store.keyed(store.runs()).select(*KEY, present_attempt="attempt")
    joined_runs = store.keyed(runs).join(present, on=KEY, how="left")
    is_latest = pl.col("present_attempt").fill_null(0) < pl.col("attempt")
    return len(joined_runs.filter(is_latest))


def _runs(store: StoreOnDisk, runs: pl.DataFrame, algorithm: str, failed: bool) -> pl.DataFrame:
    """The runs of an algorithm, or those that failed."""
    names = dict.fromkeys([*store.settings.algorithms, *store.set_aside.runs()["algorithm"]])
    if algorithm not in names:
        raise StoreError(f"{unknown('algorithm', algorithm, names)} (in {store.path})")
    runs_of_algorithm = runs.filter(pl.col("algorithm") == algorithm)
    if not failed:
        return runs_of_algorithm
    return runs_of_algorithm.filter(pl.col("status").is_in(FAILED))
