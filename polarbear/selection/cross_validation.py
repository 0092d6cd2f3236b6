"""How good choices are on problems that had no part in them, at every budget.

Problems are divided into folds. For each problem of a fold, an algorithm is chosen by the other
folds: with features, by the forest's weights, and without them, where all problems count alike.
The chosen one has the highest win rate against its strongest rival, the expected value of `select`.
It is scored by the share of the other algorithms that it beats on the held-out problem at that
budget, a draw counting half; with features that have costs, by its value at the budget less these.

The single best has the highest mean score of the other folds, the virtual best the highest score of
the problem itself. The share of the gap closed is

    (score of the choice - score of the single best) / (virtual best - single best),

with an interval by a Bayesian bootstrap over problems.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from polarbear.errors import SelectionError
from polarbear.facts.evidence import Evidence, evidence_of
from polarbear.inference.feature_models.duel_tables import (
    DuelTable,
    duel_table,
    rivals_beaten,
    scores_at_some_times,
)
from polarbear.inference.feature_models.forest import counted_weights, fitted_forest
from polarbear.inference.model_options import CONCENTRATION
from polarbear.numerics.arrays import spread
from polarbear.rankings.duels import ProblemDuels, duels_of
from polarbear.rankings.ranking import side_by_side
from polarbear.records import Record
from polarbear.selection.feature_choice import ProblemFeatures, problem_features
from polarbear.store import StoreOnDisk
from polarbear.wording import counted, percent

N_FOLDS = 10
MIN_PROBLEMS = N_FOLDS
MAX_BUDGETS = 40  # of the grid
N_DRAWS = 2000
INTERVAL = (0.025, 0.975)
BINS = np.linspace(0, 1, 11)  # of predicted shares of first places
HELPS = "Features help: with them, choices close {share} [{low}, {high}] of the gap"
HURTS = "Features do not help, they harm: choices close {share} [{low}, {high}] of the gap"
UNCLEAR = (
    "Features do not help so that it could be shown: with them, choices close {share} "
    "[{low}, {high}] of the gap"
)
NO_FEATURES = "The store has no features: choices are the same for all problems"
NO_GAP = "One algorithm is the best on all problems: there is no gap to close"


@dataclass(frozen=True)
class BudgetScore:
    """Mean shares of rivals beaten at a budget, and the share of the gap closed.

    ``choice`` is the choice with features, or without them if there are none. ``gap_closed`` and
    its 95 % interval are None where single best and virtual best are equal.
    """

    t: float
    single_best: float
    without_features: float
    choice: float
    virtual_best: float
    gap_closed: float | None
    gap_low: float | None
    gap_high: float | None


@dataclass(frozen=True)
class ReliabilityBin:
    """Predicted shares of first places in a range, and the share of first places observed.

    ``error`` is the standard error of the observed share, over problems.
    """

    low: float
    high: float
    cases: int
    predicted: float
    observed: float
    error: float


@dataclass(frozen=True, repr=False)
class CrossValidation(Record):
    """The scores of choices on held-out problems; ``gap_closed`` is that over all budgets."""

    verdict: str
    problems: int
    folds: int
    features: tuple[str, ...]
    axis: str
    gap_closed: float | None
    gap_low: float | None
    gap_high: float | None
    budgets: tuple[BudgetScore, ...]
    reliability: tuple[ReliabilityBin, ...]
    notes: tuple[str, ...]
    ROWS = "budgets"

    def one_line(self) -> str:
        return self.verdict


@dataclass(frozen=True, eq=False)
class _HeldOut:
    """Scores[problem, time], and predicted and observed first places [problem, algorithm, time]."""

    single_best: np.ndarray
    without_features: np.ndarray
    choice: np.ndarray
    virtual_best: np.ndarray
    predicted_firsts: np.ndarray
    firsts: np.ndarray


def cross_validated(store: StoreOnDisk) -> CrossValidation:
    """The scores of choices with and without the features of a store."""
    evidence = _at_some_times(evidence_of(store))
    n_problems = evidence.n_problems
    if n_problems < MIN_PROBLEMS:
        raise SelectionError(
            f"{store.path} has {counted(n_problems, 'problem')}; cross-validation needs at least "
            f"{MIN_PROBLEMS}"
        )
    try:
        of_problems = problem_features(store, evidence)
    except SelectionError:
        of_problems = None
    seed = store.settings.seed
    held_out = _held_out(evidence, of_problems, seed)
    times = evidence.grid.times
    weights = np.random.default_rng(seed).standard_exponential((N_DRAWS, n_problems))
    budgets = tuple(_budget_score(float(t), k, held_out, weights) for k, t in enumerate(times))
    share, low, high = _gap_closed(held_out, weights, np.arange(len(times)))
    names = () if of_problems is None else of_problems.features.names
    return CrossValidation(
        verdict=_verdict(share, low, high, bool(names)),
        problems=n_problems,
        folds=N_FOLDS,
        features=names,
        axis=store.settings.budget.axis,
        gap_closed=share,
        gap_low=low,
        gap_high=high,
        budgets=budgets,
        reliability=tuple(_reliability(held_out)),
        notes=_notes(of_problems),
    )


def _at_some_times(evidence: Evidence) -> Evidence:
    """The evidence at no more times than a table of scores needs."""
    times = spread(len(evidence.grid.times), MAX_BUDGETS)
    grid = replace(evidence.grid.with_outcomes_at(times), times=evidence.grid.times[times])
    return replace(
        evidence,
        grid=grid,
        unit_times=evidence.unit_times[times],
        positions=evidence.positions[:, :, times],
        results=None if evidence.results is None else evidence.results[:, :, times],
    )


def _notes(of_problems: ProblemFeatures | None) -> tuple[str, ...]:
    if of_problems is None or not of_problems.costs.any():
        return ()
    return ("the costs of features are charged: a choice has its budget less these",)


def _verdict(share: float | None, low: float | None, high: float | None, has_features: bool) -> str:
    if share is None or low is None or high is None:
        return NO_GAP
    if not has_features:
        return NO_FEATURES
    sentence = UNCLEAR
    if low > 0:
        sentence = HELPS
    elif high < 0:
        sentence = HURTS
    return sentence.format(share=percent(share), low=percent(low), high=percent(high))


def _held_out(evidence: Evidence, of_problems: ProblemFeatures | None, seed: int) -> _HeldOut:
    """Choose for each problem by the problems of the other folds."""
    duels = evidence.duels
    table = duel_table(duels)
    firsts = _firsts(duels)
    beaten = rivals_beaten(table)
    scores = np.nan_to_num(beaten)  # one that was not run beats none
    charged_scores = scores
    if of_problems is not None and of_problems.costs.any():
        charged_scores = _charged_scores(evidence, of_problems.costs)
    n_problems, _, n_times = scores.shape
    fold = np.random.default_rng(seed).permutation(n_problems) % N_FOLDS
    single_best = np.empty((n_problems, n_times))
    without_features = np.empty((n_problems, n_times))
    choice = np.empty((n_problems, n_times))
    predicted_firsts = np.empty(scores.shape)
    forest_scores = scores_at_some_times(beaten)
    every_time = np.arange(n_times)
    for k in range(N_FOLDS):
        others = np.flatnonzero(fold != k)
        inside = np.flatnonzero(fold == k)
        equal_weights = np.ones(len(others))
        best = scores[others].mean(axis=0).argmax(axis=0)
        chosen = best_by_duels(table.rows(others), equal_weights)
        forest = None
        if of_problems is not None:
            names = [duels.names[i] for i in others]
            forest = fitted_forest(
                forest_scores[others], of_problems.matrix.rows(others), names, seed
            )
        for problem in inside:
            single_best[problem] = scores[problem, best, every_time]
            without_features[problem] = scores[problem, chosen, every_time]
            weights = equal_weights
            chosen_for_problem = chosen
            if forest is not None and of_problems is not None:
                weights = counted_weights(forest.weights_of_row(of_problems.matrix.values[problem]))
                chosen_for_problem = best_by_duels(table.rows(others), weights)
            choice[problem] = charged_scores[problem, chosen_for_problem, every_time]
            predicted_firsts[problem] = _weighted_firsts(firsts[others], weights)
    return _HeldOut(
        single_best=single_best,
        without_features=without_features,
        choice=choice,
        virtual_best=scores.max(axis=1),
        predicted_firsts=predicted_firsts,
        firsts=firsts,
    )


def _firsts(duels: ProblemDuels) -> np.ndarray:
    """The share of the first place, NaN where it is not known: [problem, algorithm, time]."""
    n = duels.positions.shape[1]
    parts = [duels.first_scores(block, range(n)) for block in duels.blocks()]
    shape = (duels.n_problems, n, -1)
    share = np.concatenate([part[0] for part in parts]).reshape(shape)
    is_known = np.concatenate([part[1] for part in parts]).reshape(shape)
    return np.where(is_known, share, np.nan)


def _charged_scores(evidence: Evidence, costs: np.ndarray) -> np.ndarray:
    """The scores of algorithms that start after the features of a problem were computed."""
    grid = evidence.grid
    n = len(grid.algorithms)
    cost_of_problem = dict(zip(evidence.duels.names, costs, strict=True))
    values = np.full_like(grid.values, np.inf)
    violations = None if grid.violations is None else np.full_like(grid.values, np.inf)
    for row, problem in enumerate(evidence.problem_names):
        remaining_times = grid.times - cost_of_problem[problem]
        index = np.searchsorted(grid.times, remaining_times, side="right") - 1
        has_begun = index >= 0
        values[row][:, has_begun] = grid.values[row][:, index[has_begun]]
        if violations is not None and grid.violations is not None:
            violations[row][:, has_begun] = grid.violations[row][:, index[has_begun]]
    values[np.isnan(grid.values)] = np.nan
    late = replace(grid, values=values, violations=violations)
    names = tuple(map(str, range(2 * n)))
    both = side_by_side(grid, late, names)
    table = duel_table(duels_of(both.positions(), evidence.problem_names))
    first, second = np.triu_indices(2 * n, 1)
    won = np.zeros((len(table.is_met), n, len(grid.times)))
    n_rivals = np.zeros(won.shape)
    for pair, (a, b) in enumerate(zip(first, second, strict=True)):
        # A late algorithm meets all others that had the whole budget.
        if a < n <= b and b - n != a:
            is_met = table.is_met[:, pair]
            won[:, b - n] += is_met * (1 - table.share_won[:, pair])
            n_rivals[:, b - n] += is_met
    return won / np.maximum(n_rivals, 1)


def best_by_duels(table: DuelTable, weights: np.ndarray) -> np.ndarray:
    """The algorithm with the highest expected win rate against its strongest rival: [time]."""
    n = table.n_algorithms
    has_weight = np.flatnonzero(weights > 0)
    duels = table.rows(has_weight)
    weight = weights[has_weight]
    wins = np.tensordot(weight, duels.share_won * duels.is_met, axes=1)
    n_duels = np.tensordot(weight, duels.is_met.astype(float), axes=1)
    rate = (CONCENTRATION / 2 + wins) / (CONCENTRATION + n_duels)
    first, second = np.triu_indices(n, 1)
    rates = np.ones((n, n, rate.shape[1]))
    rates[first, second] = rate
    rates[second, first] = 1 - rate
    return np.asarray(rates.min(axis=1).argmax(axis=0))


def _weighted_firsts(firsts: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The expected share of first places of each algorithm: [algorithm, time]."""
    is_known = np.isfinite(firsts)
    won = np.einsum("k,kat->at", weights, np.where(is_known, firsts, 0))
    total = np.einsum("k,kat->at", weights, is_known)
    prior = CONCENTRATION / firsts.shape[1]
    return np.asarray((prior + won) / (CONCENTRATION + total))


