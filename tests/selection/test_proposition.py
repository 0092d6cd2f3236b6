"""With theta known exactly: an algorithm is optimal for some preference iff it is undominated."""

import numpy as np

from polarbear.selection.criteria import Criteria
from polarbear.selection.criterion_names import Risk
from polarbear.selection.posterior_source import undominated
from polarbear.selection.preference import Context, Valuation
from polarbear.selection.preference_parsing import read_preference
from tests.selection.test_posterior_source import undominated_by_loops
from tests.support import posterior_of

TIMES = np.geomspace(10.0, 1000.0, 6)


def additive(weights: np.ndarray, powers: np.ndarray) -> Valuation:
    """sum_t w_t theta_t^p_t, squeezed by an increasing function."""
    return Valuation(
        lambda theta: np.tanh((weights[:, None] * theta ** powers[:, None]).sum(axis=1))
    )


def shifted(shift: np.ndarray, scale: np.ndarray) -> Valuation:
    """min_t (theta_t - c_t) / s_t: the paper's u*, and scaled forms of it."""
    return Valuation(lambda theta: ((theta - shift[:, None]) / scale[:, None]).min(axis=1))


def random_preference(rng: np.random.Generator) -> Valuation:
    """A strictly monotone preference of one of many kinds."""
    n = len(TIMES)
    context = Context(TIMES)
    kind = rng.integers(4)
    if kind == 0:
        return additive(rng.exponential(size=n), rng.uniform(0.2, 3.0, n))
    if kind == 1:
        return shifted(rng.uniform(0, 0.5, n), rng.uniform(0.1, 2.0, n))
    a, b = np.sort(rng.uniform(10, 1000, 2))
    texts = [
        f"at {a}",
        f"between {a} and {b}",
        f"normal {b} {a}",
        f"lognormal {a} {rng.uniform(0.1, 2)}",
        f"triangular {a} {(a + b) / 2} {b}",
        f"exponential {a}",
        "worst-case",
        "uniform",
        "log-uniform",
    ]
    if kind == 2:
        return read_preference(str(rng.choice(texts)))[0].on(context)
    first, second = rng.choice(texts, 2, replace=False)
    share = rng.uniform(0.05, 0.95)
    return read_preference(f"{share} * {first} + {1 - share} * {second}")[0].on(context)


def curves(rng: np.random.Generator) -> np.ndarray:
    """True ratings theta[time, item], smooth enough that some items are dominated."""
    level = rng.normal(0, 1.0, (1, 6))
    slope = rng.normal(0, 0.7, (1, 6))
    logits = level + slope * np.linspace(-1, 1, len(TIMES))[:, None]
    return np.asarray(np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True))


def test_the_choice_is_right_and_undominated_for_a_thousand_random_preferences():
    rng = np.random.default_rng(11)
    dominated_ones = 0
    for _ in range(1000):
        theta = curves(rng)
        u = random_preference(rng)
        worth = [u.values(theta[None, :, i : i + 1]).item() for i in range(theta.shape[1])]
        criteria = Criteria(u.values(theta[None]))
        true_set = set(undominated_by_loops(theta[None], alpha=1.0))
        dominated_ones += theta.shape[1] - len(true_set)
        for risk in Risk:
            choice = criteria.best(risk)
            assert worth[choice] == max(worth)
            assert choice in true_set
    assert dominated_ones > 500  # there was something to avoid


def test_every_member_of_the_pareto_set_is_the_choice_of_some_preference():
    rng = np.random.default_rng(12)
    for _ in range(200):
        theta = curves(rng)
        true_set = set(undominated_by_loops(theta[None], alpha=1.0))
        assert set(undominated(posterior_of(np.stack([theta, theta])))) == true_set
        for member in range(theta.shape[1]):
            u = shifted(theta[:, member], np.ones(len(TIMES)))
            best = Criteria(u.values(theta[None])).best("mean")
            assert (best == member) == (member in true_set)
