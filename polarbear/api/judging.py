"""Judges newcomers against the set of a store: an honest evaluator for loops that propose them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl
from pydantic import TypeAdapter

from polarbear.api import configurations
from polarbear.api.configurations import ConfigLike
from polarbear.api.listening import Listener, Progress
from polarbear.api.store_handle import Store
from polarbear.config.configuration import Config, Overrides, overridden, parse
from polarbear.driver import collect
from polarbear.driver.fingerprints import fingerprints
from polarbear.driver.judging import Judged, NewcomerJudge, failure_to_start, present_set
from polarbear.driver.loop import Race
from polarbear.driver.reconcile import Answers, take_in
from polarbear.errors import ConfigError, PolarBearError, RaceError
from polarbear.facts.newcomer_facts import (
    CrashGroup,
    Gain,
    Lead,
    Loss,
    NewcomerRates,
    crashes_of,
    gain_of,
)
from polarbear.facts.time_factors import RunTimes
from polarbear.inference.model_options import ModelOptions
from polarbear.racing.newcomers import NewcomerVerdict
from polarbear.records import Record
from polarbear.report import newcomer_words
from polarbear.selection.criteria import criteria_of
from polarbear.selection.criterion_names import ValueKind
from polarbear.selection.preference import Context
from polarbear.selection.preference_parsing import read_preference
from polarbear.settings.options import Source, as_mapping, unknown
from polarbear.settings.session_code import with_references
from polarbear.store import StoreOnDisk
from polarbear.store.runs import Reason

__all__ = ["Judgement", "judge"]


@dataclass(frozen=True)
class JudgingCost:
    """The cost of a judgement: problems that the newcomer was run on, its runs and evaluations.

    ``spent`` is the sum of the times that its runs reached on the axis.
    """

    problems: int
    runs: int
    evaluations: int
    spent: float


@dataclass(frozen=True, repr=False)
class Judgement(Record):
    """The judgement of a newcomer against the ``members`` of a set.

    ``verdict`` is eliminated, member (it was shown to be better than each member at some time),
    no gain (neither), or failed. ``score`` is one number for a search: P(best) for the
    ``preference``, or without one the lowest expected win rate against a member; 0 where it failed.
    ``text`` says where the newcomer leads and loses, for a person or a language model. It is the
    ``entrant`` of this number in the stream of newcomers, and was decided after ``decided_after``
    of ``cached`` problems. ``gain`` is that of a member, on problems that it was not selected on.
    """

    algorithm: str
    verdict: NewcomerVerdict
    score: float
    text: str
    cost: JudgingCost
    preference: str | None
    entrant: int
    members: tuple[str, ...]
    cached: int
    decided_after: int
    eliminated_by: str | None
    gain: Gain | None
    leads: tuple[Lead, ...]
    losses: tuple[Loss, ...]
    crashes: tuple[CrashGroup, ...]
    ROWS = "losses"

    @property
    def is_member(self) -> bool:
        return self.verdict == NewcomerVerdict.MEMBER

    @property
    def has_failed(self) -> bool:
        return self.verdict == NewcomerVerdict.FAILED

    def one_line(self) -> str:
        return f"{self.algorithm}: {self.verdict}, score {self.score:.3g}"

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Judgement:
        """A judgement from its facts, as the store keeps them."""
        judgement: Judgement = _reader().validate_python(_with_field_names(plain))
        return judgement


@cache
def _reader() -> TypeAdapter[Judgement]:
    return TypeAdapter(Judgement)


def _with_field_names(value: Any) -> Any:
    """Facts with the names of fields: ``from`` is a word of Python."""
    if isinstance(value, Mapping):
        return {
            "from_" if key == "from" else key: _with_field_names(part)
            for key, part in value.items()
        }
    if isinstance(value, list):
        return [_with_field_names(part) for part in value]
    return value


def judge(
    store: str | Path | Store,
    candidate: str | Mapping[str, Any] | object,
    *,
    config: ConfigLike | None = None,
    preference: str | None = None,
    workers: int | None = None,
    engine: str | None = None,
    scheduler: str | None = None,
    mix_hosts: bool = False,
    listener: Listener | None = None,
) -> Judgement:
    """Judge a ``candidate`` against the present set of a ``store``, on problems that it has.

    The candidate is an entry of a configuration's algorithms, with a name that no other one has
    had, or the name of one in ``config``. The set is that of the store's race or, without a race,
    all its algorithms. Nothing of the set is run again. A member stays in the set, and enters the
    race; any other candidate is dropped, and its runs are set aside. P(any candidate of the stream
    becomes a member wrongly) is at most 1 - alpha, however many come.

    The score is P(best) for a ``preference``, or without one the lowest expected win rate against a
    member. A judgement that was interrupted continues with the same call, and one that is finished
    is returned as it was. ``config`` is by default the configuration that the store keeps, whose
    code is run. ``workers``, ``engine``, ``scheduler``, ``mix_hosts`` and ``listener`` are those of
    `race`.

    >>> pb.judge("results", {"name": "newcomer", "use": "random-search"}).verdict.value
    'no gain'
    """
    disk = StoreOnDisk.open(store.path if isinstance(store, Store) else Path(store))
    overrides = Overrides(None, workers, engine, scheduler, mix_hosts)
    name, settings = _with_candidate(disk, candidate, config, overrides)
    if preference is not None:
        read_preference(preference, settings.budget.axis)  # refuses a wrong one before any run
    with disk.writing():
        _drop_interrupted(disk, settings, name)
        judgement = judge_in(disk, settings, name, preference, listener or Progress(), mix_hosts)
        settle(disk, settings, judgement)
    return judgement


def judge_in(
    disk: StoreOnDisk,
    settings: Config,
    name: str,
    preference: str | None,
    listener: Listener,
    mix_hosts: bool = False,
    gives_up: bool = True,
) -> Judgement:
    """The judgement of an algorithm of a configuration; the caller holds the store's lock.

    Nothing is dropped, and nothing enters the race. With ``gives_up`` it ends as soon as the
    algorithm is very unlikely to become a member.
    """
    algorithm = next(one for one in settings.algorithms if one.name == name)
    fingerprint = _fingerprint(settings, name)
    stored = _stored_judgement(disk, name, fingerprint)
    if stored is not None:
        return stored
    last_round = disk.rounds.last()
    if last_round is not None and name in last_round.state.algorithms:
        raise RaceError(
            f"'{name}' is in the race in {disk.path} already; a newcomer needs another name"
        )
    for note in take_in(settings, disk, Answers(), racing=True):
        listener.note(note)
    collect.check_hosts(settings, disk, mix_hosts)
    entrant = disk.judgements.begin(name, fingerprint)
    present = present_set(settings, disk, name)
    failure = failure_to_start(settings, algorithm)
    if failure is not None:
        judged = Judged.unable_to_start(name, entrant, present, failure)
    else:
        settings.instances.check_weights(settings.setting)
        newcomer_judge = NewcomerJudge(settings, disk, name, entrant, present, gives_up)
        with collect.pool_of(settings, disk) as pool:
            judged = newcomer_judge.judge(pool)
    judgement = _composed(disk, settings, judged, preference)
    disk.judgements.finish(name, judgement.to_dict())
    return judgement


def drop(disk: StoreOnDisk, settings: Config, name: str) -> None:
    """Remove an algorithm from the configuration of a store, and set its runs aside."""
    remaining = tuple(one for one in settings.algorithms if one.name != name)
    runs = disk.all_runs().filter(pl.col("algorithm") == name)
    disk.set_aside.add(runs, Reason.DROPPED)
    without = replace(settings, algorithms=remaining)
    disk.adopt(without.stored(), settings.instances.uses_grid, dropped=[name])


def _with_candidate(
    disk: StoreOnDisk, candidate: object, config: ConfigLike | None, overrides: Overrides
) -> tuple[str, Config]:
    """The name of a candidate, and the configuration that has it as its last algorithm."""
    if config is None:
        stored = disk.settings.as_configuration()
        others_in_progress = _in_progress(disk)
        stored["algorithms"] = [
            entry for entry in stored["algorithms"] if entry["name"] not in others_in_progress
        ]
        folder = str(disk.path.resolve().parent)
        base = overridden(parse(stored, Source(str(disk.path)), folder), overrides)
    else:
        base = configurations.read(config, overrides, disk.path)
    if isinstance(candidate, str):
        names = [algorithm.name for algorithm in base.algorithms]
        if candidate not in names:
            raise ConfigError(f"{unknown('algorithm', candidate, names)} (in the configuration)")
        return candidate, base
    # Functions of the session are found from any folder by an absolute path.
    place = disk.path if disk.path.parent == Path() else disk.path.resolve()
    entry = with_references({"algorithms": [as_mapping(candidate)]}, Path(f"{place}-code"))
    source = Source("the candidate")
    alone = parse({**base.plain(), **entry}, source, base.folder)
    if len(alone.algorithms) != 1:
        raise ConfigError(
            f"a candidate is one algorithm, but this entry describes {len(alone.algorithms)}"
        )
    algorithm = alone.algorithms[0]
    others = tuple(other for other in base.algorithms if other.name != algorithm.name)
    return algorithm.name, replace(base, algorithms=(*others, algorithm))


def _in_progress(disk: StoreOnDisk) -> set[str]:
    """Candidates whose judgement was interrupted, so that they are in the store's configuration."""
    last_round = disk.rounds.last()
    names_in_race = () if last_round is None else last_round.state.algorithms
    return {*disk.judgements.read().unfinished}.difference(names_in_race)


