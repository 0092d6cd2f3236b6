"""Sweeps, their intervals, and the value of information."""

import numpy as np
import pytest

from polarbear.inference import Posterior
from polarbear.inference.strongest_rival import p_best_at_each_time, rival_values
from polarbear.racing.recommendation import advise
from polarbear.selection.criteria import Criteria
from polarbear.selection.criterion_names import Risk
from polarbear.selection.expected_regret import value_of_information
from polarbear.selection.preference import Context
from polarbear.selection.preference_parsing import read_preference
from polarbear.selection.sweeps import sweep
from tests.support import posterior_of

TIMES = np.geomspace(10.0, 1000.0, 8)
NAMES = ("A", "B", "C", "D")


def posterior(seed: int = 1, n: int = 4) -> Posterior:
    """Ratings that change from early to late."""
    rng = np.random.default_rng(seed)
    slope = np.linspace(-2, 2, n) * np.linspace(-1, 1, len(TIMES))[:, None]
    theta = np.exp(slope + rng.normal(0, 0.4, (400, 1, n)) + rng.normal(0, 0.1, (400, 8, n)))
    return posterior_of(theta / theta.sum(axis=2, keepdims=True))


def weights_at(t: float) -> np.ndarray:
    weights = read_preference(f"at {t!r}")[0].on(Context(TIMES)).weights
    assert weights is not None
    return weights


@pytest.mark.parametrize("risk", Risk)
def test_each_position_is_the_choice_at_that_budget(risk):
    drawn = posterior()
    table = sweep(drawn, range(4), NAMES, Context(TIMES), risk)
    p2bb = np.array([table.p2bb[name] for name in NAMES])
    assert p2bb.shape == (4, len(table.positions))
    assert set(TIMES) <= set(table.positions)
    for k in range(0, len(table.positions), 17):
        weights = weights_at(table.positions[k])
        values = rival_values(drawn, range(4), lambda wins, by=weights: wins @ by)
        criteria = Criteria(values)
        # draws are swept in single precision, as they are kept: one draw in 400 may tip over
        assert p2bb[:, k] == pytest.approx(criteria.p2bb, abs=1 / 400 + 1e-9)
        merit = criteria.merit(risk)
        assert merit[NAMES.index(table.choices[k])] >= merit.max() - 2 / 400


def test_intervals_cover_all_positions_and_name_each_choice():
    drawn = posterior()
    table = sweep(drawn, range(4), NAMES, Context(TIMES), "mean")
    intervals = table.intervals
    assert [interval.choice for interval in intervals] == ["A", "D"]  # good early, then good late
    assert intervals[0].from_ == 10
    assert intervals[-1].to == 1000
    last_position = table.positions.index(intervals[0].to)
    assert table.positions[last_position + 1] == intervals[1].from_
    for interval in intervals:
        assert interval.lowest_p2bb <= interval.p2bb <= interval.highest_p2bb
    regrets = []
    for weights in map(weights_at, table.positions[: last_position + 1]):
        values = rival_values(drawn, range(4), lambda wins, by=weights: wins @ by)
        regrets.append(Criteria(values).regret[0])
    assert intervals[0].regret == pytest.approx(max(regrets), abs=1e-6)


def test_by_p_best_the_intervals_are_those_that_a_race_recommends():
    drawn = posterior(seed=3)
    table = sweep(drawn, range(4), NAMES, Context(TIMES), "p2bb")
    spans = advise(NAMES, TIMES, p_best_at_each_time(drawn, range(4))).spans
    assert any(span.is_open for span in spans)
    assert [(each.from_, each.to, each.algorithms) for each in table.intervals] == [
        (span.start, span.stop, span.algorithms) for span in spans
    ]


def test_those_that_tie_share_being_best():
    theta = np.repeat(posterior(n=2).theta[:, :, :1] / 2, 2, axis=2)
    context = Context(TIMES, joint=False)
    table = sweep(posterior_of(theta), range(2), ("A", "B"), context, "p2bb")
    assert table.p2bb["A"] == pytest.approx([0.5] * 8)
    assert len(table.intervals) == 1


def test_the_value_of_information_is_the_expected_regret_and_is_split_by_rival():
    for seed in range(10):
        values = np.random.default_rng(seed).uniform(size=(300, 5)) + np.arange(5) / 10
        criteria = Criteria(values)
        choice = criteria.best("mean")
        order = [choice, *(item for item in range(5) if item != choice)]
        information = value_of_information(
            values[:, order], criteria.p2bb[order], [str(item) for item in order]
        )
        assert information.gain == pytest.approx(criteria.regret[choice])
        assert sum(rival.gain for rival in information.rivals) == pytest.approx(information.gain)
        assert [r.gain for r in information.rivals] == sorted(r.gain for r in information.rivals)[
            ::-1
        ]
        assert information.share == pytest.approx(information.gain / criteria.mean[choice])
        for rival in information.rivals:
            assert rival.p2bb == pytest.approx(criteria.p2bb[int(rival.algorithm)])
    information = value_of_information(
        np.array([[0.8, 0.2], [0.7, 0.3]]), np.array([1.0, 0.0]), ["A", "B"]
    )
    assert (information.gain, information.rivals) == (0.0, ())
