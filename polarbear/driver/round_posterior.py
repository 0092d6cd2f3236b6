"""From the evidence of a round to the probabilities that decide it, and to its posterior."""

from collections.abc import Mapping, Sequence
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
from polarbear.racing import Decisions, Elimination, RoundRecord, State, Threat
from polarbear.racing.forecast import forecast
from polarbear.racing.race_settings import RaceSettings
from polarbear.rankings.duels import ProblemDuels
from polarbear.settings.grid import EVALUATIONS
from polarbear.store import StoreOnDisk

MORE_DRAWS = 4  # times as many, where a decision is within the Monte-Carlo error
Decided = tuple[State, Decisions, DecisionTables | None, Posterior]


class RoundResult(NamedTuple):
    """The checkpoint of a round, and the estimates and the posterior that describe it."""

    record: RoundRecord
    beliefs: Beliefs
    evidence: Evidence
    posterior: Posterior


def threats(state: State, tables: DecisionTables | None) -> dict[str, Threat]:
    """The algorithm that comes nearest to eliminating each candidate."""
    names, candidates = state.algorithms, state.candidates
    if tables is None or len(candidates) < 2:
        return {}
    inside = [names.index(name) for name in candidates]
    chances = tables.estimate[np.ix_(inside, inside)].copy()
    np.fill_diagonal(chances, -1)
    nearest = chances.argmax(axis=0)
    return {
        name: Threat(candidates[by], float(chances[by, i]))
        for i, (name, by) in enumerate(zip(candidates, nearest, strict=True))
    }


def p_any_wrong(
    duels: ProblemDuels, names: Sequence[str], eliminated: Sequence[Elimination]
) -> float:
    """P(at least one of these eliminations is wrong), by all duels so far.

    Each counts with the probability by which eliminations are decided, that of its least certain
    time; they are taken as independent.
    """
    if not eliminated:
        return 0.0
    right = p_dominates(duels.record())
    chances = [right[names.index(one.by), names.index(one.algorithm)] for one in eliminated]
    return float(1 - np.prod(chances))


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

    def __init__(self, config: Config, store: StoreOnDisk, runs: RaceRuns) -> None:
        self._config = config
        self._store = store
        self._runs = runs
        self._last: tuple[Evidence, Posterior] | None = None

    def decide(
        self,
        state: State,
        horizons: Mapping[str, float],
        drawn: int,
        size: int | None,
        cancelled: Event | None = None,
    ) -> RoundResult:
        """The result of a round whose runs are finished; ``size`` is that of a finite suite.

        ``tables`` of probabilities are None where the posterior is not usable. The inference ends
        early when the event ``cancelled`` is set.
        """
        rules, evidence = self._config.race, self._runs.evidence(state, drawn)
        by_ratings = self._config.inference.plackett_luce
        decide = self._decide_by_ratings if by_ratings else self._decide_by_duels
        state, decisions, tables, posterior = decide(state, evidence, drawn, cancelled)
        left = None if size is None else size - state.instances
        ahead = None  # without limits, because they may change
        if tables is not None and left != 0:
            seed = derived_seed(self._config.seed, "forecast", state.round)
            ahead = forecast(state, rules, tables, left, seed)
        on_evaluations, used = self._config.budget.axis == EVALUATIONS, self._runs.used(state)
        spent = {name: sum(run.reached for run in runs) for name, runs in used.items()}
        record = RoundRecord(
            state=state,
            decisions=decisions,
            drawn=drawn,
            ran_to=horizons,
            evaluations={a: sum(run.evaluations for run in runs) for a, runs in used.items()},
            spent=None if on_evaluations else spent,
            threats=threats(state, tables),
            instances_to_go=ahead.likely if ahead else None if state.open_pairs else 0,
            forecast=ahead,
            draws=posterior.draws,
            problems=tuple(posterior.diagnostics.problems),
            posterior=posterior.key,
            p_any_wrong=p_any_wrong(evidence.duels, state.algorithms, state.eliminated),
            fit=posterior.fit,
            settings=settings_kept(self._config),
        )
        is_usable = tables is not None
        estimates = beliefs(posterior, state.candidates, rules.epsilon, usable=is_usable)
        return RoundResult(record, estimates, evidence, posterior)

    def remember(self, result: RoundResult) -> None:
        """Take the posterior of this round as that of the last one."""
        self._last = result.evidence, result.posterior

    def last(self) -> tuple[Evidence, Posterior]:
        """The posterior after the last round with its evidence, inferred when it is needed."""
        if self._last is None:
            record = self._store.rounds.last()
            assert record is not None, "there is no posterior before the first round"
            evidence = self._runs.evidence(record.state)
            field = None if self._config.inference.plackett_luce else record.state.candidates
            self._last = evidence, self._posterior(evidence, field)
        return self._last

    def keep(self) -> None:
        """Store the last posterior, and drop those of earlier rounds."""
        stored, record = self._store.posteriors.stored(), self._store.rounds.last()
        if self._last is None and (record is None or record.posterior in stored):
            return
        evidence, posterior = self.last()
        if posterior.key not in stored:
            store_posterior(self._store, evidence, posterior)
        self._store.posteriors.remove_superseded()  # only now: a reader always finds one

    def _decide_by_duels(
        self, state: State, evidence: Evidence, drawn: int, cancelled: Event | None
    ) -> Decided:
        rules, record = self._config.race, evidence.duels.record()
        tables = decide_by_duels(record, rules.epsilon, self._config.inference.concentration)
        if rules.elimination == "joint":
            over = relations.joint(self._posterior(evidence, cancelled=cancelled)).dominance
            both = np.minimum(tables.dominates, over)
            tables = replace(tables, dominates=both, estimate=over)
        duels = None
        if rules.guarantee == "anytime":
            if evidence.problems is not None:
                raise RaceError(
                    "the anytime guarantee needs independent problems, but instances of this race "
                    "are repeated seeds of one problem; leave out race.guarantee"
                )
            duels = record.won()
        after, decisions = race.step(state, rules, drawn, tables, duels)
        posterior = self._posterior(evidence, after.candidates, cancelled=cancelled)
        return after, decisions, tables, posterior

    def _decide_by_ratings(
        self, state: State, evidence: Evidence, drawn: int, cancelled: Event | None
    ) -> Decided:
        rules = self._config.race
        duels = evidence.duels.record().won()
        posterior = self._posterior(evidence, cancelled=cancelled)
        tables = self._tables(posterior)
        if tables is None or race.needs_more_draws(state, rules, drawn, tables, duels):
            more = self._posterior(
                evidence,
                draws=MORE_DRAWS * self._config.inference.draws,
                cancelled=cancelled,
            )
            tables = self._tables(more) or tables
            posterior = posterior if posterior.usable else more
        return *race.step(state, rules, drawn, tables, duels), tables, posterior

    def _tables(self, posterior: Posterior) -> DecisionTables | None:
        if not posterior.usable:
            return None
        rules = self._config.race
        return relations.decision_tables(posterior, rules.epsilon, rules.elimination)

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