def _drop_interrupted(disk: StoreOnDisk, settings: Config, name: str) -> None:
    """Drop other candidates whose judgement was interrupted; their runs come back with them."""
    for other in sorted(_in_progress(disk)):
        if other != name and other in disk.settings.algorithms:
            drop(disk, settings, other)


def _fingerprint(settings: Config, name: str) -> str:
    try:
        return fingerprints(settings)[name]
    except PolarBearError:  # its code cannot be read, which the judgement reports
        return ""


def _stored_judgement(disk: StoreOnDisk, name: str, fingerprint: str) -> Judgement | None:
    """The judgement of a candidate that was made before.

    A candidate that failed is judged again once its code has changed.
    """
    entry = disk.judgements.of(name)
    if entry is None:
        return None
    is_same = fingerprint in disk.provenance.alike(name, entry.fingerprint)
    if is_same and entry.result is not None:
        return Judgement.from_plain(entry.result)
    if is_same:
        return None
    if entry.result is not None and entry.result["verdict"] == NewcomerVerdict.FAILED:
        runs = disk.every_run().filter(pl.col("algorithm") == name)
        disk.set_aside.add(runs, Reason.CHANGED)
        return None
    raise RaceError(
        f"'{name}' was judged before with other code or options; a changed candidate needs another "
        "name"
    )


