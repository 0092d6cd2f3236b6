"""Races and intervals on fronts whose win rates are known, with many incomparable duels."""

import numpy as np
import pytest

from polarbear import racing
from polarbear.facts.evidence import ranked
from polarbear.inference import ModelOptions
from polarbear.inference.empirical.decisions import decide_by_duels
from polarbear.inference.model_options import CONCENTRATION
from polarbear.racing.rules import Rules
from polarbear.rankings import GridValues
from polarbear.rankings.duels import duels_of
from polarbear.rankings.front_duels import DuelRule, DuelSettings

TIMES = np.array([1.0, 2.0, 3.0])
INCOMPARABLE = np.array([0.7, 0.5, 0.3])  # the share of incomparable duels at each time
NAMES = ("first", "second")
MIDDLE = np.array([[2.0, 2.0]])
BETTER = np.array([[1.0, 1.0]])
BESIDE = np.array([[1.0, 4.0], [4.0, 1.0]])  # incomparable with the middle by both rules


def true_win_rates(first_wins: np.ndarray) -> np.ndarray:
    return np.asarray(INCOMPARABLE / 2 + (1 - INCOMPARABLE) * first_wins)


def drawn(rng: np.random.Generator, n_problems: int, first_wins: np.ndarray) -> GridValues:
    """Fronts of two algorithms; the first wins this share of the comparable duels."""
    shape = (n_problems, 2, len(TIMES))
    fronts = np.empty(shape, dtype=object)
    # The same numbers at all times: a duel that is won early is likely to be won late.
    is_incomparable = rng.random((n_problems, 1)) < INCOMPARABLE
    is_won = rng.random((n_problems, 1)) < first_wins
    for problem, time in np.ndindex(n_problems, len(TIMES)):
        winner = 0 if is_won[problem, time] else 1
        fronts[problem, 1 - winner, time] = MIDDLE
        fronts[problem, winner, time] = BESIDE if is_incomparable[problem, time] else BETTER
    names = tuple(f"i{number}" for number in range(n_problems))
    return GridValues(names, NAMES, TIMES, np.zeros(shape), None, fronts)


@pytest.mark.slow
@pytest.mark.parametrize("rule", [DuelRule.COVERAGE, DuelRule.DOMINANCE])
def test_intervals_of_win_rates_cover_the_truth(rule: DuelRule):
    rng = np.random.default_rng(7)
    unit_times = np.linspace(0, 1, len(TIMES))
    first_wins = np.array([0.3, 0.5, 0.6])
    truth = true_win_rates(first_wins)
    n_data_sets = 300
    is_covered = []
    for seed in range(n_data_sets):
        grid = drawn(rng, 40, first_wins)
        evidence = ranked(grid, unit_times, duels=DuelSettings(rule))
        low, high = evidence.posterior(ModelOptions(draws=1000), seed).win_interval(0, 1)
        is_covered.append((low <= truth) & (truth <= high))
    coverage = np.mean(is_covered, axis=0)
    assert (coverage >= 0.93 - 2 * np.sqrt(0.93 * 0.07 / n_data_sets)).all()
    assert coverage.mean() >= 0.93
    assert coverage.mean() <= 0.98


def eliminated_in_a_race(grid: GridValues, rule: DuelRule, rules: Rules) -> set[str]:
    """The algorithms that a race on the problems of a grid eliminates, in their order."""
    results = grid.duel_results(DuelSettings(rule))
    assert results is not None
    present = np.zeros(grid.values.shape, dtype=np.int16)
    state = racing.start(NAMES, TIMES.tolist(), rules)
    while racing.open_questions(state) and state.seen < len(grid.instances):
        n_drawn = min(state.batch, len(grid.instances) - state.seen)
        used = slice(0, state.seen + n_drawn)
        record = duels_of(present[used], results=results[used]).record()
        tables = decide_by_duels(record, rules.epsilon, CONCENTRATION)
        state, _ = racing.step(state, rules, n_drawn, tables, record)
    return {*NAMES} - {*state.candidates}


@pytest.mark.slow
@pytest.mark.parametrize("rule", [DuelRule.COVERAGE, DuelRule.DOMINANCE])
def test_wrong_eliminations_are_at_most_as_frequent_as_alpha_allows(rule: DuelRule):
    rng = np.random.default_rng(11)
    rules = Rules(alpha=0.95).under(temporal=False)
    # At the last time the two are even, so that eliminating either is wrong.
    first_wins = np.array([0.9, 0.9, 0.5])
    n_races = 60
    n_wrong = sum(
        bool(eliminated_in_a_race(drawn(rng, 120, first_wins), rule, rules)) for _ in range(n_races)
    )
    assert n_wrong <= 0.05 * n_races


@pytest.mark.slow
def test_a_race_eliminates_a_worse_algorithm_in_spite_of_incomparable_duels():
    rng = np.random.default_rng(12)
    rules = Rules(alpha=0.95).under(temporal=False)
    first_wins = np.array([0.95, 0.95, 0.95])
    for _ in range(5):
        grid = drawn(rng, 400, first_wins)
        assert eliminated_in_a_race(grid, DuelRule.DOMINANCE, rules) == {"second"}
