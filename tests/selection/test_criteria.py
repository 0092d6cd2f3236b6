"""The four criteria against plain loops over draws, and against closed forms."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import stats
from scipy.integrate import quad

from polarbear.selection.criteria import Criteria
from polarbear.selection.preference import Context
from polarbear.selection.preference_parsing import read_preference


def looped(values: np.ndarray, gamma: float) -> dict[str, list[float]]:
    """The criteria one draw and one item at a time."""
    draws, items = values.shape
    p2bb = [0.0] * items
    mean = [0.0] * items
    regret = [0.0] * items
    for row in values.tolist():
        best = max(row)
        winners = [i for i in range(items) if row[i] == best]
        for i in range(items):
            mean[i] += row[i] / draws
            regret[i] += (best - row[i]) / draws
        for i in winners:
            p2bb[i] += 1 / len(winners) / draws
    quantile = []
    for i in range(items):
        ordered = sorted(values[:, i].tolist())
        position = gamma * (draws - 1)
        low = int(position)
        high = min(low + 1, draws - 1)
        quantile.append(ordered[low] + (position - low) * (ordered[high] - ordered[low]))
    return {"p2bb": p2bb, "mean": mean, "quantile": quantile, "regret": regret}


@settings(max_examples=80, deadline=None, derandomize=True)
@given(
    values=hnp.arrays(
        np.float64,
        st.tuples(st.integers(1, 30), st.integers(1, 6)),
        # few distinct values, so that ties are common
        elements=st.sampled_from([0.0, 0.1, 0.2, 0.25, 0.5, 0.9, 1.0]),
    ),
    gamma=st.floats(0.01, 0.99),
)
def test_they_agree_with_plain_loops_and_ties_are_shared(values: np.ndarray, gamma: float):
    criteria = Criteria(values, gamma)
    for name, expected in looped(values, gamma).items():
        assert getattr(criteria, name) == pytest.approx(expected, rel=1e-9, abs=1e-12), name
    assert criteria.p2bb.sum() == pytest.approx(1.0)


def test_two_algorithms_agree_with_the_beta_distribution():
    """theta_A ~ Beta(a, b), theta_B = 1 - theta_A, 400,000 independent draws.

    Each figure within five Monte-Carlo standard errors: error below 1e-5 for the whole test.
    """
    rng = np.random.default_rng(7)
    size = 400_000
    gamma = 0.05
    for a, b in [(3.0, 2.0), (1.5, 6.0)]:
        law = stats.beta(a, b)
        first = rng.beta(a, b, size)
        theta = np.stack([first, 1 - first], axis=1)[:, None, :]
        preference, _ = read_preference("final")
        criteria = Criteria(preference.on(Context(np.array([1.0]))).values(theta), gamma)
        p_best = law.sf(0.5)
        error = np.sqrt(p_best * (1 - p_best) / size)
        assert criteria.p2bb[0] == pytest.approx(p_best, abs=5 * error)
        assert criteria.mean[0] == pytest.approx(a / (a + b), abs=5 * law.std() / np.sqrt(size))
        quantile = law.ppf(gamma)
        error = np.sqrt(gamma * (1 - gamma) / size) / law.pdf(quantile)
        assert criteria.quantile[0] == pytest.approx(quantile, abs=5 * error)
        # E[max(theta_B - theta_A, 0)] = integral of (1 - 2 x) p(x) below one half
        regret, _ = quad(lambda x, law=law: (1 - 2 * x) * law.pdf(x), 0, 0.5)
        assert criteria.regret[0] == pytest.approx(regret, abs=5 * 2 * law.std() / np.sqrt(size))
