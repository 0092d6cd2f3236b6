"""Values and P(best) by duels against the strongest rival."""

import numpy as np
import pytest

from polarbear.inference import ModelOptions
from polarbear.inference.posterior_draws import Posterior
from polarbear.inference.strongest_rival import p_best, p_best_at_each_time, rival_values
from polarbear.rankings import rank
from tests.support import inferred_from

A, B, C = range(3)


def posterior_of(values: np.ndarray, **options: object) -> Posterior:
    """The posterior of the default model, given values[problem, algorithm, time]."""
    return inferred_from(rank(values), ModelOptions(**options))  # type: ignore[arg-type]


def values_of_orders(counts: dict[str, int]) -> np.ndarray:
    """Values of problems with the given numbers of orders of A, B, C, from first to last."""
    rows: list[np.ndarray] = []
    for order, n_problems in counts.items():
        ranks = [order.index(name) for name in "ABC"]
        rows += [np.array(ranks, dtype=float)] * n_problems
    return np.array(rows)[:, :, None]


def test_the_best_algorithm_beats_all_others_even_if_another_is_first_more_often():
    """A is first on 42 %, but B beats A on 58 % and C on 72 %."""
    values = values_of_orders({"ABC": 420, "BCA": 300, "CBA": 280})
    posterior = posterior_of(values)
    assert posterior.theta.mean(axis=0)[0].argmax() == A
    assert p_best_at_each_time(posterior, [A, B, C])[0, B] > 0.99
    assert p_best_at_each_time(posterior, [A, B])[0, B] > 0.99


def test_clones_do_not_split_votes():
    rng = np.random.default_rng(2)
    values = rng.normal(size=(60, 2, 1)) + np.array([0.0, 0.4])[:, None]
    without_clone = p_best_at_each_time(posterior_of(values), [A, B])[0]
    clone = values[:, :1] + 1e-6 * rng.normal(size=(60, 1, 1))
    posterior = posterior_of(np.concatenate([values, clone], axis=1))
    with_clone = p_best_at_each_time(posterior, [A, B, C])[0]
    assert with_clone[[A, C]].sum() == pytest.approx(without_clone[A], abs=0.05)
    assert with_clone[B] == pytest.approx(without_clone[B], abs=0.05)


def test_under_plackett_luce_the_order_of_values_is_that_of_theta():
    values = np.random.default_rng(4).normal(size=(20, 4, 1)) + np.arange(4)[:, None] / 2
    posterior = posterior_of(values, model="dirichlet", draws=800)
    draws_of_values = rival_values(posterior, range(4), lambda wins: wins[:, 0])
    assert draws_of_values.shape == (800, 4)
    np.testing.assert_array_equal(
        draws_of_values.argmax(axis=1), posterior.theta[:, 0].argmax(axis=1)
    )


def test_values_are_the_lowest_over_all_rivals_and_ties_share_p_best():
    posterior = posterior_of(np.random.default_rng(5).normal(size=(12, 3, 2)))
    draws_of_values = rival_values(posterior, [A, B, C], lambda wins: wins.mean(axis=1))
    against_b = posterior.head_to_head(A, B).mean(axis=1)
    against_c = posterior.head_to_head(A, C).mean(axis=1)
    np.testing.assert_allclose(draws_of_values[:, A], np.minimum(against_b, against_c), rtol=1e-6)
    assert p_best(np.array([[0.5, 0.5, 0.1], [0.2, 0.1, 0.1]])).tolist() == [0.75, 0.25, 0]
    without_rival = rival_values(posterior, [B], lambda wins: wins.mean(axis=1))
    assert without_rival.tolist() == [[1.0]] * 4000
