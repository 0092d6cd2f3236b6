"""Makes the runs of both versions, batch by batch, until the verdict is shown."""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import numpy as np
import polars as pl

from polarbear.config.configuration import Config, Overrides, overridden
from polarbear.driver import collect
from polarbear.driver.fingerprints import fingerprints
from polarbear.driver.reconcile import Answers, take_in
from polarbear.driver.scheduler import Scheduler
from polarbear.driver.stale_runs import stale_runs
from polarbear.errors import ConfigError, StoreMismatchError
from polarbear.execution import host
from polarbear.execution.outcome import Outcome
from polarbear.facts.time_factors import TimeFactor
from polarbear.problems.base import Instance
from polarbear.problems.specs import PROBLEM
from polarbear.records import optional_key
from polarbear.regression import version_pairs
from polarbear.regression.detectable import (
    Detectable,
    can_turn_red,
    detectable,
    p_below,
    problems_for_proof,
    smallest_limit,
)
from polarbear.regression.gate_decision import (
    GateDecision,
    GateVerdict,
    Level,
    Looks,
    decide,
    instances_for_failures,
)
from polarbear.regression.history_files import MergeResult, fingerprints_of
from polarbear.regression.look_plans import LimitPlan, LookPlan, TimePlan
from polarbear.regression.version_pairs import FailedRun, Lost, Pair, Slowdown, VersionDuels
from polarbear.settings.decision_levels import (
    DEFAULT_GATE_ALPHA,
    DEFAULT_GATE_TOLERANCE,
    checked_level,
)
from polarbear.store import StoreOnDisk
from polarbear.store.runs import FinishedRun, Reason
from polarbear.wording import counted, short

DEFAULT_LIMIT = 100  # instances


@dataclass(frozen=True)
class GateOptions:
    """The two versions, and the required evidence; ``limit`` bounds the number of instances.

    ``minutes``, where given, bound the time instead of the number of instances. Either
    ``tolerance``, of win rates, or ``longer``, the share of time by which the candidate may be
    slower, is None. With ``keeps_values`` the candidates are run on all instances up to the limit,
    whatever the verdict, so that their values can be kept in a history.
    """

    baseline: str
    candidate: str
    tolerance: float | None = DEFAULT_GATE_TOLERANCE
    alpha: float = DEFAULT_GATE_ALPHA
    limit: int | None = None
    failures: str = "worse"
    undecided: str = "pass"
    longer: float | None = None
    minutes: float | None = None
    keeps_values: bool = False

    def __post_init__(self) -> None:
        if self.minutes is not None and not 0 < self.minutes < np.inf:
            raise ConfigError(f"--minutes is a number above 0, found {self.minutes:g}")
        if self.undecided not in ("pass", "fail"):
            raise ConfigError(f"--undecided is pass or fail, found '{self.undecided}'")
        if self.failures not in ("worse", "ranked"):
            raise ConfigError(f"--failures is worse or ranked, found '{self.failures}'")
        if self.tolerance is not None and not 0 <= self.tolerance < 0.5:
            raise ConfigError(
                f"a tolerance is from 0 to below 0.5, or a share of time as in 10%, found "
                f"{self.tolerance:g}"
            )
        if self.longer is not None and not 0 <= self.longer < np.inf:
            raise ConfigError(f"a tolerance in time is 0% or more, found {100 * self.longer:g}%")
        try:
            checked_level(self.alpha)
        except ValueError as error:
            raise ConfigError(str(error)) from None
        if self.alpha == 1:
            raise ConfigError("alpha must be below 1: no number of runs makes a verdict certain")
        if self.baseline == self.candidate:
            raise ConfigError(f"'{self.baseline}' is both the baseline and the candidate")


