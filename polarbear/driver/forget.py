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
    known, of_seeds = list(store.settings.algorithms), store.provenance.seed_name
    aside = set(store.set_aside.runs()["algorithm"])
    # A command that is given again after a crash may have been finished.
    if old in known or new not in known or of_seeds(new) != old:
        if old not in known:
            raise StoreError(f"{unknown('algorithm', old, known)} (in {store.path})")
        if new in known or new in aside:
            at = f"{store.path} already" + ("" if new in known else ", among the runs set aside")
            raise StoreMismatchError(f"'{new}' is in {at}; choose another name")
        entry = {"name": new, "use": "random-search"}
        validate(ADAPTERS["random-search"], entry, Source("the new name"))
        rename_in_store(store, old, new)
    runs = len(store.every_run().filter(pl.col("algorithm") == new))
    return Renamed(str(store.path), old, new, runs, of_seeds(new))


def forget(store: StoreOnDisk, algorithm: str, failed: bool = False) -> Forgotten:
    """Set all runs of an algorithm aside, or those that failed; the caller holds the lock."""
    runs = _runs(store, store.all_runs(), algorithm, failed)
    notes = withdraw(store, runs, Reason.FORGOTTEN)
    # or they would be used by the next race
    speculative = store.speculative.runs()
    store.speculative.replace([one for one in speculative if one.run.algorithm != algorithm])
    return Forgotten(str(store.path), algorithm, len(runs), 0, 0, tuple(notes[1:]))


def restore(store: StoreOnDisk, algorithm: str, failed: bool = False) -> Forgotten:
    """Take back runs that `forget` has set aside; the caller holds the lock."""
    aside = store.set_aside.runs().filter(pl.col("algorithm") == algorithm)
    mine = aside.filter(pl.col("reason") == Reason.FORGOTTEN)
    if len(aside) and mine.is_empty():
        raise StoreError(
            f"{counted(len(aside), 'run')} of '{algorithm}' in {store.path} were set aside because "
            f"they were {joined(sorted(set(aside['reason'])))}: `polarbear race` takes them back "
            "when the configuration and the code are those that made them"
        )
    forgotten = store.every_run().join(mine, on="run", how="semi", maintain_order="left")
    runs = _runs(store, forgotten, algorithm, failed)
    there = store.runs().select("algorithm", "instance", counts="attempt")
    both = runs.join(there, on=["algorithm", "instance"], how="left")
    counting = len(both.filter(pl.col("counts").fill_null(0) < pl.col("attempt")))
    notes: list[str] = []
    if counting:
        because = f"{counted(counting, 'run')} of {algorithm} taken back"
        notes = end_race_of(store, [algorithm], because, "did not use them")
    store.set_aside.take_back(runs["run"])
    superseded = len(runs) - counting
    return Forgotten(str(store.path), algorithm, 0, len(runs), superseded, tuple(notes))


def _runs(store: StoreOnDisk, runs: pl.DataFrame, algorithm: str, failed: bool) -> pl.DataFrame:
    """Those of an algorithm, or of its failures."""
    known = dict.fromkeys([*store.settings.algorithms, *store.set_aside.runs()["algorithm"]])
    if algorithm not in known:
        raise StoreError(f"{unknown('algorithm', algorithm, known)} (in {store.path})")
    mine = runs.filter(pl.col("algorithm") == algorithm)
    return mine.filter(pl.col("status").is_in(FAILED)) if failed else mine
