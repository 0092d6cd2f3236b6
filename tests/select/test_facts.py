"""A choice as a record: its fields are what JSON shows."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import numpy as np
import pytest

from polarbear.inference.empirical.bootstrap import Bootstrap
from polarbear.plain import plain
from polarbear.preferences import Context, read_preference
from polarbear.rankings.duels import duels_of
from polarbear.select import Contest, facts, sweep
from polarbear.select.portfolio_cover import PortfolioCover
from tests.select.test_selection import OFTEN_OR_SAFE, TIMES, chosen

EVERYBODY = Contest((0, 1), (), "")
ALWAYS = [
    "choice", "criterion", "preference", "preference_words", "statement", "value",
    "too_early", "gamma", "ranking",
    "disagreements", "candidates", "left_out", "left_out_because", "posterior", "notes",
]  # fmt: skip


def test_what_was_not_asked_for_is_no_key():
    told = facts.answer(chosen(OFTEN_OR_SAFE), EVERYBODY)
    assert list(plain(told)) == ALWAYS
    assert told.sweep is None


def test_it_names_the_choice_and_ranks_everyone():
    told = facts.answer(chosen(OFTEN_OR_SAFE), EVERYBODY)
    assert told.choice == told.ranking[0].algorithm == "A"
    assert told.ranking[0].p2bb == pytest.approx(2 / 3)
    assert [other.prefers for other in told.disagreements] == ["B", "B", "B"]
    assert told.left_out_because is None
    assert plain(told)["posterior"]["from"] == told.posterior.from_ == "infer"


def test_a_record_cannot_be_changed():
    told = facts.answer(chosen(OFTEN_OR_SAFE), EVERYBODY)
    with pytest.raises(FrozenInstanceError):
        told.choice = "B"  # type: ignore[misc]


def test_portfolios_information_and_a_sweep_follow_in_this_order():
    made = chosen(OFTEN_OR_SAFE)
    told = facts.answer(made, EVERYBODY)
    # A is first on three instances of four, B on the other
    firsts = np.array([[0, 1], [0, 1], [0, 1], [1, 0]])
    duels = duels_of(np.repeat(firsts[:, :, None], len(TIMES), axis=2))
    cover = PortfolioCover(Bootstrap(duels, ("A", "B"), 400, 1, 2.0), (0, 1), made.valuation)
    best = cover.best(1, "mean")
    told = facts.with_portfolios(told, best, cover)
    told = facts.with_information(told, made)
    variations = read_preference("at 5")[0].variations(Context(TIMES))
    told = facts.with_sweep(told, sweep(made.basis.posterior, (0, 1), variations, "p2bb"))
    assert list(plain(told))[len(ALWAYS) :] == [
        "portfolio", "portfolio_ranking", "portfolios_possible", "portfolios_looked_at",
        "portfolio_search", "portfolio_values", "portfolio_has_winner", "next_slot_adds",
        "value_of_information", "sweep",
    ]  # fmt: skip
    assert told.portfolio == ("A",)
    assert told.portfolios_looked_at == 2
    assert told.portfolio_has_winner == pytest.approx(2 / 3, abs=0.05)  # (3 + 1) of (4 + 2)
    assert told.next_slot_adds == pytest.approx(1 - told.portfolio_has_winner, abs=1e-5)
    assert told.value_of_information is not None
    assert told.value_of_information.gain == pytest.approx(told.ranking[0].regret)
    assert told.sweep is not None
    assert set(told.sweep.choices) == {"A"}
    likely = np.array([told.sweep.p2bb[name] for name in ("A", "B")])
    np.testing.assert_allclose(likely.sum(axis=0), 1, atol=1e-6)
