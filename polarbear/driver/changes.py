"""What has changed since runs were made and decisions were taken, and what is done about it.

Runs are never lost: those that do not fit any more are set aside, and taken back when they do.
Decisions are never mixed: a race whose runs or rules change is kept as it was, and another begins.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from shlex import quote as quoted

import polars as pl

from polarbear.config import Config
from polarbear.driver.cost import cost_of
from polarbear.driver.entrants import race_differences
from polarbear.driver.fingerprints import known_options
from polarbear.driver.outdated import Outdated, Survey, survey
from polarbear.errors import RaceError, StoreMismatchError
from polarbear.racing import RoundRecord
from polarbear.settings.options import unknown
from polarbear.store import Store
from polarbear.store.set_aside import Reason
from polarbear.wording import counted, joined, noun

ALL = "all"  # stands for every algorithm after --rerun and --keep


@dataclass(frozen=True)
class Answers:
    """What the user says about changes; ``rerun`` and ``keep`` name algorithms."""

    rerun: Sequence[str] = ()
    keep: Sequence[str] = ()
    redecide: bool = False
    fresh: bool = False


def take_in(config: Config, store: Store, answers: Answers, racing: bool) -> list[str]:
    """Bring a store to a configuration, or ask what to do about what has changed.

    Gives notes on what was done; the caller holds the store's lock.
    """
    names = [algorithm.name for algorithm in config.algorithms]
    rerun, keep = _named(answers, names)
    uses_grid = config.instances.uses_grid
    store.check_extends(config.plain(), uses_grid, redefined=names)
    found = survey(config, store)
    notes = _adopt_unknown(store, found) + _keep(store, found, keep)
    outdated = [one for one in found.outdated if one.algorithm not in keep]
    changed = [one.algorithm for one in outdated]
    notes += [_nothing_to_rerun(store, name) for name in answers.rerun if name not in changed]
    last = store.rounds.last() if racing else None
    inside = last.state.algorithms if last is not None else ()
    anew = racing and (answers.redecide or answers.fresh)
    unsaid = [one for one in outdated if one.algorithm not in rerun]
    # Whoever changes an option in the file knows it; of a file or a package only its user does.
    asked = [
        one
        for one in unsaid
        if not answers.fresh and (one.sources or not (anew or one.algorithm in inside))
    ]
    if asked:
        raise StoreMismatchError(_question(store, asked))
    dropped = [name for name in inside if name not in names]
    if last is not None:
        because = race_differences(config, last) + _in_the_race(unsaid, inside)
        if because and not anew:
            raise StoreMismatchError(_refusal(config, store, because, outdated, dropped))
        because += _in_the_race([one for one in outdated if one.algorithm in rerun], inside)
        if answers.redecide and not because:
            because = _made_since(store, last)
        if because or answers.fresh:
            cost = cost_of(config, store, outdated)
            number = store.end_race(because or ["a new race was asked for"])
            notes.append(f"race {number} is kept as it was; {cost.words}")
        elif answers.redecide:
            notes.append("nothing has changed since: the race goes on; --fresh begins another")
    stale = {run for one in outdated for run in one.runs["run"]}
    runs = store.all_runs().filter(pl.col("run").is_in(stale))
    notes += withdraw(store, runs, Reason.CHANGED)
    gone = store.all_runs().filter(pl.col("algorithm").is_in(dropped))
    notes += withdraw(store, gone, Reason.DROPPED)
    store.adopt(config.plain(), uses_grid, redefined=names, dropped=dropped)
    return notes + _take_back(store, found)


def withdraw(store: Store, runs: pl.DataFrame, reason: Reason) -> list[str]:
    """Set runs aside; a race that rests on them is kept as it was, and another will begin."""
    if not len(runs):
        return []
    notes = [f"set aside, {reason.words}: {_counts(runs)}"]
    last = store.rounds.last()
    if last is not None and set(runs["algorithm"]) & set(last.state.algorithms):
        number = store.end_race(notes)
        notes.append(
            f"the race rests on them: it is kept as race {number}, and `polarbear race` takes its "
            "decisions anew"
        )
    store.set_aside.add(runs, reason)
    return notes


def _in_the_race(outdated: Sequence[Outdated], inside: Collection[str]) -> list[str]:
    return [
        f"algorithms.{one.algorithm}: {joined(one.changes)}"
        for one in outdated
        if one.algorithm in inside
    ]


def _made_since(store: Store, last: RoundRecord) -> list[str]:
    """Runs on a race's instances that its last round could not know: made again, say."""
    state, written = last.state, store.rounds.written(last.state.round)
    runs, inside = store.runs(), {*state.algorithms} - {state.joining}
    drawn = store.instances()["instance"][: state.instances].implode()
    rows = runs.filter(
        pl.col("algorithm").is_in(inside)
        & pl.col("instance").is_in(drawn)
        & (pl.col("started") > written)
    )
    return [f"made since its last round: {_counts(rows)}"] if len(rows) else []


