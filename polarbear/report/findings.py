"""Facts that several parts of a report show: candidates, P(best), verdicts on pairs, the truth."""

import numpy as np
import polars as pl

from polarbear import racing as race
from polarbear.execution.outcome import Status
from polarbear.inference import relations
from polarbear.inference.relations import DecisionTables
from polarbear.problems.base import Setting
from polarbear.problems.synthetic import Synthetic
from polarbear.racing import State, Verdict
from polarbear.racing.state import MIRROR
from polarbear.rankings.duels import index_of_pair
from polarbear.report.context import ReportContext, Round, once
from polarbear.report.words import P_DOMINATED_MEANS, evidence
from polarbear.wording import P_DOMINATED_BY


def instances_at(context: ReportContext) -> dict[str, np.ndarray] | None:
    """The number of instances on which each algorithm was compared at each time; None without runs.

    A race records it. Otherwise it follows from the runs: a run that stopped early or failed keeps
    its last best value and counts at later times, too.
    """
    times = context.times
    counts: dict[str, np.ndarray] = {}
    if context.rounds:
        counts = {name: np.zeros(len(times), dtype=int) for name in context.algorithms}
        coverage = race.RoundCoverage(entry.record for entry in context.rounds)
        state = context.rounds[-1].state
        for name in context.algorithms:
            for stretch in coverage.of(name):
                counts[name] += stretch.length * stretch.reaches_at(state, name)
        return counts
    runs = context.store.compared_runs()
    if runs.is_empty():
        return None
    reached = pl.when(pl.col("status") == Status.BUDGET).then(pl.col("reached")).otherwise(np.inf)
    runs = runs.with_columns(reached.alias("until"))
    for name in context.algorithms:
        until = runs.filter(pl.col("algorithm") == name)["until"].to_numpy()
        counts[name] = (until[:, None] >= times).sum(axis=0)
    return counts


def truth_of(context: ReportContext) -> dict[str, np.ndarray] | None:
    """Each algorithm's true share of firsts at each time; None where it is unknown."""
    settings = context.store.settings
    # Only the synthetic suite has a known truth. Its grid never changes, so the configured times
    # are those of the estimates.
    if settings.instances.suite != "synthetic":
        return None
    suite = Synthetic.model_validate(settings.instances.options)
    setting = Setting(settings.seed, settings.budget, algorithms=context.algorithms)
    truth = suite.truth(setting)
    return dict(zip(context.algorithms, truth.T, strict=True))


def truth_after(context: ReportContext, entry: Round) -> dict[str, np.ndarray] | None:
    """The truth of the quantity that a round's posterior estimates.

    It is the share of firsts among the candidates and itself; of a Plackett-Luce posterior, among
    all algorithms. None where it is unknown.
    """
    truth = truth_of(context)
    if truth is None or entry.record.plackett_luce:
        return truth
    candidates = entry.state.candidates
    share_of_candidates = sum(truth[name] for name in candidates)
    shares = {}
    for name, share in truth.items():
        if name in candidates:
            shares[name] = share / share_of_candidates
        else:
            shares[name] = share / (share_of_candidates + share)
    return shares


def truth_now(context: ReportContext) -> dict[str, np.ndarray] | None:
    """The truth of the present estimates; None where it is unknown."""
    return truth_after(context, context.rounds[-1]) if context.rounds else truth_of(context)


def verdict(context: ReportContext, a: str, b: str) -> Verdict:
    """The verdict on two algorithms over all times, by the race, otherwise by the posterior."""
    state = _race_of(context, a, b)
    if state is not None:
        return race.verdict_on(state, a, b)
    return race.verdict(_by_posterior(context, a, b))


def evidence_on(context: ReportContext, a: str, b: str) -> str | None:
    """The evidence by which a has eliminated b; None if it has not."""
    state = _race_of(context, a, b)
    if state is None:
        return None
    for elimination in state.eliminated:
        if (elimination.by, elimination.algorithm) == (a, b):
            return evidence(elimination, context.rounds[-1].record.settings)
    return None


MATRIX_NUMBER = P_DOMINATED_BY.format(a="row", b="column")


def matrix_numbers() -> str:
    """The meaning of the numbers in a matrix of pairs."""
    return f"{MATRIX_NUMBER}, {P_DOMINATED_MEANS.format(a='row')}, by the neutral posterior"


def relation_codes(context: ReportContext, a: str, b: str) -> np.ndarray:
    """The settled relation of two algorithms at each time."""
    state = _race_of(context, a, b)
    return _by_posterior(context, a, b) if state is None else state.relation(a, b)


def _race_of(context: ReportContext, a: str, b: str) -> State | None:
    """The state of the race, if both algorithms take part in it."""
    if not context.rounds:
        return None
    state = context.rounds[-1].state
    return state if {a, b} <= set(state.algorithms) else None


def _by_posterior(context: ReportContext, a: str, b: str) -> np.ndarray:
    """The relations that a race would settle by this posterior alone."""
    assert context.basis is not None
    names = context.basis.algorithms
    i = names.index(a)
    j = names.index(b)
    pair = index_of_pair(i, j, len(names))
    codes = race.settled_codes(context.rules, _tables(context))[pair]
    return np.asarray(codes if i < j else MIRROR[codes])


@once
def _tables(context: ReportContext) -> DecisionTables:
    """The probabilities of the posterior that settle pairs."""
    assert context.basis is not None
    rules = context.rules
    return relations.decision_tables(context.basis.posterior, rules.epsilon, "pointwise")
