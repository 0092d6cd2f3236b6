"""Portfolios by coverage."""

from itertools import combinations

import numpy as np
import pytest

from polarbear.inference.empirical.bootstrap import Bootstrap
from polarbear.rankings.duels import duels_of
from polarbear.selection.portfolio_cover import PortfolioCover
from polarbear.selection.preference import Context
from polarbear.selection.preference_parsing import read_preference

TIMES = np.array([10.0, 100.0])


def cover(orders: list[list[int]], preference: str = "uniform") -> PortfolioCover:
    places = np.array([np.argsort(order) for order in orders])
    positions = np.repeat(places[:, :, None], len(TIMES), axis=2)
    names = [str(i) for i in range(places.shape[1])]
    bootstrap = Bootstrap(duels_of(positions), names, 800, 1, 2.0)
    wanted, _ = read_preference(preference)
    valuation = wanted.on(Context(TIMES, "evaluations", joint=True))
    return PortfolioCover(bootstrap, range(places.shape[1]), valuation)


# A or B wins on every instance; C is always second, so it is never the one to have.
EITHER = [[0, 2, 1]] * 60 + [[1, 2, 0]] * 40


def test_two_slots_go_to_the_two_algorithms_that_win_all_problems_together():
    found = cover(EITHER)
    assert found.best("ABC", 2, "mean").portfolio == ("A", "B")
    assert found.has_winner((0, 1)) > 0.97
    assert found.has_winner((0,)) == pytest.approx(0.6, abs=0.05)


def test_slots_beyond_the_candidates_repeat_the_best():
    assert cover(EITHER).best("ABC", 5, "mean").portfolio == tuple("AAABC")


def test_sets_are_ranked_as_counting_ranks_them():
    rng = np.random.default_rng(3)
    orders = [list(rng.permutation(5)) for _ in range(400)]
    found = cover(orders)
    values = {
        chosen: np.mean([order[0] in chosen for order in orders])
        for chosen in combinations(range(5), 2)
    }
    best = found.best("01234", 2, "mean")
    assert best.portfolio_search == "exhaustive"
    assert best.portfolios_looked_at == best.portfolios_possible == 10
    assert tuple(map(int, best.portfolio)) == max(values, key=values.__getitem__)
    assert best.portfolio_ranking[0].mean == pytest.approx(max(values.values()), abs=0.03)


def test_many_candidates_are_searched_greedily_and_well():
    """Thirteen candidates, six slots: 1,716 sets. Each of the first six wins a tenth or more."""
    rng = np.random.default_rng(5)
    shares = np.array([0.2, 0.18, 0.16, 0.14, 0.12, 0.1] + [0.1 / 7] * 7)
    orders = []
    for _ in range(600):
        first = rng.choice(13, p=shares)
        rest = [int(i) for i in rng.permutation(13) if i != first]
        orders.append([int(first), *rest])
    best = cover(orders).best("ABCDEFGHIJKLM", 6, "mean")
    assert best.portfolios_looked_at < best.portfolios_possible == 1716
    assert best.portfolio == tuple("ABCDEF")
