"""What is open about the choice, compared with loops over draws, times and problems."""

from dataclasses import replace

import numpy as np
import pytest

from polarbear import racing as race
from polarbear.facts.evidence import Evidence, ranked
from polarbear.inference import ModelOptions, Posterior
from polarbear.racing.anytime_bound import log_wealth
from polarbear.racing.choosing import asks_the_same, judged, unanswered
from polarbear.racing.recommendation import MIN_PROBLEMS
from polarbear.racing.rules import Rules
from polarbear.rankings import GridValues
from polarbear.selection.preference import Context
from polarbear.selection.preference_parsing import read_preference
from polarbear.selection.preference_purpose import PreferencePurpose

TIMES = np.array([1.0, 2.0, 3.0, 4.0])
NAMES = ("A", "B", "C", "D")
# Means of the values over time, of which smaller is better: A is early, B late, D always behind.
MEANS = np.array([[0, 0, 1, 1.5], [1, 0.2, 0, 0], [0.4, 0.4, 0.4, 0.4], [2, 2, 2, 2]])


def evidence_from(n_problems: int, seed: int = 0, last: dict[str, int] | None = None) -> Evidence:
    """Values on problems; ``last`` is the number of times up to which an algorithm ran."""
    rng = np.random.default_rng(seed)
    values = MEANS + rng.standard_normal((n_problems, len(NAMES), len(TIMES)))
    for name, n_times in (last or {}).items():
        values[:, NAMES.index(name), n_times:] = np.nan
    ids = tuple(f"p{i}" for i in range(n_problems))
    return ranked(GridValues(ids, NAMES, TIMES, values), np.linspace(0, 1, len(TIMES)))


def posterior_of(evidence: Evidence) -> Posterior:
    return evidence.posterior(ModelOptions(draws=400), seed=1)


def purpose_of(text: str, threshold: float = 0.01) -> PreferencePurpose:
    return PreferencePurpose(read_preference(text)[0], Context(TIMES), threshold)


def wins_of(posterior: Posterior, a: int, b: int, draw: int, t: int) -> float:
    return float(posterior.head_to_head(a, b)[draw, t])


def values_at(posterior: Posterior, t: int) -> np.ndarray:
    """The win rate against the strongest rival, by loops: [draw, algorithm]."""
    n = len(NAMES)
    return np.array(
        [
            [min(wins_of(posterior, a, b, draw, t) for b in range(n) if b != a) for a in range(n)]
            for draw in range(posterior.draws)
        ]
    )


def judge(purposes, rules: Rules, evidence: Evidence) -> race.State:
    state = unanswered(race.start(NAMES, TIMES.tolist(), rules), purposes, rules)
    return judged(state, purposes, rules, posterior_of(evidence), evidence.duels)


@pytest.mark.parametrize("n_problems", [6, 12])
@pytest.mark.parametrize("threshold", [0.002, 0.02])
def test_a_choice_is_open_where_its_expected_regret_is_above_the_threshold(n_problems, threshold):
    rules = Rules(regret=threshold)
    evidence = evidence_from(n_problems)
    posterior = posterior_of(evidence)
    (question,) = judge([], rules, evidence).choices
    assert (question.preference, question.threshold) == (None, threshold)
    for t, time in enumerate(TIMES):
        values = values_at(posterior, t)
        best = values == values.max(axis=1, keepdims=True)
        share_best = (best / best.sum(axis=1, keepdims=True)).mean(axis=0)
        choice = int(share_best.argmax())
        lost = values.max(axis=1) - values[:, choice]
        at_time = [part for part in question.open if part.first <= time <= part.last]
        is_equivalent = [
            b != choice
            and np.mean(
                [abs(wins_of(posterior, choice, b, k, t) - 0.5) <= 0.05 for k in range(400)]
            )
            >= 0.95
            for b in range(len(NAMES))
        ]
        assert not any(is_equivalent)  # so that all of the regret counts
        is_open = lost.mean() > threshold or n_problems < MIN_PROBLEMS
        assert len(at_time) == is_open
        for part in at_time:
            assert NAMES[choice] in part.algorithms
            assert part.regret >= lost.mean() - 1e-6
            left_out = [i for i, name in enumerate(NAMES) if name not in part.algorithms]
            gains = (lost[:, None] * best / best.sum(axis=1, keepdims=True)).mean(axis=0)
            assert gains[left_out].sum() <= threshold / 2 + 1e-9


def test_regret_that_comes_from_an_equivalent_rival_leaves_nothing_open():
    rng = np.random.default_rng(0)
    values = rng.standard_normal((3000, 2, 1))
    ids = tuple(map(str, range(len(values))))
    grid = GridValues(ids, ("A", "B"), np.array([1.0]), values)
    evidence = ranked(grid, np.zeros(1))
    posterior = evidence.posterior(ModelOptions(draws=400), seed=1)
    rules = Rules(regret=1e-5)
    state = unanswered(race.start(("A", "B"), [1.0], rules), [], rules)
    assert judged(state, [], rules, posterior, evidence.duels).choices[0].is_answered
    stricter = rules.model_copy(update={"epsilon": 0.0})
    assert not judged(state, [], stricter, posterior, evidence.duels).choices[0].is_answered