@dataclass(frozen=True)
class PairVerdict:
    """The verdict on one pair; fields are keys of `polarbear gate --json`.

    ``win_rate`` is the candidate's at each time, a draw counting half. ``from_`` and ``to`` are the
    times between which it is worse, or better. At ``open_times`` it is not shown to be no worse.
    ``p_worse`` is an estimate: P(its win rate is below one half less the tolerance), on average
    over these times or, without them, over all. ``detectable`` is the loss that the same problems
    would have shown, ``problems_for_proof`` the number on which an even change would be shown to be
    no worse. ``times_as_long`` has the factors of the candidate against the baseline: first between
    those times, or over all, then in each third of the grid; ``times_as_long_back`` has those of
    the baseline against the candidate.
    """

    store: str
    axis: str
    baseline: str
    candidate: str
    verdict: GateVerdict
    instances: int
    problems: int
    open_times: int
    from_: float | None
    to: float | None
    times: tuple[float, ...]
    win_rate: tuple[float | None, ...]
    unchanged_code: bool
    failed: tuple[FailedRun, ...]
    lost_most: tuple[Lost, ...]
    p_worse: float
    detectable: Detectable | None
    problems_for_proof: int | None
    times_as_long: tuple[TimeFactor, ...]
    times_as_long_back: tuple[TimeFactor, ...]
    slowdown: Slowdown | None = optional_key()
    DERIVED: ClassVar[tuple[str, ...]] = ("worse_at",)

    @property
    def worse_at(self) -> list[list[float]]:
        """Spans, from the first to the last time, in which the candidate is shown to be worse."""
        if self.verdict is not GateVerdict.WORSE or self.from_ is None or self.to is None:
            return []
        return [[self.from_, self.to]]

    @property
    def in_span(self) -> float | None:
        """The mean win rate between ``from`` and ``to``."""
        if self.from_ is None or self.to is None:
            return None
        times, rates = np.array([self.times, self.win_rate], dtype=float)
        return float(np.nanmean(rates[(times >= self.from_) & (times <= self.to)]))


@dataclass(frozen=True)
class GateRun:
    """The verdicts of a gate on the pairs of one configuration, and the runs behind them.

    ``values`` are those of the candidates, where they are kept. ``reused`` is the number of stored
    runs that were used again.
    """

    pairs: tuple[PairVerdict, ...]
    values: tuple[MergeResult, ...]
    executed: int
    reused: int


def gate(
    config: Config,
    folder: Path,
    options: GateOptions,
    all_pairs: int,
    note: Callable[[str], None],
    progress: Callable[[int], AbstractContextManager[Callable[[bool], None]]],
) -> GateRun:
    """Compare the candidate with the baseline; ``all_pairs`` share the error of false alarms."""
    names = [algorithm.name for algorithm in config.algorithms]
    pairs = version_pairs.pairs_of(names, options.baseline, options.candidate)
    versions = {name for pair in pairs for name in (pair.baseline, pair.candidate)}
    config = replace(config, algorithms=tuple(a for a in config.algorithms if a.name in versions))
    timed = config.budget.is_timed
    if timed:
        config = overridden(config, Overrides(workers=1, engine="local"))
    if config.instances.weights:
        raise ConfigError(
            "a gate counts every problem once, but 'instances' has weights; leave them out"
        )
    stream = collect.InstanceStream(config)
    error = 1 - options.alpha
    level = Level(
        tolerance=options.tolerance or 0.0,
        error=error,
        alarm=error / all_pairs,
        seed=config.seed,
        longer=options.longer,
    )
    look_plan = _look_plan(config, stream, options, level)
    sizes_so_far: list[int] = []
    shares: list[float] = []
    n_runs = 0
    collect.prepare_new(config, folder)
    store = StoreOnDisk.create(folder, config.stored())
    with store.writing(), _on_one_core(timed):
        stale = [runs.algorithm for runs in stale_runs(store, fingerprints(config))]
        for line in take_in(config, store, Answers(rerun=stale), racing=False):
            note(line)
        if timed:
            _set_aside_untimed(store, len(versions))
        plan = collect.RunPlan(config, store)
        unchanged = [
            version_pairs.same_code(
                plan.fingerprints[pair.baseline], plan.fingerprints[pair.candidate]
            )
            for pair in pairs
        ]
        with collect.pool_of(config, store) as pool:
            for size in iter(look_plan.next_size, None):
                chosen = stream.first(size)
                ids = [instance.id for instance in chosen]
                store.add_instances(chosen, config.instances.suite)
                stored = collect.stored_runs(store)
                tasks = plan.missing(stored, chosen)
                n_runs += len(tasks)
                if tasks:
                    collect.prepare(config)
                with progress(len(tasks)) as finished:
                    Scheduler(pool, store, _receiver(finished)).run(tasks)
                plan.check_unchanged()
                sizes_so_far.append(size)
                shares.append(look_plan.share())
                is_sure = shares[-1] >= 1 or size >= instances_for_failures(level)
                evidence = []
                for pair, same in zip(pairs, unchanged, strict=True):
                    duels = VersionDuels(config, store, pair, ids, options.longer)
                    looks = Looks(
                        problems=tuple(map(duels.problems_by, sizes_so_far)),
                        shares=tuple(shares),
                    )
                    may_pass = same or is_sure
                    decision = decide(
                        duels.scores,
                        looks,
                        level,
                        may_pass,
                        duels.identical,
                        duels.scores_at_equal_times,
                    )
                    evidence.append(PairEvidence(pair, same, duels, looks, decision))
                verdicts = {pair_evidence.verdict(options) for pair_evidence in evidence}
                if GateVerdict.WORSE in verdicts or GateVerdict.UNDECIDED not in verdicts:
                    break
            n_reused = config.runs_on_an_instance * size - n_runs
            kept = ids
            if options.keeps_values:
                chosen = stream.first(look_plan.limit or size)
                kept = [instance.id for instance in chosen]
                store.add_instances(chosen, config.instances.suite)
                candidates = {pair.candidate for pair in pairs}
                tasks = [
                    task
                    for task in plan.missing(collect.stored_runs(store), chosen)
                    if task.algorithm.name in candidates
                ]
                n_runs += len(tasks)
                with progress(len(tasks)) as finished:
                    Scheduler(pool, store, _receiver(finished)).run(tasks)
                plan.check_unchanged()
        if options.minutes is not None:
            _check_was_long_enough(evidence, options, level)
        pair_verdicts = [
            _verdict(config, store, pair_evidence, options, level) for pair_evidence in evidence
        ]
        values = []
        if options.keeps_values:
            values = [_values(config, store, verdict, kept) for verdict in pair_verdicts]
    return GateRun(tuple(pair_verdicts), tuple(values), n_runs, n_reused)


