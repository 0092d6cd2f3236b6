"""One choice, and what is said about it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from polarbear.errors import SelectionError
from polarbear.inference import ModelOptions, Posterior
from polarbear.inference.empirical.bootstrap import Bootstrap
from polarbear.inference.posterior_draws import Diagnostics
from polarbear.plain import plain
from polarbear.rankings.duels import duels_of
from polarbear.selection.choice import Selection, answer, select
from polarbear.selection.criteria import Risk, check_value
from polarbear.selection.portfolio_cover import PortfolioCover
from polarbear.selection.posterior_source import Basis, Contest
from polarbear.selection.preference import Context
from polarbear.selection.preference_parsing import read_preference

TIMES = np.array([1.0, 10.0])


def basis(wins: np.ndarray, joint: bool = True, problems: int = 40) -> Basis:
    """A posterior of win probabilities[draw, time, pair]."""
    draws, n_times, pairs = wins.shape
    n = (1 + round((1 + 8 * pairs) ** 0.5)) // 2
    judged = Diagnostics(1.0, float(draws), float(draws), 0, None, None, 1)
    unit, theta = np.linspace(0, 1, n_times), np.full((draws, n_times, n), 1 / n)
    facts = ModelOptions(), "native", "bootstrap", 1, 1.0, judged, joint
    shared = np.full((n_times, pairs), problems)
    posterior = Posterior(theta, 1, unit, *facts, wins=wins, shared=shared)
    names = tuple("ABCDE"[:n])
    return Basis(posterior, "key", "infer", names, TIMES, "evaluations", problems, None, ())


def chosen(
    wins: np.ndarray, risk: Risk = "p2bb", problems: int = 40, **options: object
) -> Selection:
    """A choice where win probabilities are as given: [draw, pair], the same at both times."""
    made = basis(np.repeat(wins[:, None, :], 2, axis=1), problems=problems)
    everything = Contest(tuple(range(len(made.algorithms))), (), "")
    contest = options.pop("contest", everything)
    preference, _ = read_preference("final")
    return select(made, contest, preference, Context(TIMES), risk, **options)  # type: ignore[arg-type]


# A beats B in two draws of three, but by little, and loses clearly in the third.
OFTEN_OR_SAFE = np.array([[0.51], [0.51], [0.1]] * 20)
# Of A and B, A and C, B and C: A beats both.
A_BEATS_ALL = np.array([[0.6, 0.7, 0.65]] * 10)


def test_a_criterion_that_prefers_another_is_named_with_what_the_choice_costs():
    made = chosen(OFTEN_OR_SAFE)
    assert made.name(made.choice) == "A"
    assert made.criteria.p2bb[made.choice] == pytest.approx(2 / 3)
    against = {found.criterion: found for found in made.disagreements()}
    assert set(against) == {"mean", "quantile", "regret"}
    assert {found.prefers for found in against.values()} == {"B"}
    mean = OFTEN_OR_SAFE.mean()
    assert against["mean"].cost == pytest.approx(1 - 2 * mean)
    assert against["regret"].cost == pytest.approx(against["mean"].cost)


@pytest.mark.parametrize("risk", ["p2bb", "mean"])
def test_a_difference_within_the_monte_carlo_error_is_noted(risk: Risk):
    rng = np.random.default_rng(1)
    close = rng.normal(0.5, 0.1, (400, 1))
    assert any("less than the Monte-Carlo error" in n for n in chosen(close, risk).notes())
    assert chosen(close + 0.1, risk).notes() == []


def test_an_algorithm_that_does_not_compete_is_shown_but_never_chosen():
    wins = np.array([[0.9, 0.9, 0.65]] * 10)
    contest = Contest((1, 2), (0,), "eliminated by the race")
    made = chosen(wins, contest=contest, everyone=True)
    assert made.name(made.choice) == "B"
    assert [made.name(item) for item in made.order] == ["A", "B", "C"]
    assert made.notes() == ["A comes first here, but does not compete"]
    hidden = chosen(wins, contest=contest)
    assert [hidden.name(item) for item in hidden.order] == ["B", "C"]
    shown = dict(zip(map(made.name, range(3)), made.criteria.p2bb, strict=True))
    alone = dict(zip(map(hidden.name, range(2)), hidden.criteria.p2bb, strict=True))
    assert (shown["B"], shown["C"]) == (alone["B"], alone["C"]) == (1, 0)


def test_values_are_win_rates_against_the_strongest_rival_with_their_problems():
    made = chosen(A_BEATS_ALL)
    assert made.criteria.mean == pytest.approx([0.6, 0.4, 0.3])
    assert [made.basis.algorithms[made.rivals[i] or 0] for i in range(3)] == ["B", "A", "A"]
    assert made.problems == (40, 40, 40)


def test_few_problems_are_too_early_for_a_choice():
    assert chosen(A_BEATS_ALL).too_early() is None
    few = chosen(A_BEATS_ALL, problems=9)
    assert few.too_early() == "only 9 problems to compare it on"
    assert few.statement().startswith("too early to say; A: P(best) = ")
    assert any("too early to recommend A" in note for note in few.notes())


def test_independent_times_are_warned_of_where_several_count():
    wins = np.random.default_rng(2).beta(9, 5, (50, 2, 1))
    contest = Contest((0, 1), (), "")
    for text, warned in (("uniform", True), ("worst-case", True), ("final", False)):
        preference, _ = read_preference(text)
        made = select(basis(wins, joint=False), contest, preference, Context(TIMES, joint=False))
        assert any("more certain than it is" in note for note in made.notes()) is warned


def test_the_statement_names_probability_problems_rival_and_regret():
    made = chosen(np.array([[0.6]] * 13 + [[0.3]]))
    assert made.statement() == (
        "A: P(best) = 0.93 on 40 problems; beats B, its strongest rival, on 58% of problems at "
        "this budget; expected regret 0.029, or 0.19 with B"
    )
    alone = chosen(A_BEATS_ALL, contest=Contest((0,), (1, 2), "not named by --algorithms"))
    assert alone.statement() == "A: no other algorithm competes"


def test_what_was_not_asked_for_is_no_key_and_the_rest_follows_in_order():
    made = chosen(OFTEN_OR_SAFE)
    told = answer(made, Contest((0, 1), (), ""))
    always = [
        "choice", "criterion", "preference", "preference_words", "statement", "value", "too_early",
        "gamma", "ranking", "disagreements", "candidates", "left_out", "left_out_because",
        "posterior", "notes",
    ]  # fmt: skip
    assert list(plain(told)) == always
    assert told.choice == told.ranking[0].algorithm == "A"
    assert plain(told)["posterior"]["from"] == told.posterior.from_ == "infer"
    # A is first on three instances of four, B on the other
    firsts = np.array([[0, 1], [0, 1], [0, 1], [1, 0]])
    duels = duels_of(np.repeat(firsts[:, :, None], len(TIMES), axis=2))
    cover = PortfolioCover(Bootstrap(duels, ("A", "B"), 400, 1, 2.0), (0, 1), made.valuation)
    told = replace(told, **vars(cover.best(("A", "B"), 1, "mean")))
    told = replace(told, value_of_information=made.information())
    assert list(plain(told))[len(always) :] == [
        "portfolio", "portfolio_ranking", "portfolios_possible", "portfolios_looked_at",
        "portfolio_search", "portfolio_values", "portfolio_has_winner", "next_slot_adds",
        "value_of_information",
    ]  # fmt: skip
    assert told.portfolio == ("A",)
    assert told.portfolios_looked_at == 2
    assert told.portfolio_has_winner == pytest.approx(2 / 3, abs=0.05)  # (3 + 1) of (4 + 2)
    assert told.next_slot_adds == pytest.approx(1 - told.portfolio_has_winner, abs=1e-5)
    assert told.value_of_information is not None
    assert told.value_of_information.gain == pytest.approx(told.ranking[0].regret)


def test_a_value_that_the_model_lacks_is_refused():
    empirical = chosen(A_BEATS_ALL).basis.posterior
    assert check_value("firsts", empirical) == "firsts"
    with pytest.raises(SelectionError, match="the empirical model has no value 'theta'"):
        check_value("theta", empirical)
    with pytest.raises(SelectionError, match="unknown value 'wins'"):
        check_value("wins", empirical)
    ratings = replace(empirical, options=ModelOptions(model="dirichlet"), wins=None)
    assert check_value("theta", ratings) == "theta"
    with pytest.raises(SelectionError, match="no value 'firsts'"):
        check_value("firsts", ratings)