@pytest.mark.parametrize("text", ["at 3", "uniform", "worst-case", "between 2 and 4"])
@pytest.mark.parametrize("guarantee", ["none", "pair"])
def test_an_algorithm_is_out_when_another_one_surely_has_the_higher_value(text, guarantee):
    rules = Rules(guarantee=guarantee)
    evidence = evidence_from(60)
    posterior = posterior_of(evidence)
    purpose = purpose_of(text, 0.9)
    (question,) = judge([purpose], rules, evidence).choices
    values = purpose.values(posterior, range(len(NAMES)))
    valuation = read_preference(text)[0].on(Context(TIMES))
    won = np.array(
        [
            [[1.0 if x < y else 0.0 for x, y in zip(of_a, of_b, strict=True)] for of_b in problem]
            for problem in evidence.grid.values
            for of_a in problem
        ]
    ).reshape(60, len(NAMES), len(NAMES), len(TIMES))

    def wealth(a: int, b: int) -> float:
        if valuation.weights is None:
            wins = won[:, a, b].sum(axis=0)
            losses = won[:, b, a].sum(axis=0)
        else:
            lead = (2 * won[:, a, b] - 1) @ valuation.weights
            wins = np.maximum(lead, 0).sum()
            losses = np.maximum(-lead, 0).sum()
        return float(np.exp(log_wealth(np.array(wins), np.array(losses)).min()))

    expected = set()
    for b, name in enumerate(NAMES):
        for a in range(len(NAMES)):
            is_surely_higher = (values[:, a] > values[:, b]).mean() >= rules.alpha
            is_proven = guarantee == "none" or wealth(a, b) >= 20
            if a != b and is_surely_higher and is_proven:
                expected.add(name)
    assert {out.algorithm for out in question.out} == expected
    assert "D" in expected
    for out in question.out:
        a = NAMES.index(out.by)
        b = NAMES.index(out.algorithm)
        assert out.probability == (values[:, a] > values[:, b]).mean()
        assert out.problems == 60
        if guarantee == "pair":
            assert out.wealth == pytest.approx(wealth(a, b), rel=1e-5)


@pytest.mark.parametrize("text", ["at 3", "between 1 and 2"])
def test_those_that_are_not_out_run_up_to_the_last_time_that_matters(text):
    purpose = purpose_of(text, 0.001)
    state = judge([purpose], Rules(guarantee="none"), evidence_from(12))
    (question,) = state.choices
    (part,) = question.open
    out = {entry.algorithm for entry in question.out}
    assert "D" in out
    assert set(part.algorithms) == set(NAMES) - out
    used = TIMES[purpose.is_used]
    assert (part.first, part.last) == (used[0], used[-1])
    assert race.horizons(state, Rules(truncate=True)) == dict.fromkeys(part.algorithms, used[-1])


def test_nothing_is_out_and_the_choice_is_open_on_fewer_problems_than_a_choice_needs():
    purpose = purpose_of("at 4", threshold=0.9)
    (question,) = judge([purpose], Rules(guarantee="none"), evidence_from(MIN_PROBLEMS - 1)).choices
    assert question.out == ()
    assert set(question.open[0].algorithms) == set(NAMES)
    (question,) = judge([purpose], Rules(guarantee="none"), evidence_from(MIN_PROBLEMS)).choices
    assert question.is_answered


def test_an_algorithm_stays_out_unless_only_those_that_are_out_keep_the_choice_open():
    rules = Rules(guarantee="none")
    purpose = purpose_of("at 3", 1e-9)
    first = judge([purpose], rules, evidence_from(30))
    (question,) = first.choices
    assert {out.algorithm for out in question.out} >= {"D"}
    # With the same evidence nothing changes.
    evidence = evidence_from(30)
    again = judged(first, [purpose], rules, posterior_of(evidence), evidence.duels)
    assert again.choices == first.choices
    # All but one were out, and the expected regret is not small: those that cause it return.
    entries = {out.algorithm: out for out in question.out}
    out = tuple(replace(entries["D"], algorithm=name) for name in ("A", "B", "C", "D"))
    forced = replace(first, choices=(replace(question, out=out),))
    returned = judged(forced, [purpose], rules, posterior_of(evidence), evidence.duels)
    (question,) = returned.choices
    assert question.choice not in {entry.algorithm for entry in question.out}
    assert len(question.open[0].algorithms) >= 2


def test_other_preferences_or_another_threshold_are_other_questions():
    rules = Rules(regret=0.02)
    state = race.start(NAMES, TIMES.tolist(), rules)
    default = unanswered(state, [], rules)
    assert asks_the_same(default, [], rules)
    assert not asks_the_same(default, [], rules.model_copy(update={"regret": 0.01}))
    assert not asks_the_same(default, [purpose_of("at 3")], rules)
    assert not default.is_for_preferences
    purposes = [purpose_of("at 3"), purpose_of("at 1")]
    for_two = unanswered(state, purposes, rules)
    assert asks_the_same(for_two, purposes, rules)
    assert not asks_the_same(for_two, purposes[:1], rules)
    assert race.horizons(for_two, rules) == dict.fromkeys(NAMES, 3.0)
    assert race.State.from_plain(for_two.to_plain()).choices == for_two.choices