def _nothing_to_rerun(store: Store, name: str) -> str:
    if name == ALL:
        return "what is not named here has not changed, and is not run again"
    return (
        f"nothing about {name} has changed, so nothing of it is run again; `polarbear forget "
        f"{store.path} --algorithm {quoted(name)}` sets its runs aside"
    )


def _named(answers: Answers, names: Sequence[str]) -> tuple[list[str], list[str]]:
    chosen = []
    for option, given in (("--rerun", answers.rerun), ("--keep", answers.keep)):
        for name in given:
            if name not in names and name != ALL:
                raise RaceError(f"{option}: {unknown('algorithm', name, [*names, ALL])}")
        everyone = ALL in given and ALL not in names
        chosen.append(list(names) if everyone else list(given))
    rerun, keep = chosen
    both = [name for name in rerun if name in keep]
    if both:
        raise RaceError(f"--rerun and --keep both name '{both[0]}'; choose one")
    return rerun, keep


def _adopt_unknown(store: Store, found: Survey) -> list[str]:
    for name in found.unknown:
        store.provenance.declare_alike(name, [found.current[name], None])
    if not found.unknown:
        return []
    told = [f"{counted(count, 'run')} of {name}" for name, count in found.unknown.items()]
    return [
        f"{joined(told)} {noun(sum(found.unknown.values()), 'does', 'do')} not say what made "
        f"{noun(sum(found.unknown.values()), 'it', 'them')}; from now on they count as made by "
        "what is there now"
    ]


def _keep(store: Store, found: Survey, keep: Collection[str]) -> list[str]:
    notes = []
    for one in found.outdated:
        if one.algorithm in keep:
            store.provenance.declare_alike(
                one.algorithm, [found.current[one.algorithm], *one.fingerprints]
            )
            notes.append(f"kept, in spite of the change: {one.words}")
    return notes


def _question(store: Store, outdated: Sequence[Outdated]) -> str:
    listing = "\n".join(f"  {one.words}" for one in outdated)
    spelled = quoted(outdated[0].algorithm)
    everyone = " 'all' names everyone." if len(outdated) > 1 else ""
    return (
        f"what made runs in {store.path} has changed since:\n{listing}\n"
        f"Say --rerun {spelled} to run {noun(len(outdated[0].runs), 'it', 'them')} again, --keep "
        f"{spelled} if the change makes no difference, or give what is new a name of its own."
        f"{everyone}"
    )


def _refusal(
    config: Config,
    store: Store,
    changes: Sequence[str],
    outdated: Sequence[Outdated],
    dropped: Sequence[str],
) -> str:
    listing = "\n".join(f"  {line}" for line in changes)
    return (
        f"this is not the race in {store.path} any more:\n{listing}\n"
        f"Say --redecide to take its decisions anew: {cost_of(config, store, outdated).words}. "
        f"Its rounds are kept beside.{_renamed(config, store, dropped)}"
    )


def _renamed(config: Config, store: Store, dropped: Sequence[str]) -> str:
    """A word on who may only be called otherwise: the same options under a new name."""
    known = store.config["algorithms"]
    for old in dropped:
        for algorithm in config.algorithms:
            entry = algorithm.model_dump(mode="json", by_alias=True, exclude={"name"})
            if algorithm.name not in known and known_options(old, known[old]) == known_options(
                algorithm.name, entry
            ):
                place = f"{store.path} {quoted(old)} {quoted(algorithm.name)}"
                return f" If '{old}' is only called otherwise now: `polarbear rename {place}`."
    return ""


def _counts(runs: pl.DataFrame) -> str:
    grouped = runs.group_by("algorithm", maintain_order=True).len()
    return joined([f"{counted(count, 'run')} of {name}" for name, count in grouped.iter_rows()])


def _take_back(store: Store, found: Survey) -> list[str]:
    """Let runs count again that were set aside and fit what is there now.

    Not those of who is in a race that goes on: its earlier rounds did not know them.
    """
    last = store.rounds.last()
    racing = last.state.algorithms if last is not None else ()
    aside = store.set_aside.runs().filter(pl.col("reason") != Reason.FORGOTTEN)
    if aside.is_empty():
        return []
    fitting = {
        name: store.provenance.alike(name, now)
        for name, now in found.current.items()
        if name not in racing
    }
    rows = store.every_run().join(aside, on="run", how="semi", maintain_order="left")
    rows = rows.join(store.runs(), on=["algorithm", "instance"], how="anti", maintain_order="left")
    made_by = rows.select("algorithm", "fingerprint").iter_rows()
    rows = rows.filter(
        pl.Series([one in fitting.get(name, ()) for name, one in made_by], dtype=pl.Boolean)
    )
    if not len(rows):
        return []
    store.set_aside.take_back(rows["run"])
    return [f"taken back, since what made them is there again: {_counts(rows)}"]
