"""Values and P(best) by duels: what the definition promises."""

import numpy as np
import pytest

from polarbear.inference import ModelOptions
from polarbear.inference.posterior_draws import Posterior
from polarbear.inference.strongest_rival import p_best, p_best_at_each_time, rival_values
from polarbear.rankings import rank
from tests.support import inferred_from

A, B, C = range(3)


def posterior_of(values: np.ndarray, **options: object) -> Posterior:
    """The default model's posterior of values[problem, algorithm, time]."""
    return inferred_from(rank(values), ModelOptions(**options))  # type: ignore[arg-type]


def from_orders(counts: dict[str, int]) -> np.ndarray:
    """Values of problems with these orders of A, B, C, from first to last."""
    rows = [["ABC".index(name) for name in order] for order, n in counts.items() for _ in range(n)]
    return np.array([np.argsort(row) for row in rows])[:, :, None].astype(float)


def test_the_algorithm_that_beats_all_others_is_the_best_though_another_is_first_more_often():
    """A is first on 42 %, but B beats A on 58 % and C on 72 %."""
    values = from_orders({"ABC": 420, "BCA": 300, "CBA": 280})
    found = posterior_of(values)
    assert found.theta.mean(axis=0)[0].argmax() == A
    assert p_best_at_each_time(found, [A, B, C])[0, B] > 0.99
    assert p_best_at_each_time(found, [A, B])[0, B] > 0.99


def test_clones_do_not_split_votes():
    rng = np.random.default_rng(2)
    values = rng.normal(size=(60, 2, 1)) + np.array([0.0, 0.4])[:, None]
    alone = p_best_at_each_time(posterior_of(values), [A, B])[0]
    clone = values[:, :1] + 1e-6 * rng.normal(size=(60, 1, 1))
    beside = p_best_at_each_time(posterior_of(np.concatenate([values, clone], axis=1)), [A, B, C])
    assert beside[0, [A, C]].sum() == pytest.approx(alone[A], abs=0.05)
    assert beside[0, B] == pytest.approx(alone[B], abs=0.05)


def test_under_plackett_luce_the_order_of_values_is_that_of_theta():
    values = np.random.default_rng(4).normal(size=(20, 4, 1)) + np.arange(4)[:, None] / 2
    found = posterior_of(values, model="dirichlet", draws=800)
    ranked = rival_values(found, range(4), lambda wins: wins[:, 0])
    assert ranked.shape == (800, 4)
    np.testing.assert_array_equal(ranked.argmax(axis=1), found.theta[:, 0].argmax(axis=1))


def test_values_are_the_lowest_over_all_rivals_and_ties_share_being_best():
    found = posterior_of(np.random.default_rng(5).normal(size=(12, 3, 2)))
    mean = rival_values(found, [A, B, C], lambda wins: wins.mean(axis=1))
    against = [found.head_to_head(A, rival).mean(axis=1) for rival in (B, C)]
    np.testing.assert_allclose(mean[:, A], np.minimum(*against), rtol=1e-6)
    assert p_best(np.array([[0.5, 0.5, 0.1], [0.2, 0.1, 0.1]])).tolist() == [0.75, 0.25, 0]
    assert rival_values(found, [B], lambda wins: wins.mean(axis=1)).tolist() == [[1.0]] * 4000
