"""One choice, and what is said about it."""

from dataclasses import replace

import numpy as np
import pytest

from polarbear.errors import SelectionError
from polarbear.inference import ModelOptions
from polarbear.selection.choice import Selection, select
from polarbear.selection.criteria import check_value
from polarbear.selection.criterion_names import Risk
from polarbear.selection.posterior_source import Basis, Contest
from polarbear.selection.preference import Context
from polarbear.selection.preference_parsing import read_preference
from tests.support import posterior_of

TIMES = np.array([1.0, 10.0])


def basis(wins: np.ndarray, joint: bool = True, problems: int = 40) -> Basis:
    """A posterior of win probabilities[draw, time, pair]."""
    draws, n_times, pairs = wins.shape
    n = (1 + round((1 + 8 * pairs) ** 0.5)) // 2
    theta = np.full((draws, n_times, n), 1 / n)
    shared = np.full((n_times, pairs), problems)
    posterior = posterior_of(
        theta,
        algorithms=tuple("ABCDE"[:n]),
        times=TIMES,
        instances=problems,
        key="key",
        method="bootstrap",
        joint=joint,
        wins=wins,
        shared=shared,
    )
    return Basis(posterior, source="infer", pareto_set=None, notes=())


def chosen(
    wins: np.ndarray, risk: Risk = Risk.P2BB, problems: int = 40, **options: object
) -> Selection:
    """A choice where win probabilities are as given: [draw, pair], the same at both times."""
    posterior_basis = basis(np.repeat(wins[:, None, :], 2, axis=1), problems=problems)
    everything = Contest(tuple(range(len(posterior_basis.algorithms))), (), "")
    contest = options.pop("contest", everything)
    preference, _ = read_preference("final")
    return select(posterior_basis, contest, preference, Context(TIMES), risk, **options)  # type: ignore[arg-type]


# P(first better) of the pairs (A, B), (A, C) and (B, C).
A_BEATS_ALL = np.array([[0.6, 0.7, 0.65]] * 10)


@pytest.mark.parametrize("risk", ["p2bb", "mean"])
def test_a_difference_within_the_monte_carlo_error_is_noted(risk: Risk):
    rng = np.random.default_rng(1)
    close = rng.normal(0.5, 0.1, (400, 1))
    assert any("less than the Monte-Carlo error" in n for n in chosen(close, risk).notes())
    assert chosen(close + 0.1, risk).notes() == []


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
        selection = select(
            basis(wins, joint=False), contest, preference, Context(TIMES, joint=False)
        )
        assert any("more certain than it is" in note for note in selection.notes()) is warned


def test_the_statement_names_probability_problems_rival_and_regret():
    selection = chosen(np.array([[0.6]] * 13 + [[0.3]]))
    assert selection.statement() == (
        "A: P(best) = 0.93 on 40 problems; beats B, its strongest rival, on 58% of problems at "
        "this budget; expected regret 0.029, or 0.19 with B"
    )
    alone = chosen(A_BEATS_ALL, contest=Contest((0,), (1, 2), "not named by --algorithms"))
    assert alone.statement() == "A: no other algorithm competes"


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
