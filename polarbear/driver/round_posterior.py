"""From the evidence of a round to the probabilities that decide it, and to its posterior."""

from collections.abc import Sequence
from dataclasses import replace
from threading import Event
from typing import NamedTuple

import numpy as np

from polarbear import racing as race
from polarbear.config.configuration import Config
from polarbear.config.execution import KEEPS
from polarbear.driver.collect import RaceRuns
from polarbear.driver.kept_posteriors import store_posterior
from polarbear.errors import RaceError
from polarbear.facts.evidence import Evidence, cached_posterior
from polarbear.inference import Posterior, relations
from polarbear.inference.beliefs import Beliefs, beliefs
from polarbear.inference.empirical.decisions import decide_by_duels, p_dominates
from polarbear.inference.relations import DecisionTables
from polarbear.numerics.seeds import derived_seed
from polarbear.racing import Decisions, Elimination, RaceForecast, RoundRecord, State, Threat
from polarbear.racing.choosing import (
    asks_the_same,
    judged,
    unanswered,
    without_idle_newcomer,
)
from polarbear.racing.forecast import forecast
from polarbear.racing.pair_evidence import PairEvidence
from polarbear.racing.purpose import Purpose
from polarbear.racing.race_settings import RaceSettings
from polarbear.rankings.duels import DuelRecord, ProblemDuels
from polarbear.settings.grid import EVALUATIONS
from polarbear.store import StoreOnDisk

MORE_DRAWS = 4  # the factor by which draws increase if a decision is within Monte-Carlo error


class Decided(NamedTuple):
    """The state after a round, and what decided it; ``tables`` are None without any decision."""

    state: State
    decisions: Decisions
    tables: DecisionTables | None
    duels: DuelRecord
    posterior: Posterior


class RoundPosterior(NamedTuple):
    """The posterior after a round, and the evidence that it was inferred from."""

    evidence: Evidence
    posterior: Posterior


class RoundResult(NamedTuple):
    """The checkpoint of a round, and the estimates and the posterior that describe it."""

    record: RoundRecord
    beliefs: Beliefs
    evidence: Evidence
    posterior: Posterior


def threats(state: State, tables: DecisionTables | None, duels: DuelRecord) -> dict[str, Threat]:
    """The algorithm that comes nearest to eliminating each candidate."""
    if tables is None or len(state.candidates) < 2:
        return {}
    evidence = PairEvidence.of(duels)
    names = state.algorithms
    indices = [names.index(name) for name in state.candidates]
    nearest = {}
    for i in indices:
        others = [j for j in indices if j != i]
        by = _surest(tables, others, i)
        nearest[names[i]] = Threat(
            by=names[by],
            probability=float(tables.estimate[by, i]),
            sceptical=float(tables.dominates[by, i]),
            wealth=evidence.wealth(by, i),
        )
    return nearest


def _surest(tables: DecisionTables, others: Sequence[int], algorithm: int) -> int:
    """The one of the others that comes nearest to eliminating an algorithm."""
    return max(
        others, key=lambda by: (tables.dominates[by, algorithm], tables.estimate[by, algorithm])
    )


def p_any_wrong(
    duels: ProblemDuels,
    names: Sequence[str],
    eliminated: Sequence[Elimination],
    decided_at: np.ndarray | None = None,
) -> float:
    """P(at least one of these eliminations is wrong), by all duels so far.

    The probability of an elimination is the one that decided it: that at its least certain time.
    Eliminations are taken as independent. ``decided_at`` is that of a state.
    """
    if not eliminated:
        return 0.0
    p_right_table = p_dominates(duels.record().decided_at(decided_at))
    p_right = [
        p_right_table[names.index(elimination.by), names.index(elimination.algorithm)]
        for elimination in eliminated
    ]
    return float(1 - np.prod(p_right))


def settings_kept(config: Config) -> RaceSettings:
    """The settings that must not change during a race; its limits may."""
    ranks = config.execution.failures.ranks
    return RaceSettings.of(
        config.race,
        config.inference,
        failures=None if ranks == KEEPS else ranks,
        weights=config.instances.weights,
    )


