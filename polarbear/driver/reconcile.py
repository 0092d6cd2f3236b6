"""Reconciles a store with a changed configuration or changed code.

Runs are never lost: stale ones are set aside, and taken back when they fit again. A race never
mixes decisions by different rules or runs: when these change, it is archived and another begins.
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
from polarbear.store.store import KEY
from polarbear.wording import counted, duration, joined

ALL = "all"  # every algorithm, as the value of --rerun or --keep


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
    runs = store.runs()
    outdated = pl.concat([runs.clear(), *(changed.runs for changed in stale)])
    too_short = runs.filter(
        pl.col("algorithm").is_in(
            [algorithm.name for algorithm in config.algorithms if algorithm.contract is None]
        )
        & (pl.col("status") == Status.BUDGET)
        & (pl.col("reached") < config.budget.limit)
        & ~pl.col("run").is_in(outdated["run"].implode())
    )
    extended = too_short.with_columns(budget=pl.lit(config.budget.limit))
    n_rounds = len(store.rounds.numbers())
    seconds = _seconds_of_runs(store, pl.concat([outdated, extended])) / workers_of(config)
    seconds += n_rounds * _seconds_of_last_posterior(store)
    runs_to_repeat = counted(len(outdated), "run")
    rounds_to_decide = counted(n_rounds, "round")
    words = f"{runs_to_repeat} to repeat, {rounds_to_decide} to decide again"
    if len(too_short):
        words += f", up to {counted(len(too_short), 'run')} to extend (from their beginning)"
    return f"{words}, in about {duration(seconds)}" if seconds else words


def _seconds_of_runs(store: StoreOnDisk, runs: pl.DataFrame) -> float:
    """The time of runs up to their budgets, at the pace of the stored runs."""
    pace = pl.col("seconds").sum() / pl.col("budget").sum()
    pace_of_algorithm = store.runs().group_by("algorithm").agg(pace=pace)
    priced = runs.join(pace_of_algorithm, on="algorithm")
    return float(priced.select(pl.col("budget") * pl.col("pace")).sum().item())


def _seconds_of_last_posterior(store: StoreOnDisk) -> float:
    """The time of the last inference of a race; 0 where its posterior is not in the store."""
    last_round = store.rounds.last()
    if last_round is None or last_round.posterior not in store.posteriors.stored():
        return 0.0
    return float(store.posteriors.metadata(last_round.posterior).seconds)


def take_in(config: Config, store: StoreOnDisk, answers: Answers, racing: bool) -> list[str]:
    """Adapt a store to a configuration, or ask what to do about changes.

    Returns notes on what was done; the caller holds the store's lock.
    """
    names = [algorithm.name for algorithm in config.algorithms]
    rerun_names, kept_names = _checked_answers(answers, names)
    uses_grid = config.instances.uses_grid
    store.check_extends(config.stored(), uses_grid, redefined=names)
    current = fingerprints(config)
    all_stale = stale_runs(store, current)
    stale = [changed for changed in all_stale if changed.algorithm not in kept_names]
    _refuse_to_keep_contracts(all_stale, kept_names)
    notes = _declare_alike(store, current, all_stale, kept_names)
    changed_names = {changed.algorithm for changed in stale}
    notes += [_nothing_to_rerun(store, name) for name in answers.rerun if name not in changed_names]
    last_round = store.rounds.last() if racing else None
    names_in_race = () if last_round is None else last_round.state.algorithms
    unanswered = [changed for changed in stale if changed.algorithm not in rerun_names]
    to_ask_about = _changes_to_ask_about(unanswered, answers, racing, names_in_race)
    if to_ask_about:
        raise StoreMismatchError(_question(store, to_ask_about))
    if last_round is not None:
        notes += _archive_if_changed(config, store, answers, last_round, stale, rerun_names)
    stale_run_ids = {run for changed in stale for run in changed.runs["run"]}
    notes += withdraw(store, _runs_with_ids(store, stale_run_ids), Reason.CHANGED)
    dropped = [name for name in names_in_race if name not in names]
    runs_of_dropped = store.all_runs().filter(pl.col("algorithm").is_in(dropped))
    notes += withdraw(store, runs_of_dropped, Reason.DROPPED)
    store.adopt(config.stored(), uses_grid, redefined=names, dropped=dropped)
    return notes + _take_back(store, current)


def _refuse_to_keep_contracts(stale: Sequence[StaleRuns], kept_names: Collection[str]) -> None:
    """Refuse to count runs with a contract and runs without one alike."""
    for changed in stale:
        if changed.algorithm in kept_names and changed.contract_changed:
            name = quoted(changed.algorithm)
            raise RaceError(
                f"--keep {name}: its stored runs were made with another `contract`, so they have "
                f"other budgets; use --rerun {name}"
            )


def _declare_alike(
    store: StoreOnDisk,
    current: Mapping[str, str],
    stale: Sequence[StaleRuns],
    kept_names: Collection[str],
) -> list[str]:
    """Record that changes to some algorithms make no difference to their runs."""
    notes = []
    for changed in stale:
        name = changed.algorithm
        if name in kept_names:
            store.provenance.declare_alike(name, [current[name], *changed.fingerprints])
            notes.append(f"kept despite the change: {changed.words}")
    return notes


def _changes_to_ask_about(
    unanswered: Sequence[StaleRuns],
    answers: Answers,
    racing: bool,
    names_in_race: Collection[str],
) -> list[StaleRuns]:
    """The changes about which only the user can decide.

    A changed option is intended, so that a race that is decided again simply uses it. Whether a
    changed file or package matters, only the user knows.
    """
    if answers.fresh:
        return []
    decides_again = racing and answers.redecide
    return [
        changed
        for changed in unanswered
        if changed.sources or not (decides_again or changed.algorithm in names_in_race)
    ]


def _archive_if_changed(
    config: Config,
    store: StoreOnDisk,
    answers: Answers,
    last_round: RoundRecord,
    stale: Sequence[StaleRuns],
    rerun_names: Collection[str],
) -> list[str]:
    """Archive a race that cannot continue with this configuration; returns notes on that.

    An error says how to decide again, unless the user has asked for it.
    """
    names_in_race = last_round.state.algorithms
    to_rerun = [changed for changed in stale if changed.algorithm in rerun_names]
    unanswered = [changed for changed in stale if changed.algorithm not in rerun_names]
    reasons = _race_differences(config, store, last_round)
    reasons += _changes_in_race(unanswered, names_in_race)
    if reasons and not (answers.redecide or answers.fresh):
        listing = "\n".join(f"  {reason}" for reason in reasons)
        raise StoreMismatchError(
            f"the configuration contradicts the race in {store.path}:\n{listing}\n"
            f"Use --redecide to decide again: {cost_words(config, store, stale)}. The present "
            "rounds are archived."
        )
    reasons += _changes_in_race(to_rerun, names_in_race)
    if answers.redecide and not reasons:
        reasons = _made_since(store, last_round)
    if reasons or answers.fresh:
        cost = cost_words(config, store, stale)
        number = store.races.end(reasons or ["a new race was asked for"], store.settings)
        return [f"race {number} is archived; {cost}"]
    if answers.redecide:
        return ["nothing has changed: the race continues; --fresh begins another"]
    return []


def _runs_with_ids(store: StoreOnDisk, run_ids: Collection[str]) -> pl.DataFrame:
    return store.all_runs().filter(pl.col("run").is_in(run_ids))


def _race_differences(config: Config, store: StoreOnDisk, last_round: RoundRecord) -> list[str]:
    """Reasons why a race cannot continue with this configuration."""
    state = last_round.state
    times = config.budget.times.tolist()
    reasons = differences(last_round.settings.stored, settings_kept(config).stored)
    if times != list(state.times):
        reasons.append(
            f"budget.grid: stored {len(state.times)} times up to {state.times[-1]:g}, "
            f"configuration {len(times)} up to {times[-1]:g}"
        )
    names = [algorithm.name for algorithm in config.algorithms]
    contracts = {name: tuple(times.tolist()) for name, times in config.contracts.items()}
    for name in state.algorithms:
        if name in names and contracts.get(name) != state.contracts.get(name):
            reasons.append(f"algorithms.{name}.contract: its contract times are others")
        if name not in names:
            reasons.append(
                f"algorithms: '{name}' is in the race, but not in the configuration; if it is only "
                f"renamed: `polarbear rename {store.path} {quoted(name)} NEW`"
            )
    return reasons


def withdraw(store: StoreOnDisk, runs: pl.DataFrame, reason: Reason) -> list[str]:
    """Set runs aside; a race that used them is archived, and another one will begin."""
    if runs.is_empty():
        return []
    note = f"set aside, {reason.words}: {_counts(runs)}"
    notes = [note, *end_race_of(store, runs["algorithm"], note, "used them")]
    store.set_aside.add(runs, reason)
    return notes


def end_race_of(
    store: StoreOnDisk, algorithms: Iterable[str], because: str, about: str
) -> list[str]:
    """Archive the race if one of these algorithms is in it; returns a note on that.

    ``about`` says what the race has to do with the runs that change.
    """
    last_round = store.rounds.last()
    if last_round is None or not {*algorithms} & {*last_round.state.algorithms}:
        return []
    number = store.races.end([because], store.settings)
    return [
        f"the race {about}: it is archived as race {number}, and `polarbear race` decides again"
    ]


def _changes_in_race(stale: Sequence[StaleRuns], names_in_race: Collection[str]) -> list[str]:
    """The changes to algorithms that are in the race, in words."""
    return [
        f"algorithms.{changed.algorithm}: {joined(changed.changes)}"
        for changed in stale
        if changed.algorithm in names_in_race
    ]


def _made_since(store: StoreOnDisk, last_round: RoundRecord) -> list[str]:
    """Runs on a race's instances that are newer than its last round."""
    state = last_round.state
    names = {*state.algorithms} - {state.joining}
    instances = store.instances()["instance"][: state.instances].implode()
    newer_runs = store.runs().filter(
        pl.col("algorithm").is_in(names)
        & pl.col("instance").is_in(instances)
        & (pl.col("started") > store.rounds.written(state.round))
    )
    return [f"made since its last round: {_counts(newer_runs)}"] if len(newer_runs) else []


