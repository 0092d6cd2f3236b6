"""Races of algorithms whose feasibility differs early eliminate nobody wrongly."""

import numpy as np
import pytest
from replay import by_duels, replay
from scipy.stats import binom

from polarbear.racing.rules import Rules
from polarbear.rankings import outcomes

NAMES = ("early", "late", "beaten", "as early")
ALPHA = 0.95
TIMES = np.array([1.0, 2.0, 4.0, 8.0])
MEAN_TIME_TO_FEASIBILITY = np.array([1.5, 6.0, 3.0, 1.5])
LEVEL = np.array([0.0, -2.5, 0.4, 0.0])  # of feasible values, of which smaller is better
N_OF_TRUTH = 20_000
EVEN = 0.02  # win rates this close to a half count as even in a sample of that size


def drawn(rng: np.random.Generator, n_instances: int) -> np.ndarray:
    """Outcomes[instance, algorithm, time] as their ordinal numbers on each instance.

    A run that is not feasible yet has the best values of all, and less violation with every step.
    """
    shape = (n_instances, len(NAMES))
    feasible_from = rng.exponential(MEAN_TIME_TO_FEASIBILITY, shape)[:, :, np.newaxis]
    is_feasible = feasible_from <= TIMES
    final_values = (LEVEL + rng.standard_normal(shape))[:, :, np.newaxis]
    values = np.where(is_feasible, final_values, -100.0)
    violations = np.where(is_feasible, 0.0, feasible_from - TIMES)
    return np.stack(
        [
            outcomes.ordinals(value.ravel(), violation.ravel()).reshape(value.shape)
            for value, violation in zip(values, violations, strict=True)
        ]
    )


def true_win_rates() -> np.ndarray:
    """The share of instances on which a beats b, a draw counting as half: [a, b, time]."""
    sample = drawn(np.random.default_rng(0), N_OF_TRUTH)
    wins = sample[:, :, np.newaxis] < sample[:, np.newaxis]
    losses = sample[:, :, np.newaxis] > sample[:, np.newaxis]
    return np.asarray(0.5 + 0.5 * (wins.mean(axis=0) - losses.mean(axis=0)))


def eliminations(n_races: int, n_instances: int) -> list[tuple[str, str]]:
    """The pairs (eliminated, eliminator) of many races."""
    rules = Rules(alpha=ALPHA).under(temporal=False)
    pairs = []
    for seed in range(n_races):
        outcomes_of_race = drawn(np.random.default_rng([seed, 1]), n_instances)
        replayed = replay(outcomes_of_race, NAMES, TIMES, rules, by_duels(rules), False)
        pairs += [(each.algorithm, each.by) for each in replayed.state.eliminated]
    return pairs


@pytest.mark.parametrize(
    ("n_races", "n_instances"), [(12, 150), pytest.param(200, 400, marks=pytest.mark.slow)]
)
def test_eliminations_are_right_as_often_as_promised(n_races: int, n_instances: int):
    """If the procedure is calibrated, it fails for less than 1 % of all seeds."""
    win_rates = true_win_rates()
    assert win_rates[0, 1, 0] > 0.6 > 0.4 > win_rates[0, 1, -1], "the two cross"
    assert np.abs(win_rates[0, 3] - 0.5).max() < EVEN
    assert (win_rates[0, 2] > 0.5 + EVEN).all()
    pairs = eliminations(n_races, n_instances)
    is_wrong = [
        not (win_rates[NAMES.index(by), NAMES.index(loser)] > 0.5 + EVEN).all()
        for loser, by in pairs
    ]
    n_beaten = sum(loser == "beaten" for loser, _ in pairs)
    assert n_beaten > n_races / 3, "races do eliminate"
    assert sum(is_wrong) <= binom.ppf(0.99, len(pairs), 1 - ALPHA)
