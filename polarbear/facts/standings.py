"""The standings of a race: the result of its rounds as one record."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import chain, combinations
from pathlib import Path
from typing import NamedTuple, TypeVar

import numpy as np

from polarbear.config.execution import KEEPS, failed_words
from polarbear.config.stored_settings import StoredSettings
from polarbear.facts.evidence import evidence_of
from polarbear.facts.next_command import next_commands, race_command
from polarbear.facts.order_drift import Drift, drift
from polarbear.facts.summary import failures
from polarbear.facts.time_factors import RunTimes, TimeFactor
from polarbear.inference.beliefs import Beliefs
from polarbear.inference.fit import NamedFit
from polarbear.racing import (
    OPEN,
    ChoiceQuestion,
    Elimination,
    OpenChoice,
    RaceForecast,
    RoundCoverage,
    RoundRecord,
    State,
    Verdict,
    is_shown_member,
    verdict_on,
)
from polarbear.racing.forecast import MIN_ROUNDS, within
from polarbear.racing.race_settings import RaceSettings
from polarbear.racing.recommendation import Grade, Span, advise, leaders
from polarbear.racing.rules import RaceLimits
from polarbear.rankings.duels import fewest_shared
from polarbear.records import Record, optional_key
from polarbear.settings.grid import EVALUATIONS
from polarbear.store import StoreOnDisk
from polarbear.wording import counted, percent

Item = TypeVar("Item")
GIVEN = "given"  # the order of a suite's problems that the user has chosen


class Standing(StrEnum):
    """The status of an algorithm.

    It is not eliminated (with or without an open pair), eliminated, or catching up.
    """

    IN = "in"
    SETTLED = "settled"
    OUT = "out"
    JOINING = "joining"


class AlgorithmStanding(NamedTuple):
    """An algorithm in a race; ``by`` has eliminated it or comes nearest to that.

    ``probability``, ``sceptical`` and ``wealth`` are those of an `Elimination`. ``member`` says
    whether it was shown to be better than each other candidate at some time.
    """

    algorithm: str
    evaluations: int
    standing: Standing
    by: str | None
    probability: float | None
    spent: float
    member: bool
    sceptical: float | None = None
    wealth: float | None = None


@dataclass(frozen=True)
class Lead:
    """A span of time over which one candidate has the highest P(best)."""

    algorithm: str
    from_: float
    to: float


class IncomparableShare(NamedTuple):
    """The share of duels of fronts in which neither is better, at a time."""

    t: float
    share: float


@dataclass(frozen=True)
class OpenPair:
    """A pair that is open at a number of ``times``, and the range of P(a is better) there."""

    a: str
    b: str
    times: int
    from_: float
    to: float
    p_above: tuple[float, float] | None


class SettledPair(NamedTuple):
    """A settled pair of candidates, and its verdict."""

    a: str
    b: str
    verdict: Verdict

    @property
    def words(self) -> str:
        return self.verdict.words(self.a, self.b)

    def to_plain(self) -> dict[str, str]:
        return {"a": self.a, "b": self.b, "how": self.verdict.kind.value}


@dataclass(frozen=True, repr=False)
class Standings(Record):
    """The result of the rounds of a race.

    ``saved`` is the unspent share of the budget of running everything to the end; ``spent`` is the
    time of each algorithm on the ``axis``; ``rules`` are those of the last round. ``recommended``
    are spans of time, each with its likely best algorithms; they are only a tendency while it is
    ``too_early``. ``cycles`` are groups that dominate each other, ``reinstated`` algorithms came
    back because of one. ``times_as_long`` compares the first algorithm of each recommended span
    with the one that has the next highest P(best) there. ``choices`` are the questions about the
    choice of an algorithm, with what is open of them. ``drift`` is set where problems in the order
    of the user differ from the first half to the second. With several objectives ``incomparable``
    has the share of duels that are incomparable at each time. ``next`` are the commands that lead
    on: the first of them answers what is open.
    """

    pareto_set: tuple[str, ...]
    eliminated: tuple[Elimination, ...]
    resolved: bool
    rounds: int
    instances: int
    evaluations: Mapping[str, int]
    failed_runs: int
    store: str
    model: str
    rules: RaceSettings
    share_settled: float
    batch: int
    joining: str | None
    caught_up: int
    saved: float
    instances_by_algorithm: Mapping[str, int]
    instances_to_go: int | None
    algorithms: tuple[AlgorithmStanding, ...]
    best: tuple[Lead, ...]
    open_pairs: tuple[OpenPair, ...]
    settled_pairs: tuple[SettledPair, ...]
    problems: tuple[str, ...]
    p_any_wrong: float | None
    fit: NamedFit | None
    axis: str
    spent: Mapping[str, float]
    forecast: RaceForecast | None
    recommended: tuple[Span, ...]
    too_early: bool
    cycles: tuple[tuple[str, ...], ...]
    reinstated: tuple[str, ...]
    times_as_long: tuple[TimeFactor, ...]
    choices: tuple[ChoiceQuestion, ...]
    drift: Drift | None = None
    incomparable: tuple[IncomparableShare, ...] | None = optional_key()
    next: tuple[str, ...] = ()
    ROWS = "algorithms"

    @property
    def failure_words(self) -> str:
        """The number of failed runs and how they count; empty if none has failed."""
        ranks = self.rules.failures or KEEPS
        return failed_words(self.failed_runs, ranks) if self.failed_runs else ""

    @property
    def is_for_preferences(self) -> bool:
        """Whether the race asks only for the choice for preferences, and not for the set."""
        return any(question.preference is not None for question in self.choices)

    @property
    def open_choices(self) -> tuple[OpenChoice, ...]:
        return tuple(choice for question in self.choices for choice in question.open)

    @property
    def too_early_to_forecast(self) -> bool:
        return self.rounds < MIN_ROUNDS

    @property
    def joint(self) -> bool:
        """Whether eliminations were joint over all times, not pointwise."""
        return self.rules.rules.elimination == "joint"

    def one_line(self) -> str:
        return (
            f"{len(self.pareto_set)} of {counted(len(self.algorithms), 'algorithm')} not "
            f"eliminated, {percent(self.share_settled)} of pairs settled after "
            f"{counted(self.rounds, 'round')} on {counted(self.instances, 'instance')}"
        )


def _problems_behind(
    store: StoreOnDisk, last: RoundRecord, names: Sequence[str]
) -> tuple[int, np.ndarray | None]:
    """The lowest number of problems that two candidates share at any time, and equal values.

    It is the number of instances where the posterior is not kept, or does not count problems. The
    second part is that of `DuelRecord.same_values`, where the posterior counts duels.
    """
    n_problems = last.state.instances
    if len(names) < 2 or last.posterior not in store.posteriors.stored():
        return n_problems, None
    posterior = store.posteriors.metadata(last.posterior)
    if posterior.shared is not None and {*names} <= {*posterior.algorithms}:
        n_problems = fewest_shared(np.array(posterior.shared), posterior.algorithms, names)
    if posterior.shared is None or posterior.duels is None:
        return n_problems, None
    duels = posterior.duels.record(np.array(posterior.shared), len(posterior.algorithms))
    return n_problems, duels.same_values(posterior.algorithms, names)


def standings(
    store: StoreOnDisk,
    upto: int | None = None,
    with_times_as_long: bool = True,
    config: Path | None = None,
    is_used_up: bool = False,
) -> Standings | None:
    """The result of the rounds in a store; None without a race.

    ``upto`` is an earlier round that is taken as the last. Without ``with_times_as_long`` no
    trajectory is read. ``config`` is the file of the race's configuration, if it is known, and
    ``is_used_up`` says whether its suite has no further problem.
    """
    numbers = [number for number in store.rounds.numbers() if upto is None or number <= upto]
    if not numbers:
        return None
    rounds = [store.rounds.read(number) for number in numbers]
    last = rounds[-1]
    state = last.state.in_order([*store.settings.algorithms])
    estimates = store.rounds.beliefs(numbers[-1])
    forecast = forecast_within_limits(last, store.settings)
    recommendation = _recommendation(store, last, state, estimates)
    facts = Standings(
        pareto_set=state.candidates,
        eliminated=state.eliminated,
        resolved=not state.open_pairs,
        rounds=state.round,
        instances=state.instances,
        evaluations={name: last.evaluations[name] for name in state.algorithms},
        failed_runs=sum(failure.runs for failure in failures(store)),
        store=str(store.path),
        model=last.settings.inference.model,
        rules=last.settings,
        share_settled=state.share_settled,
        batch=state.batch,
        joining=state.joining,
        caught_up=state.caught_up,
        saved=_saved_share(state, rounds),
        instances_by_algorithm=_instances_by_algorithm(state, rounds),
        instances_to_go=last.instances_to_go if forecast is None else forecast.likely,
        algorithms=tuple(_standing_of(last, name) for name in state.algorithms),
        best=recommendation.leads,
        open_pairs=tuple(_open_pair(estimates, state, a, b) for a, b in state.open_pairs),
        settled_pairs=_settled_pairs(state),
        problems=last.problems,
        p_any_wrong=last.p_any_wrong,
        fit=last.fit,
        axis=store.settings.budget.axis,
        spent={name: last.costs[name] for name in state.algorithms},
        forecast=forecast,
        recommended=recommendation.spans,
        too_early=recommendation.too_early,
        cycles=_without_repetition(record.decisions.cycles for record in rounds),
        reinstated=_without_repetition(record.decisions.reinstated for record in rounds),
        times_as_long=(
            _times_as_long(store, recommendation, estimates.times) if with_times_as_long else ()
        ),
        choices=state.choices,
        drift=_drift(store, state) if with_times_as_long else None,
        incomparable=_incomparable(store, state) if with_times_as_long else None,
    )
    race = race_command(store.path, config)
    commands = next_commands(facts, store.settings.limits, race, is_used_up)
    return replace(facts, next=commands)


def _drift(store: StoreOnDisk, state: State) -> Drift | None:
    """The drift over the problems of a race, where the user has given their order."""
    if store.settings.instances.options.get("order") != GIVEN:
        return None
    evidence = evidence_of(store, state.candidates)
    if evidence.results is not None:
        return None
    index_of_instance = dict(store.instances().select("instance", "index").iter_rows())
    positions = evidence.positions
    order = np.argsort([index_of_instance[name] for name in evidence.grid.instances])
    names = evidence.grid.algorithms
    return drift(positions[order], names, evidence.grid.times, store.settings.seed)


def _incomparable(store: StoreOnDisk, state: State) -> tuple[IncomparableShare, ...] | None:
    """The share of incomparable duels of all algorithms; None with one objective."""
    if store.n_objectives == 1:
        return None
    evidence = evidence_of(store, state.algorithms)
    shares = evidence.duels.record().incomparable_shares()
    assert shares is not None, "several objectives have results of duels"
    by_time = zip(evidence.grid.times.tolist(), shares.tolist(), strict=True)
    return tuple(IncomparableShare(t, share) for t, share in by_time)


class Recommendation(NamedTuple):
    """The likely best algorithms of each span of time, and the one with the highest P(best)."""

    spans: tuple[Span, ...]
    leads: tuple[Lead, ...]
    too_early: bool
    seconds: tuple[str, ...] = ()  # the algorithm with the next highest P(best) in each span


def _recommendation(
    store: StoreOnDisk, last: RoundRecord, state: State, estimates: Beliefs
) -> Recommendation:
    """The recommendation after a round; it is empty where P(best) is unknown."""
    names = state.candidates
    p_best = estimates.best[[estimates.row_of(name) for name in names]].T
    if np.isnan(p_best).any():
        return Recommendation(spans=(), leads=(), too_early=True)
    n_problems, same_values = _problems_behind(store, last, names)
    advice = advise(names, estimates.times, p_best, n_problems, same_values)
    leads = tuple(
        Lead(span.algorithms[0], span.start, span.stop)
        for span in leaders(names, estimates.times, p_best)
    )
    seconds = second_best(names, estimates.times, p_best, advice.spans)
    return Recommendation(advice.spans, leads, advice.grade is Grade.EARLY, seconds)


def second_best(
    names: Sequence[str], times: np.ndarray, p_best: np.ndarray, spans: Sequence[Span]
) -> tuple[str, ...]:
    """The algorithm with the highest mean P(best)[time, algorithm] after the first of each span.

    It is empty if there is a single algorithm.
    """
    if len(names) < 2:
        return ()
    seconds = []
    for span in spans:
        is_inside = (times >= span.start) & (times <= span.stop)
        mean = p_best[is_inside].mean(axis=0)
        mean[names.index(span.algorithms[0])] = -1
        seconds.append(names[int(mean.argmax())])
    return tuple(seconds)


def _times_as_long(
    store: StoreOnDisk, recommendation: Recommendation, times: np.ndarray
) -> tuple[TimeFactor, ...]:
    """For each recommended span, the factor of its first algorithm against the second best."""
    if not recommendation.seconds:
        return ()
    firsts = [span.algorithms[0] for span in recommendation.spans]
    names = list(dict.fromkeys([*firsts, *recommendation.seconds]))
    run_times = RunTimes(store, names, times)
    return tuple(
        run_times.times_as_long(first, second, (span.start, span.stop))
        for first, second, span in zip(
            firsts, recommendation.seconds, recommendation.spans, strict=True
        )
    )


def _saved_share(state: State, rounds: Sequence[RoundRecord]) -> float:
    """The share of the budget of running everything to the end that was not allotted."""
    on_an_instance = sum(
        sum(state.contracts.get(name, state.times[-1:])) for name in state.algorithms
    )
    full_budget = on_an_instance * state.instances
    coverage = RoundCoverage(rounds)
    allotted = sum(stretch.spent for name in state.algorithms for stretch in coverage.of(name))
    return 1 - allotted / full_budget if full_budget else 0.0


def _instances_by_algorithm(state: State, rounds: Sequence[RoundRecord]) -> dict[str, int]:
    """The number of instances that each algorithm ran on."""
    runs = rounds[-1].runs
    if runs is not None:
        return {name: runs[name] for name in state.algorithms}
    coverage = RoundCoverage(rounds)
    return {name: sum(stretch.length for stretch in coverage.of(name)) for name in state.algorithms}


def _settled_pairs(state: State) -> tuple[SettledPair, ...]:
    open_pairs = set(state.open_pairs)
    return tuple(
        SettledPair(a, b, verdict_on(state, a, b))
        for a, b in combinations(state.candidates, 2)
        if (a, b) not in open_pairs
    )


def _without_repetition(groups: Iterable[Iterable[Item]]) -> tuple[Item, ...]:
    """The items of all groups in order, each once."""
    return tuple(dict.fromkeys(chain.from_iterable(groups)))


def forecast_within_limits(last: RoundRecord, settings: StoredSettings) -> RaceForecast | None:
    """The forecast of the last round, for a race that ends at the limits of the configuration."""
    limits = settings.limits
    if last.forecast is None or limits == RaceLimits():
        return last.forecast
    if limits.spent is None and settings.budget.axis == EVALUATIONS:
        limits = limits.model_copy(update={"spent": limits.evaluations})
    batch = last.settings.rules.batch
    return within(last.forecast, last.state, batch, limits, sum(last.costs.values()))


def _standing_of(last: RoundRecord, name: str) -> AlgorithmStanding:
    """The status of an algorithm, and its nearest eliminator."""
    state = last.state
    eliminations = {elimination.algorithm: elimination for elimination in state.eliminated}
    if name in eliminations:
        standing = Standing.OUT
    elif name == state.joining:
        standing = Standing.JOINING
    elif name in state.unresolved:
        standing = Standing.IN
    else:
        standing = Standing.SETTLED
    nearest = eliminations.get(name) or last.threats.get(name)
    return AlgorithmStanding(
        algorithm=name,
        evaluations=last.evaluations[name],
        standing=standing,
        by=None if nearest is None else nearest.by,
        probability=None if nearest is None else nearest.probability,
        spent=last.costs[name],
        member=is_shown_member(state, name),
        sceptical=None if nearest is None else nearest.sceptical,
        wealth=None if nearest is None else nearest.wealth,
    )


def _open_pair(estimates: Beliefs, state: State, a: str, b: str) -> OpenPair:
    open_times = np.flatnonzero(state.relation(a, b) == OPEN)
    p_above = None
    if estimates.trusted:
        p_at_times = estimates.above[open_times, estimates.row_of(a), estimates.row_of(b)].tolist()
        p_above = (min(p_at_times), max(p_at_times))
    return OpenPair(
        a=a,
        b=b,
        times=len(open_times),
        from_=state.times[open_times[0]],
        to=state.times[open_times[-1]],
        p_above=p_above,
    )