class RoundInference:
    """Infers and decides rounds by a configuration.

    The empirical model decides by exact probabilities from duels; its posterior describes the
    candidates that are left. A Plackett-Luce model decides by its draws, with more of them where a
    decision is within their error.
    """

    def __init__(
        self,
        config: Config,
        store: StoreOnDisk,
        runs: RaceRuns,
        purposes: Sequence[Purpose] = (),
    ) -> None:
        self._config = config
        self._purposes = purposes
        self._store = store
        self._runs = runs
        self._last: RoundPosterior | None = None

    def decide(
        self,
        state: State,
        budgets: race.Budgets,
        drawn: int,
        size: int | None,
        cancelled: Event | None = None,
    ) -> RoundResult:
        """The result of a round whose runs are finished; ``size`` is that of a finite suite.

        ``budgets`` are those of the runs of each algorithm on an instance of the round.
        The inference ends early when the event ``cancelled`` is set.
        """
        evidence = self._runs.evidence(state, drawn)
        if self._config.inference.plackett_luce:
            decided = self._decide_by_ratings(state, evidence, drawn, cancelled)
        else:
            decided = self._decide_by_duels(state, evidence, drawn, cancelled)
        decided = self._with_choices_judged(decided, evidence)
        record = self._record(decided, evidence, budgets, state.seen, drawn, size)
        estimates = beliefs(
            decided.posterior,
            decided.state.candidates,
            self._config.race.epsilon,
            usable=decided.tables is not None,
        )
        return RoundResult(record, estimates, evidence, decided.posterior)

    def with_choices(self, state: State) -> State:
        """The state in which a race begins or continues: with all that it asks about the choice.

        Questions that the last round did not ask are judged by its posterior.
        """
        rules = self._config.race
        if asks_the_same(state, self._purposes, rules):
            return state
        state = unanswered(state, self._purposes, rules)
        if not state.round or state.untrusted or not state.choices:
            return state
        evidence, posterior = self.last()
        return self._judged(state, posterior, evidence)

    def _with_choices_judged(self, decided: Decided, evidence: Evidence) -> Decided:
        """The same decisions, with the questions about the choice judged by the posterior."""
        if decided.tables is None or not decided.state.choices:
            return decided
        state = self._judged(decided.state, decided.posterior, evidence)
        state, arrived = without_idle_newcomer(state)
        decisions = decided.decisions
        if arrived:
            decisions = decisions._replace(caught_up=arrived)
        return decided._replace(state=state, decisions=decisions)

    def _judged(self, state: State, posterior: Posterior, evidence: Evidence) -> State:
        rules = self._config.race
        bet_per_problem = self._config.instances.bet_per_problem
        return judged(state, self._purposes, rules, posterior, evidence.duels, bet_per_problem)

    def _record(
        self,
        decided: Decided,
        evidence: Evidence,
        budgets: race.Budgets,
        first: int,
        drawn: int,
        size: int | None,
    ) -> RoundRecord:
        """The checkpoint of a decided round."""
        state = decided.state
        posterior = decided.posterior
        instances_ahead = self._forecast(decided, size)
        instances_to_go = None if race.open_questions(state) else 0
        if instances_ahead is not None:
            instances_to_go = instances_ahead.likely
        used_runs = self._runs.used(state)
        spent = None
        if self._config.budget.axis != EVALUATIONS:
            spent = {name: sum(run.reached for run in runs) for name, runs in used_runs.items()}
        return RoundRecord(
            state=state,
            decisions=decided.decisions,
            first=first,
            drawn=drawn,
            ran_to={name: times[-1] for name, times in budgets.items()},
            ran_at={name: budgets[name] for name in state.contracts if name in budgets} or None,
            evaluations={
                name: sum(run.evaluations for run in runs) for name, runs in used_runs.items()
            },
            spent=spent,
            threats=threats(state, decided.tables, decided.duels),
            instances_to_go=instances_to_go,
            forecast=instances_ahead,
            draws=posterior.draws,
            problems=posterior.problems,
            posterior=posterior.key,
            p_any_wrong=p_any_wrong(
                evidence.duels, state.algorithms, state.eliminated, state.decided_at
            ),
            fit=posterior.fit,
            settings=settings_kept(self._config),
            runs={name: len({run.instance for run in runs}) for name, runs in used_runs.items()},
        )

    def _forecast(self, decided: Decided, size: int | None) -> RaceForecast | None:
        """The forecast after a round; it ignores limits, because they may change."""
        n_unused_instances = None if size is None else size - decided.state.instances
        if decided.tables is None or n_unused_instances == 0:
            return None
        seed = derived_seed(self._config.seed, "forecast", decided.state.round)
        return forecast(decided.state, self._config.race, decided.tables, n_unused_instances, seed)

    def remember(self, result: RoundResult) -> None:
        """Take the posterior of this round as that of the last one."""
        self._last = RoundPosterior(result.evidence, result.posterior)

    def last(self) -> RoundPosterior:
        """The posterior after the last round with its evidence, inferred when it is needed."""
        if self._last is None:
            record = self._store.rounds.last()
            assert record is not None, "there is no posterior before the first round"
            evidence = self._runs.evidence(record.state)
            field = None if self._config.inference.plackett_luce else record.state.candidates
            self._last = RoundPosterior(evidence, self._posterior(evidence, field))
        return self._last

    def keep(self) -> None:
        """Store the last posterior, and drop those of earlier rounds."""
        stored_keys = self._store.posteriors.stored()
        last_round = self._store.rounds.last()
        if self._last is None and (last_round is None or last_round.posterior in stored_keys):
            return
        evidence, posterior = self.last()
        if posterior.key not in stored_keys:
            store_posterior(self._store, evidence, posterior)
        # Others are removed afterwards, so that a reader always finds a posterior.
        self._store.posteriors.remove_superseded()

    def _decide_by_duels(
        self, state: State, evidence: Evidence, drawn: int, cancelled: Event | None
    ) -> Decided:
        """Decide by exact probabilities; the posterior is that among the remaining candidates."""
        rules = self._config.race
        record = evidence.duels.record().decided_at(state.decided_at)
        tables = decide_by_duels(record, rules.epsilon, self._config.inference.concentration)
        if rules.elimination == "joint":
            posterior = self._posterior(evidence, cancelled=cancelled)
            over_times = relations.joint(posterior, decided_at=state.decided_at)
            p_dominates_jointly = over_times.dominance
            tables = replace(
                tables,
                dominates=np.minimum(tables.dominates, p_dominates_jointly),
            )
        if rules.guarantee == "anytime" and evidence.problems is not None:
            raise RaceError(
                "the anytime guarantee needs independent problems, but instances of this race "
                "are repeated seeds of one problem; leave out race.guarantee"
            )
        duels = self._duels(state, evidence)
        state_after, decisions = race.step(state, rules, drawn, tables, duels)
        posterior = self._posterior(evidence, state_after.candidates, cancelled=cancelled)
        return Decided(state_after, decisions, tables, duels, posterior)

    def _decide_by_ratings(
        self, state: State, evidence: Evidence, drawn: int, cancelled: Event | None
    ) -> Decided:
        """Decide by draws of ratings, with more draws where a decision is within their error."""
        rules = self._config.race
        duels = self._duels(state, evidence)
        posterior = self._posterior(evidence, cancelled=cancelled)
        tables = self._tables(state, posterior)
        if tables is None or race.needs_more_draws(state, rules, drawn, tables, duels):
            finer_posterior = self._posterior(
                evidence,
                draws=MORE_DRAWS * self._config.inference.draws,
                cancelled=cancelled,
            )
            tables = self._tables(state, finer_posterior) or tables
            if not posterior.usable:
                posterior = finer_posterior
        state_after, decisions = race.step(state, rules, drawn, tables, duels)
        return Decided(state_after, decisions, tables, duels, posterior)

    def _duels(self, state: State, evidence: Evidence) -> DuelRecord:
        """The duels that bets are placed on: no problem has a weight above one."""
        record = evidence.duels.record().decided_at(state.decided_at)
        return record.scaled(self._config.instances.bet_per_problem)

    def _tables(self, state: State, posterior: Posterior) -> DecisionTables | None:
        """The probabilities by which a posterior decides; None if it is not usable."""
        if not posterior.usable:
            return None
        rules = self._config.race
        return relations.decision_tables(
            posterior, rules.epsilon, rules.elimination, state.decided_at
        )

    def _posterior(
        self,
        evidence: Evidence,
        field: Sequence[str] | None = None,
        draws: int | None = None,
        cancelled: Event | None = None,
    ) -> Posterior:
        options = self._config.inference
        if draws is not None:
            options = options.model_copy(update={"draws": draws})
        return cached_posterior(self._store, evidence, options, self._config.seed, field, cancelled)