def _budget_score(t: float, k: int, held_out: _HeldOut, weights: np.ndarray) -> BudgetScore:
    share, low, high = _gap_closed(held_out, weights, np.array([k]))
    return BudgetScore(
        t=t,
        single_best=float(held_out.single_best[:, k].mean()),
        without_features=float(held_out.without_features[:, k].mean()),
        choice=float(held_out.choice[:, k].mean()),
        virtual_best=float(held_out.virtual_best[:, k].mean()),
        gap_closed=share,
        gap_low=low,
        gap_high=high,
    )


def _gap_closed(
    held_out: _HeldOut, weights: np.ndarray, times: np.ndarray
) -> tuple[float | None, float | None, float | None]:
    """The share of the gap closed over some times, and its interval."""
    gain = (held_out.choice - held_out.single_best)[:, times].mean(axis=1)
    gap = (held_out.virtual_best - held_out.single_best)[:, times].mean(axis=1)
    if not gap.sum() > 0:
        return None, None, None
    draws = (weights @ gain) / np.maximum(weights @ gap, np.finfo(float).tiny)
    low, high = np.quantile(draws, INTERVAL)
    return float(gain.sum() / gap.sum()), float(low), float(high)


def _reliability(held_out: _HeldOut) -> Iterator[ReliabilityBin]:
    """Predicted and observed shares of first places; times of a problem repeat each other."""
    predicted = held_out.predicted_firsts
    observed = held_out.firsts
    is_known = np.isfinite(observed)
    bins = np.clip(np.digitize(predicted, BINS) - 1, 0, len(BINS) - 2)
    for k in range(len(BINS) - 1):
        is_inside = is_known & (bins == k)
        cases = int(is_inside.sum())
        if not cases:
            continue
        mean = float(observed[is_inside].mean())
        residuals = np.where(is_inside, np.nan_to_num(observed) - mean, 0)
        by_problem = residuals.reshape(len(residuals), -1).sum(axis=1)
        yield ReliabilityBin(
            low=float(BINS[k]),
            high=float(BINS[k + 1]),
            cases=cases,
            predicted=float(predicted[is_inside].mean()),
            observed=mean,
            error=float(np.sqrt(np.square(by_problem).sum()) / cases),
        )
