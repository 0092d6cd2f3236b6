"""From the evidence of a round to the probabilities that decide it, and to its posterior."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from polarbear import racing as race
from polarbear.config import KEEPS, Config
from polarbear.driver.collect import RaceRuns
from polarbear.driver.evidence import CachedPosterior, Evidence, cached_posterior, keep
from polarbear.errors import RaceError
from polarbear.inference import Posterior, relations
from polarbear.inference.beliefs import Beliefs, beliefs
from polarbear.inference.empirical.decisions import decide_by_duels, p_dominates
from polarbear.inference.fit import named
from polarbear.inference.relations import DecisionTables
from polarbear.numerics.seeds import derived_seed
from polarbear.racing import Decisions, Elimination, RoundRecord, State, Threat
from polarbear.racing.forecast import forecast
from polarbear.racing.rules import Rules
from polarbear.rankings.duels import Duels
from polarbear.settings.grid import EVALUATIONS
from polarbear.store import Store

MORE_DRAWS = 4  # times as many, where a decision is within the Monte-Carlo error


@dataclass(frozen=True)
class RoundResult:
    """A round's next state and decisions, and the posterior that describes it.

    ``tables`` is None where the posterior is not usable.
    """

    state: State
    decisions: Decisions
    tables: DecisionTables | None
    evidence: Evidence
    cached: CachedPosterior

    def beliefs(self, rules: Rules) -> Beliefs:
        """Estimates about all pairs, and about which candidate is the best at each time."""
        posterior, usable = self.cached.posterior, self.tables is not None
        at = relations.pointwise(posterior, rules.epsilon) if usable else None
        over = relations.joint(posterior) if usable and posterior.joint else None
        names, times = self.cached.algorithms, self.cached.times
        return beliefs(posterior, names, times, at, over, self.state.candidates)

    def threats(self) -> dict[str, Threat]:
        """The algorithm that comes nearest to eliminating each candidate."""
        names, candidates = self.state.algorithms, self.state.candidates
        if self.tables is None or len(candidates) < 2:
            return {}
        inside = [names.index(name) for name in candidates]
        chances = self.tables.estimate[np.ix_(inside, inside)].copy()
        np.fill_diagonal(chances, -1)
        nearest = chances.argmax(axis=0)
        return {
            name: Threat(candidates[by], float(chances[by, i]))
            for i, (name, by) in enumerate(zip(candidates, nearest, strict=True))
        }


def p_any_wrong(duels: Duels, names: Sequence[str], eliminated: Sequence[Elimination]) -> float:
    """P(at least one of these eliminations is wrong), by all duels so far.

    Each counts with the probability by which eliminations are decided, that of its least certain
    time; they are taken as independent.
    """
    if not eliminated:
        return 0.0
    right = p_dominates(duels.record())
    chances = [right[names.index(one.by), names.index(one.algorithm)] for one in eliminated]
    return float(1 - np.prod(chances))


def settings_kept(config: Config) -> dict[str, Any]:
    """Settings that must not change during a race; its limits may."""
    plain = config.plain()
    rules = {key: value for key, value in plain["race"].items() if key != "limits"}
    settings: dict[str, Any] = {}
    if config.execution.failures.ranks != KEEPS:
        settings["failures"] = config.execution.failures.ranks
    if config.instances.weights:
        settings["weights"] = dict(config.instances.weights)
    return {"rules": rules, "inference": plain["inference"], "settings": settings}


class RoundInference:
    """Infers and decides rounds by a configuration.

    The empirical model decides by exact probabilities from duels; its posterior describes the
    candidates that are left. A Plackett-Luce model decides by its draws, with more of them where a
    decision is within their error.
    """

    def __init__(self, config: Config, store: Store, runs: RaceRuns) -> None:
        self._config = config
        self._store = store
        self._runs = runs
        self._last: tuple[Evidence, CachedPosterior] | None = None

    def decide(self, state: State, evidence: Evidence, drawn: int) -> RoundResult:
        """The next state, its decisions, and the posterior after them."""
        if self._config.inference.plackett_luce:
            return self._decide_by_ratings(state, evidence, drawn)
        rules, options = self._config.race, self._config.inference
        record = evidence.duels.record()
        tables = decide_by_duels(record, rules.epsilon, options.concentration)
        if rules.elimination == "joint":
            over = relations.joint(self._posterior(evidence).posterior)
            tables = replace(
                tables,
                dominates=np.minimum(tables.dominates, over.dominance),
                estimate=over.dominance,
            )
        duels = None
        if rules.guarantee == "anytime":
            if evidence.problems is not None:
                raise RaceError(
                    "the anytime guarantee needs independent problems, but instances of this race "
                    "are repeated seeds of one problem; leave out race.guarantee"
                )
            duels = record.won()
        after, decisions = race.step(state, rules, drawn, tables, duels)
        posterior = self._posterior(evidence, after.candidates)
        return RoundResult(after, decisions, tables, evidence, posterior)

    def record(
        self, result: RoundResult, horizons: dict[str, float], drawn: int, size: int | None
    ) -> RoundRecord:
        """The checkpoint of a round; ``size`` is that of a finite suite."""
        state, posterior = result.state, result.cached.posterior
        left = None if size is None else size - state.instances
        ahead = None  # without limits, because they may change
        if result.tables is not None and left != 0:
            seed = derived_seed(self._config.seed, "forecast", state.round)
            ahead = forecast(state, self._config.race, result.tables, left, seed)
        on_evaluations, used = self._config.budget.axis == EVALUATIONS, self._runs.used(state)
        spent = {name: sum(run.reached for run in runs) for name, runs in used.items()}
        return RoundRecord(
            state=state,
            decisions=result.decisions,
            drawn=drawn,
            ran_to=horizons,
            evaluations={a: sum(run.evaluations for run in runs) for a, runs in used.items()},
            spent=None if on_evaluations else spent,
            threats=result.threats(),
            instances_to_go=ahead.likely if ahead else None if state.open_pairs else 0,
            forecast=ahead,
            draws=posterior.n_draws,
            problems=tuple(posterior.diagnostics.problems),
            posterior=result.cached.key,
            p_any_wrong=p_any_wrong(result.evidence.duels, state.algorithms, state.eliminated),
            fit=named(posterior.fit, result.cached.algorithms, result.cached.times),
            **settings_kept(self._config),
        )

    def remember(self, result: RoundResult) -> None:
        """Take the posterior of this round as that of the last one."""
        self._last = result.evidence, result.cached

    def last(self) -> tuple[Evidence, CachedPosterior]:
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
        evidence, cached = self.last()
        if cached.key not in stored:
            keep(self._store, evidence, cached)
        self._store.posteriors.remove_superseded()  # only now: a reader always finds one

    def _decide_by_ratings(self, state: State, evidence: Evidence, drawn: int) -> RoundResult:
        rules = self._config.race
        duels = evidence.duels.record().won()
        cached = self._posterior(evidence)
        tables = self._tables(cached.posterior)
        if tables is None or race.needs_more_draws(state, rules, drawn, tables, duels):
            more = self._posterior(evidence, draws=MORE_DRAWS * self._config.inference.draws)
            tables = self._tables(more.posterior) or tables
            cached = cached if cached.posterior.usable else more
        after, decisions = race.step(state, rules, drawn, tables, duels)
        return RoundResult(after, decisions, tables, evidence, cached)

    def _tables(self, posterior: Posterior) -> DecisionTables | None:
        if not posterior.usable:
            return None
        rules = self._config.race
        return relations.decision_tables(posterior, rules.epsilon, rules.elimination)

    def _posterior(
        self, evidence: Evidence, field: Sequence[str] | None = None, draws: int | None = None
    ) -> CachedPosterior:
        options = self._config.inference
        if draws is not None:
            options = options.model_copy(update={"draws": draws})
        return cached_posterior(self._store, evidence, options, self._config.seed, field)