def _values(
    config: Config, store: StoreOnDisk, pair: PairVerdict, instances: Sequence[str]
) -> MergeResult:
    """The values of a candidate on these instances, for a history."""
    grid = store.on_grid(config.budget.times, [pair.candidate])
    if grid.fronts is not None:
        raise StoreMismatchError(
            f"'{pair.candidate}' has several objectives, and a history holds single values: leave "
            "out --history"
        )
    if grid.violations is not None:
        raise StoreMismatchError(
            f"some values of '{pair.candidate}' violate constraints, and a history holds values "
            "alone: leave out --history"
        )
    row = {name: position for position, name in enumerate(grid.instances)}
    values = grid.values[[row[name] for name in instances], 0]
    problem = store.problems()
    return MergeResult(
        store=store.path.name,
        algorithm=pair.candidate,
        axis=config.budget.axis,
        verdict=pair.verdict,
        tie_tolerance=config.race.tie_tolerance,
        fingerprints=fingerprints_of(config),
        times=tuple(config.budget.times.tolist()),
        instances=tuple(instances),
        problems=tuple(problem.get(name, name) for name in instances),
        values=tuple(
            tuple(None if np.isnan(value) else value for value in of_instance)
            for of_instance in values.tolist()
        ),
    )


def _look_plan(
    config: Config, stream: collect.InstanceStream, options: GateOptions, level: Level
) -> LookPlan:
    """The looks of a gate, by its limit of instances or by its minutes."""
    if options.minutes is not None:
        limits = [limit for limit in (options.limit, stream.size) if limit is not None]
        return TimePlan(60 * options.minutes, min(limits, default=None))
    limit = options.limit or config.race.limits.instances or DEFAULT_LIMIT
    look_plan = LimitPlan(min(limit, stream.size or limit))
    _check_can_turn_red(stream.first(look_plan.sizes[-1]), look_plan.sizes, level)
    return look_plan


def _check_was_long_enough(
    evidence: Sequence["PairEvidence"], options: GateOptions, level: Level
) -> None:
    """Refuse a verdict on so few problems that it could not have been "worse"."""
    for pair_evidence in evidence:
        verdict = pair_evidence.verdict(options)
        if verdict is GateVerdict.UNDECIDED and not can_turn_red(pair_evidence.looks, level):
            problems = counted(pair_evidence.looks.problems[-1], "problem")
            raise ConfigError(
                f"in {short(options.minutes or 0)} minutes the gate made runs on {problems}, where "
                "not even a candidate that loses every duel would be found worse; its runs are "
                "stored, and more --minutes continue them"
            )


