"""Win rates of algorithms whose feasibility differs early, compared with their truth."""

import numpy as np
import pytest

from polarbear.facts.evidence import ranked
from polarbear.inference import ModelOptions
from polarbear.rankings import GridValues

TIMES = np.array([1.0, 2.0, 3.0])
FEASIBLE = np.array([[0.2, 0.8, 1.0], [0.1, 0.3, 0.9]])  # the probability for each algorithm
BETTER_VALUE = 0.3  # the probability that the first has the better value if both are feasible
LESS_VIOLATION = 0.6  # and the probability that it has less violation if both are infeasible
N_PROBLEMS = 40
N_DATA_SETS = 400


def true_win_rates() -> np.ndarray:
    first, second = FEASIBLE
    both = first * second * BETTER_VALUE
    neither = (1 - first) * (1 - second) * LESS_VIOLATION
    return np.asarray(first * (1 - second) + both + neither)


def drawn(rng: np.random.Generator) -> GridValues:
    """Outcomes of the two on some problems; infeasible values are far better than feasible ones."""
    shape = (N_PROBLEMS, 2, len(TIMES))
    is_feasible = rng.random((N_PROBLEMS, 2, 1)) < FEASIBLE
    has_better_value = rng.random((N_PROBLEMS, 1, 1)) < BETTER_VALUE
    has_less_violation = rng.random((N_PROBLEMS, 1, 1)) < LESS_VIOLATION
    is_first = np.array([True, False])[np.newaxis, :, np.newaxis]
    values = np.where(has_better_value == is_first, 1.0, 2.0) * np.ones(shape)
    values[~is_feasible] = -50 - rng.random(int((~is_feasible).sum()))
    amounts = np.where(has_less_violation == is_first, 1.0, 2.0)
    violations = np.where(is_feasible, 0.0, amounts)
    names = tuple(f"i{number}" for number in range(N_PROBLEMS))
    return GridValues(names, ("first", "second"), TIMES, values, violations)


@pytest.mark.slow
def test_intervals_of_win_rates_cover_the_truth():
    rng = np.random.default_rng(7)
    unit_times = np.linspace(0, 1, len(TIMES))
    is_covered = []
    for seed in range(N_DATA_SETS):
        posterior = ranked(drawn(rng), unit_times).posterior(ModelOptions(draws=1000), seed)
        low, high = posterior.win_interval(0, 1)
        is_covered.append((low <= true_win_rates()) & (true_win_rates() <= high))
    standard_error = np.sqrt(0.95 * 0.05 / N_DATA_SETS)
    coverage = np.mean(is_covered, axis=0)
    assert (coverage > 0.95 - 3 * standard_error).all()
    assert coverage.mean() < 0.98