def _nothing_to_rerun(store: StoreOnDisk, name: str) -> str:
    if name == ALL:
        return "other algorithms have not changed and are not run again"
    return (
        f"{name} has not changed, so its runs are not repeated; `polarbear forget "
        f"{store.path} --algorithm {quoted(name)}` sets its runs aside"
    )


def _checked_answers(answers: Answers, names: Sequence[str]) -> tuple[list[str], list[str]]:
    """The algorithms to run again and those to keep; 'all' is every one that the other leaves."""
    _check_names("--rerun", answers.rerun, names)
    _check_names("--keep", answers.keep, names)
    named_twice = [name for name in answers.rerun if name in answers.keep]
    if named_twice:
        raise RaceError(f"--rerun and --keep both name '{named_twice[0]}'; choose one")
    rerun_names = _without_all(answers.rerun, answers.keep, names)
    kept_names = _without_all(answers.keep, answers.rerun, names)
    return rerun_names, kept_names


def _check_names(option: str, answer: Sequence[str], names: Sequence[str]) -> None:
    for name in answer:
        if name not in names and name != ALL:
            raise RaceError(f"{option}: {unknown('algorithm', name, [*names, ALL])}")


def _without_all(
    answer: Sequence[str], other_answer: Sequence[str], names: Sequence[str]
) -> list[str]:
    """The names of an answer, with 'all' replaced by those that the other answer leaves."""
    if ALL not in answer or ALL in names:
        return list(answer)
    return [name for name in names if name not in other_answer]


