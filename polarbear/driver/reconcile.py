"""Reconciles a store with a changed configuration or changed code.

Runs are never lost: stale ones are set aside, and taken back when they fit again. Decisions are
never mixed: a race whose runs or rules change is archived, and another one begins.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from shlex import quote as quoted

import polars as pl

from polarbear.config.configuration import Config
from polarbear.config.contradictions import differences
from polarbear.driver.collect import workers_of
from polarbear.driver.fingerprints import fingerprints
from polarbear.driver.round_posterior import settings_kept
from polarbear.driver.stale_runs import StaleRuns, stale_runs
from polarbear.errors import RaceError, StoreMismatchError
from polarbear.execution.outcome import Status
from polarbear.racing import RoundRecord
from polarbear.settings.options import unknown
from polarbear.store import StoreOnDisk
from polarbear.store.runs import Reason
from polarbear.wording import counted, duration, joined

ALL = "all"  # stands for every algorithm after --rerun and --keep


@dataclass(frozen=True)
class Answers:
    """The user's answers about changes; ``rerun`` and ``keep`` name algorithms."""

    rerun: Sequence[str] = ()
    keep: Sequence[str] = ()
    redecide: bool = False
    fresh: bool = False


def cost_words(config: Config, store: StoreOnDisk, stale: Sequence[StaleRuns]) -> str:
    """The price of deciding again: at most this many runs, and about this many seconds.

    Runs are priced by stored run times on all workers, rounds by the time of the last posterior.
    """
    limit, rounds = config.budget.limit, store.rounds.numbers()
    runs = store.runs()
    outdated = pl.concat([runs.clear(), *(one.runs for one in stale)])
    short = runs.filter(
        pl.col("algorithm").is_in([algorithm.name for algorithm in config.algorithms])
        & (pl.col("status") == Status.BUDGET)
        & (pl.col("reached") < limit)
        & ~pl.col("run").is_in(outdated["run"].implode())
    )
    to_run = pl.concat([outdated, short.with_columns(budget=pl.lit(limit))])
    pace = runs.group_by("algorithm").agg(pace=pl.col("seconds").sum() / pl.col("budget").sum())
    priced = to_run.join(pace, on="algorithm").select(pl.col("budget") * pl.col("pace"))
    seconds = float(priced.sum().item()) / workers_of(config)
    last = store.rounds.last()
    if last is not None and last.posterior in store.posteriors.stored():
        seconds += len(rounds) * float(store.posteriors.metadata(last.posterior).seconds)
    repeated, decided = counted(len(outdated), "run"), counted(len(rounds), "round")
    words = f"{repeated} to repeat, {decided} to decide again"
    if len(short):
        words += f", up to {counted(len(short), 'run')} to extend (from their beginning)"
    return f"{words}, in about {duration(seconds)}" if seconds else words


def take_in(config: Config, store: StoreOnDisk, answers: Answers, racing: bool) -> list[str]:
    """Adapt a store to a configuration, or ask what to do about changes.

    Returns notes on what was done; the caller holds the store's lock.
    """
    names = [algorithm.name for algorithm in config.algorithms]
    rerun, keep = _named(answers, names)
    uses_grid = config.instances.uses_grid
    store.check_extends(config.stored(), uses_grid, redefined=names)
    current = fingerprints(config)
    found = stale_runs(store, current)
    notes = []
    for one in found:
        if one.algorithm in keep:
            alike = [current[one.algorithm], *one.fingerprints]
            store.provenance.declare_alike(one.algorithm, alike)
            notes.append(f"kept despite the change: {one.words}")
    stale = [one for one in found if one.algorithm not in keep]
    changed = [one.algorithm for one in stale]
    notes += [_nothing_to_rerun(store, name) for name in answers.rerun if name not in changed]
    last = store.rounds.last() if racing else None
    inside = last.state.algorithms if last is not None else ()
    again = racing and (answers.redecide or answers.fresh)
    unsaid = [one for one in stale if one.algorithm not in rerun]
    # A changed option is intended; whether a changed file or package matters, only the user knows.
    asked = [
        one
        for one in unsaid
        if not answers.fresh and (one.sources or not (again or one.algorithm in inside))
    ]
    if asked:
        raise StoreMismatchError(_question(store, asked))
    dropped = [name for name in inside if name not in names]
    if last is not None:
        because = _race_differences(config, store, last) + _in_the_race(unsaid, inside)
        if because and not again:
            listing = "\n".join(f"  {line}" for line in because)
            raise StoreMismatchError(
                f"the configuration contradicts the race in {store.path}:\n{listing}\n"
                f"Use --redecide to decide again: {cost_words(config, store, stale)}. The present "
                "rounds are archived."
            )
        because += _in_the_race([one for one in stale if one.algorithm in rerun], inside)
        if answers.redecide and not because:
            because = _made_since(store, last)
        if because or answers.fresh:
            cost = cost_words(config, store, stale)
            number = store.races.end(because or ["a new race was asked for"], store.settings)
            notes.append(f"race {number} is archived; {cost}")
        elif answers.redecide:
            notes.append("nothing has changed: the race continues; --fresh begins another")
    old = {run for one in stale for run in one.runs["run"]}
    runs = store.all_runs().filter(pl.col("run").is_in(old))
    notes += withdraw(store, runs, Reason.CHANGED)
    gone = store.all_runs().filter(pl.col("algorithm").is_in(dropped))
    notes += withdraw(store, gone, Reason.DROPPED)
    store.adopt(config.stored(), uses_grid, redefined=names, dropped=dropped)
    return notes + _take_back(store, current)


