"""One choice, and what is said about it."""

from __future__ import annotations

import numpy as np
import pytest

from polarbear.inference import ModelOptions, Posterior
from polarbear.inference.diagnostics import Diagnostics
from polarbear.preferences import Context, read_preference
from polarbear.select import Basis, Contest, Risk, Selection, judge, select
from polarbear.select.words import statement

TIMES = np.array([1.0, 10.0])


def basis(theta: np.ndarray, joint: bool = True) -> Basis:
    size = float(len(theta))
    judged = Diagnostics(1.0, size, size, 0, None, None, 1)
    model = ModelOptions(model="gp" if joint else "dirichlet")
    posterior = Posterior(
        theta, 1, np.array([0.0, 1.0]), model, "native", "split-hmc", 1, 1.0, judged, joint
    )
    names = tuple("ABCDE"[: theta.shape[2]])
    return Basis(posterior, "key", "infer", names, TIMES, "evaluations", 5, None, ())


def chosen(values: np.ndarray, risk: Risk = "p2bb", **options: object) -> Selection:
    """A choice where V is as given: values[draw, item], the same at both times."""
    made = basis(np.repeat(values[:, None, :], 2, axis=1))
    everybody = Contest(tuple(range(values.shape[1])), (), "")
    contest = options.pop("contest", everybody)
    preference, _ = read_preference("final")
    return select(made, contest, preference, Context(TIMES), risk, **options)  # type: ignore[arg-type]


# Best in two draws of three, but by little, and far behind in the third.
OFTEN_OR_SAFE = np.array([[0.52, 0.5], [0.52, 0.5], [0.1, 0.5]] * 20)


def test_a_criterion_that_prefers_another_is_named_with_what_the_choice_costs():
    made = chosen(OFTEN_OR_SAFE)
    assert made.name(made.choice) == "A"
    against = {found.criterion: found for found in made.disagreements()}
    assert set(against) == {"mean", "quantile", "regret"}
    assert {made.name(found.prefers) for found in against.values()} == {"B"}
    assert against["mean"].cost == pytest.approx(0.5 - OFTEN_OR_SAFE[:, 0].mean())
    assert against["quantile"].cost == pytest.approx(0.4)
    assert against["regret"].cost == pytest.approx(against["mean"].cost)


def test_criteria_that_agree_say_nothing():
    assert chosen(np.array([[0.6, 0.4], [0.7, 0.3]])).disagreements() == []


@pytest.mark.parametrize("risk", ["p2bb", "mean"])
def test_a_difference_that_the_draws_cannot_tell_is_said(risk: Risk):
    rng = np.random.default_rng(1)
    close = rng.normal(0.5, 0.1, (400, 2))
    assert any("differ by less than the draws can tell" in n for n in chosen(close, risk).notes())
    apart = close + np.array([0.1, 0.0])
    assert chosen(apart, risk).notes() == []


def test_who_does_not_compete_is_shown_but_never_chosen():
    values = np.array([[0.5, 0.3, 0.2]] * 10)
    contest = Contest((1, 2), (0,), "eliminated by the race")
    made = chosen(values, contest=contest, everyone=True)
    assert made.name(made.choice) == "B"
    assert [made.name(item) for item in made.order] == ["A", "B", "C"]
    assert made.notes() == ["A comes first here, but does not compete"]
    hidden = chosen(values, contest=contest)
    assert [hidden.name(item) for item in hidden.order] == ["B", "C"]
    assert hidden.criteria.p2bb.tolist() == judge(values[:, 1:]).p2bb.tolist()


def test_independent_times_are_warned_of_where_several_count():
    theta = np.random.default_rng(2).dirichlet([5.0, 1.0], size=(50, 2))
    contest = Contest((0, 1), (), "")
    for text, warned in (("uniform", True), ("worst-case", True), ("final", False)):
        preference, _ = read_preference(text)
        made = select(basis(theta, joint=False), contest, preference, Context(TIMES, joint=False))
        assert any("surer than it is" in note for note in made.notes()) is warned


def test_it_is_said_in_a_sentence():
    values = np.array([[0.6, 0.4]] * 13 + [[0.3, 0.7]])
    made = chosen(values)
    assert statement(made) == (
        "A: first on 58% of instances at this budget; that this is the most of all is 0.93 sure; "
        "expected regret 0.029, or 0.19 if you take B instead"
    )
    apart = np.array([[0.6, 0.4, 0.1]] * 14)  # one who is out has its share among those and itself
    assert statement(chosen(apart, contest=Contest((0, 1), (2,), "out"))).startswith(
        "A: first among those still in on 60% of instances at this budget; "
    )
    alone = chosen(values, contest=Contest((0,), (1,), "not among those asked for"))
    assert statement(alone) == "A: nobody else competes"