def _question(store: StoreOnDisk, stale: Sequence[StaleRuns]) -> str:
    listing = "\n".join(f"  {changed.words}" for changed in stale)
    example = quoted(stale[0].algorithm)
    return (
        f"the code or options behind runs in {store.path} have changed:\n{listing}\n"
        f"Use --rerun {example} to repeat them, --keep {example} if the change makes no "
        "difference, or give the changed algorithm a new name. 'all' names every other algorithm."
    )


def _counts(runs: pl.DataFrame) -> str:
    grouped = runs.group_by("algorithm", maintain_order=True).len()
    return joined([f"{counted(count, 'run')} of {name}" for name, count in grouped.iter_rows()])


def _take_back(store: StoreOnDisk, current: Mapping[str, str]) -> list[str]:
    """Take back runs that were set aside and fit the present code.

    Runs of algorithms in a race that continues stay aside, since its rounds did not use them. So
    do runs that the user has set aside by `forget`.
    """
    last_round = store.rounds.last()
    names_in_race = () if last_round is None else last_round.state.algorithms
    aside = store.set_aside.runs().filter(pl.col("reason") != Reason.FORGOTTEN)
    if aside.is_empty():
        return []
    runs = store.every_run().join(aside, on="run", how="semi", maintain_order="left")
    # A run that was repeated since then stays aside.
    present = store.keyed(store.runs())
    runs = store.keyed(runs).join(present, on=KEY, how="anti", maintain_order="left")
    fits = [
        name in current
        and name not in names_in_race
        and fingerprint in store.provenance.alike(name, current[name])
        for name, fingerprint in runs.select("algorithm", "fingerprint").iter_rows()
    ]
    runs = runs.filter(pl.Series(fits, dtype=pl.Boolean))
    if runs.is_empty():
        return []
    store.set_aside.take_back(runs["run"])
    return [f"taken back, as their code and options are present again: {_counts(runs)}"]