def settle(disk: StoreOnDisk, settings: Config, judgement: Judgement) -> None:
    """Let a member enter the race, if there is one, and drop any other candidate."""
    name = judgement.algorithm
    last_round = disk.rounds.last()
    if name not in disk.settings.algorithms:
        return
    if last_round is None:
        if not judgement.is_member:
            drop(disk, settings, name)
        return
    has_entered = name in last_round.state.algorithms and last_round.state.joining != name
    if judgement.is_member and not has_entered:
        Race(settings, disk, add=[name], only_newcomers=True).run()
    elif name not in last_round.state.algorithms:
        drop(disk, settings, name)


def _composed(
    disk: StoreOnDisk, settings: Config, judged: Judged, preference: str | None
) -> Judgement:
    """The judgement with its score, its text and all that they rest on."""
    name = judged.newcomer
    axis = settings.budget.axis
    is_member = judged.verdict == NewcomerVerdict.MEMBER
    words = newcomer_words.verdict_words(
        judged.verdict,
        name,
        judged.members,
        judged.decided_after,
        judged.cached,
        judged.elimination,
        judged.failure,
    )
    sentences = [words]
    score = 0.0
    gain = None
    leads: tuple[Lead, ...] = ()
    losses: tuple[Loss, ...] = ()
    crashes = crashes_of(judged.runs)
    if judged.evidence is not None:
        concentration = settings.inference.concentration
        rates = NewcomerRates.of(judged.evidence, concentration)
        instances = [run.instance for run in judged.runs]
        run_times = RunTimes(disk, [*judged.members, name], instances=instances)
        score = rates.lowest_mean
        if preference is not None:
            score = _p_best(settings, judged, preference)
        leads = rates.leads()
        losses = rates.losses(name, run_times)
        if judged.selection is not None and judged.confirmation is not None:
            selected = NewcomerRates.of(judged.selection, concentration)
            gain = gain_of(selected, judged.confirmation)
        if is_member:
            sentences.append(newcomer_words.gain_words(gain, axis))
        sentences.append(newcomer_words.lead_words(leads, axis))
        sentences += newcomer_words.loss_words(losses, axis)
    sentences += newcomer_words.crash_words(crashes, len(judged.runs))
    return Judgement(
        algorithm=name,
        verdict=judged.verdict,
        score=score,
        text=". ".join(sentences) + ".",
        cost=JudgingCost(
            problems=len({run.instance for run in judged.runs}),
            runs=len(judged.runs),
            evaluations=sum(run.evaluations for run in judged.runs),
            spent=sum(run.reached for run in judged.runs),
        ),
        preference=preference,
        entrant=judged.entrant,
        members=judged.members,
        cached=judged.cached,
        decided_after=judged.decided_after,
        eliminated_by=None if judged.elimination is None else judged.elimination.by,
        gain=gain,
        leads=leads,
        losses=losses,
        crashes=crashes,
    )


def _p_best(settings: Config, judged: Judged, preference: str) -> float:
    """P(best) of the newcomer among the members, for a preference."""
    assert judged.evidence is not None
    budget = settings.budget
    parsed_preference, folder = read_preference(preference, budget.axis)
    context = Context(budget.times, budget.axis, folder, settings.seed, joint=False)
    options = ModelOptions(draws=settings.inference.draws, chains=settings.inference.chains)
    posterior = judged.evidence.posterior(options, settings.seed)
    items = list(range(len(judged.members) + 1))
    criteria = criteria_of(posterior, items, parsed_preference.on(context), ValueKind.DUELS)
    return float(criteria.p2bb[-1])