def _check_can_turn_red(instances: Sequence[Instance], sizes: Sequence[int], level: Level) -> None:
    """Refuse a gate whose verdict could not be "worse" on so few problems."""
    problems = [instance.spec.get(PROBLEM, instance.id) for instance in instances]
    n_problems = tuple(len(set(problems[:size])) for size in sizes)
    looks = Looks(n_problems, tuple(size / sizes[-1] for size in sizes))
    if can_turn_red(looks, level):
        return
    smallest = smallest_limit(level)
    remedy = "allow a smaller --tolerance"
    if smallest is not None:
        remedy = f"it takes {smallest} or more: see --instances"
    raise ConfigError(
        f"on {counted(n_problems[-1], 'problem')} not even a candidate that loses every duel would "
        f"be found worse, so this gate could not turn red; {remedy}"
    )


@dataclass(frozen=True)
class PairEvidence:
    """A pair after a look: its duels, and the decision by them; ``same`` code has not changed."""

    pair: Pair
    same: bool
    duels: VersionDuels
    looks: Looks
    decision: GateDecision

    def verdict(self, options: GateOptions) -> GateVerdict:
        """The verdict; failed runs alone decide for "worse"."""
        if options.failures == "worse" and self.duels.failures():
            return GateVerdict.WORSE
        return self.decision.verdict


def _receiver(finished: Callable[[bool], None]) -> Callable[[Outcome, FinishedRun], None]:
    return lambda outcome, _: finished(outcome.status.failed)


def _verdict(
    config: Config,
    store: StoreOnDisk,
    evidence: PairEvidence,
    options: GateOptions,
    level: Level,
) -> PairVerdict:
    """The verdict on a pair with its evidence."""
    pair = evidence.pair
    duels = evidence.duels
    decision = evidence.decision
    span = decision.span
    verdict = evidence.verdict(options)
    all_times = (0, len(duels.times) - 1)
    lost_most: list[Lost] = []
    could_have_shown = None
    for_proof = None
    if verdict is not GateVerdict.IDENTICAL:
        lost_most = duels.lost_most(span or all_times)
        could_have_shown = detectable(duels.scores, evidence.looks, level)
        for_proof = problems_for_proof(duels.scores, level)
    win_rate = np.nanmean(duels.scores_at_equal_times, axis=0)
    first, last = span or all_times
    in_span = duels.scores[:, first : last + 1]
    of_candidate, of_baseline = duels.times_as_long(span)
    return PairVerdict(
        store=str(store.path),
        axis=config.budget.axis,
        baseline=pair.baseline,
        candidate=pair.candidate,
        verdict=verdict,
        instances=len(duels.instances),
        problems=len(duels.scores),
        open_times=decision.open_times,
        from_=float(duels.times[span[0]]) if span else None,
        to=float(duels.times[span[1]]) if span else None,
        times=tuple(duels.times.tolist()),
        win_rate=tuple(None if np.isnan(rate) else float(rate) for rate in win_rate),
        unchanged_code=evidence.same,
        failed=tuple(duels.failures()),
        lost_most=tuple(lost_most),
        p_worse=p_below(in_span, 0.5 - level.tolerance, level.seed),
        detectable=could_have_shown,
        problems_for_proof=for_proof,
        times_as_long=of_candidate,
        times_as_long_back=of_baseline,
        slowdown=duels.slowdown() if config.budget.is_timed else None,
    )


def _set_aside_untimed(store: StoreOnDisk, names: int) -> None:
    """Set aside runs from another machine, and runs on instances that some version lacks.

    All versions are timed on an instance right after each other.
    """
    machine = host.here()
    runs = store.all_runs()
    local = runs.filter(pl.col("host") == machine.host, pl.col("cpu") == machine.cpu)
    versions = local.group_by("instance").agg(pl.col("algorithm").n_unique())
    complete = local.join(versions.filter(pl.col("algorithm") == names), on="instance", how="semi")
    store.set_aside.add(runs.join(complete, on="run", how="anti"), Reason.FORGOTTEN)


@contextmanager
def _on_one_core(timed: bool) -> Iterator[None]:
    """Keep this process and its workers on one core, where the system can do that."""
    if not timed or not hasattr(os, "sched_setaffinity"):
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(before)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)
