"""Portfolios by coverage."""

from dataclasses import fields
from itertools import combinations

import numpy as np
import pytest

from polarbear.inference.empirical.bootstrap import Bootstrap
from polarbear.rankings.duels import duels_of
from polarbear.selection.choice import Answer
from polarbear.selection.portfolio_cover import PortfolioCover
from polarbear.selection.preference import Context
from polarbear.selection.preference_parsing import read_preference

TIMES = np.array([10.0, 100.0])


def cover(orders: list[list[int]], preference: str = "uniform") -> PortfolioCover:
    places = np.array([np.argsort(order) for order in orders])
    positions = np.repeat(places[:, :, None], len(TIMES), axis=2)
    names = [str(i) for i in range(places.shape[1])]
    bootstrap = Bootstrap(duels_of(positions), names, 800, 1, 2.0)
    parsed_preference, _ = read_preference(preference)
    valuation = parsed_preference.on(Context(TIMES, "evaluations", joint=True))
    return PortfolioCover(bootstrap, range(places.shape[1]), valuation)


def best(portfolios: PortfolioCover, names: str, size: int) -> Answer:
    blank = dict.fromkeys(field.name for field in fields(Answer))
    fields_of_answer = {"candidates": tuple(names), "criterion": "mean", "gamma": 0.05}
    return portfolios.add_best(Answer(**{**blank, **fields_of_answer}), size)


# A or B wins on every instance; C is always second, so it is never the one to have.
EITHER = [[0, 2, 1]] * 60 + [[1, 2, 0]] * 40


def test_two_slots_go_to_the_two_algorithms_that_win_all_problems_together():
    portfolios = cover(EITHER)
    assert best(portfolios, "ABC", 2).portfolio == ("A", "B")
    assert portfolios.has_winner((0, 1)) > 0.97
    assert portfolios.has_winner((0,)) == pytest.approx(0.6, abs=0.05)


def test_slots_beyond_the_candidates_repeat_the_best():
    assert best(cover(EITHER), "ABC", 5).portfolio == tuple("AAABC")


def test_sets_are_ranked_as_counting_ranks_them():
    rng = np.random.default_rng(3)
    orders = [list(rng.permutation(5)) for _ in range(400)]
    portfolios = cover(orders)
    values = {
        pair: np.mean([order[0] in pair for order in orders]) for pair in combinations(range(5), 2)
    }
    chosen = best(portfolios, "01234", 2)
    assert chosen.portfolio_search == "exhaustive"
    assert chosen.portfolios_looked_at == chosen.portfolios_possible == 10
    assert tuple(map(int, chosen.portfolio)) == max(values, key=values.__getitem__)
    assert chosen.portfolio_ranking[0].mean == pytest.approx(max(values.values()), abs=0.03)


def test_many_candidates_are_searched_greedily_and_well():
    """Thirteen candidates, six slots: 1,716 sets. Each of the first six wins a tenth or more."""
    rng = np.random.default_rng(5)
    shares = np.array([0.2, 0.18, 0.16, 0.14, 0.12, 0.1] + [0.1 / 7] * 7)
    orders = []
    for _ in range(600):
        first = rng.choice(13, p=shares)
        rest = [int(i) for i in rng.permutation(13) if i != first]
        orders.append([int(first), *rest])
    chosen = best(cover(orders), "ABCDEFGHIJKLM", 6)
    assert chosen.portfolios_looked_at < chosen.portfolios_possible == 1716
    assert chosen.portfolio == tuple("ABCDEF")