def _race_differences(config: Config, store: StoreOnDisk, last: RoundRecord) -> list[str]:
    """Reasons why a race cannot continue with this configuration."""
    state, times = last.state, config.budget.times.tolist()
    found = differences(last.settings.stored, settings_kept(config).stored)
    if times != list(state.times):
        found.append(
            f"budget.grid: stored {len(state.times)} times up to {state.times[-1]:g}, "
            f"configuration {len(times)} up to {times[-1]:g}"
        )
    names = [algorithm.name for algorithm in config.algorithms]
    return found + [
        f"algorithms: '{name}' is in the race, but not in the configuration; if it is only "
        f"renamed: `polarbear rename {store.path} {quoted(name)} NEW`"
        for name in state.algorithms
        if name not in names
    ]


def withdraw(store: StoreOnDisk, runs: pl.DataFrame, reason: Reason) -> list[str]:
    """Set runs aside; a race that used them is archived, and another one will begin."""
    if not len(runs):
        return []
    because = f"set aside, {reason.words}: {_counts(runs)}"
    notes = [because, *end_race_of(store, runs["algorithm"], because, "used them")]
    store.set_aside.add(runs, reason)
    return notes


def end_race_of(
    store: StoreOnDisk, algorithms: Iterable[str], because: str, about: str
) -> list[str]:
    """Archive the race if one of these algorithms is in it; returns a note on that.

    ``about`` says what the race has to do with the runs that change.
    """
    last = store.rounds.last()
    if last is None or not {*algorithms} & {*last.state.algorithms}:
        return []
    number = store.races.end([because], store.settings)
    return [
        f"the race {about}: it is archived as race {number}, and `polarbear race` decides again"
    ]


def _in_the_race(stale: Sequence[StaleRuns], inside: Collection[str]) -> list[str]:
    found = [one for one in stale if one.algorithm in inside]
    return [f"algorithms.{one.algorithm}: {joined(one.changes)}" for one in found]


def _made_since(store: StoreOnDisk, last: RoundRecord) -> list[str]:
    """Runs on a race's instances that are newer than its last round."""
    state, written = last.state, store.rounds.written(last.state.round)
    runs, inside = store.runs(), {*state.algorithms} - {state.joining}
    drawn = store.instances()["instance"][: state.instances].implode()
    rows = runs.filter(
        pl.col("algorithm").is_in(inside)
        & pl.col("instance").is_in(drawn)
        & (pl.col("started") > written)
    )
    return [f"made since its last round: {_counts(rows)}"] if len(rows) else []


def _nothing_to_rerun(store: StoreOnDisk, name: str) -> str:
    if name == ALL:
        return "other algorithms have not changed and are not run again"
    return (
        f"{name} has not changed, so its runs are not repeated; `polarbear forget "
        f"{store.path} --algorithm {quoted(name)}` sets its runs aside"
    )


def _named(answers: Answers, names: Sequence[str]) -> tuple[list[str], list[str]]:
    """The algorithms to run again and those to keep; 'all' names those that the other does not."""
    for option, given in (("--rerun", answers.rerun), ("--keep", answers.keep)):
        for name in given:
            if name not in names and name != ALL:
                raise RaceError(f"{option}: {unknown('algorithm', name, [*names, ALL])}")
    both = [name for name in answers.rerun if name in answers.keep]
    if both:
        raise RaceError(f"--rerun and --keep both name '{both[0]}'; choose one")

    def chosen(given: Sequence[str], others: Sequence[str]) -> list[str]:
        if ALL not in given or ALL in names:
            return list(given)
        return [name for name in names if name not in others]

    return chosen(answers.rerun, answers.keep), chosen(answers.keep, answers.rerun)


def _question(store: StoreOnDisk, stale: Sequence[StaleRuns]) -> str:
    listing = "\n".join(f"  {one.words}" for one in stale)
    spelled = quoted(stale[0].algorithm)
    return (
        f"the code or options behind runs in {store.path} have changed:\n{listing}\n"
        f"Use --rerun {spelled} to repeat them, --keep {spelled} if the change makes no "
        "difference, or give the changed algorithm a new name. 'all' names every other algorithm."
    )


def _counts(runs: pl.DataFrame) -> str:
    grouped = runs.group_by("algorithm", maintain_order=True).len()
    return joined([f"{counted(count, 'run')} of {name}" for name, count in grouped.iter_rows()])


def _take_back(store: StoreOnDisk, current: Mapping[str, str]) -> list[str]:
    """Take back runs that were set aside and fit the present code.

    Except those of algorithms in a race that continues: its rounds did not use them.
    """
    last = store.rounds.last()
    racing = last.state.algorithms if last is not None else ()
    aside = store.set_aside.runs().filter(pl.col("reason") != Reason.FORGOTTEN)
    if aside.is_empty():
        return []
    rows = store.every_run().join(aside, on="run", how="semi", maintain_order="left")
    rows = rows.join(store.runs(), on=["algorithm", "instance"], how="anti", maintain_order="left")
    alike = store.provenance.alike
    fits = [
        name in current and name not in racing and made_by in alike(name, current[name])
        for name, made_by in rows.select("algorithm", "fingerprint").iter_rows()
    ]
    rows = rows.filter(pl.Series(fits, dtype=pl.Boolean))
    if rows.is_empty():
        return []
    store.set_aside.take_back(rows["run"])
    return [f"taken back, as their code and options are present again: {_counts(rows)}"]
