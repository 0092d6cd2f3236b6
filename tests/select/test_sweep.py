"""Sweeps, their intervals, and the value of information."""

from __future__ import annotations

import numpy as np
import pytest

from polarbear.inference import Posterior
from polarbear.inference.strongest_rival import rival_values
from polarbear.preferences import Context, Variations, read_preference
from polarbear.select import RISKS, judge, sweep, value_of_information
from tests.support import posterior_of

TIMES = np.geomspace(10.0, 1000.0, 8)


def posterior(seed: int = 1, n: int = 4) -> Posterior:
    """Ratings that change from early to late."""
    rng = np.random.default_rng(seed)
    slope = np.linspace(-2, 2, n) * np.linspace(-1, 1, len(TIMES))[:, None]
    theta = np.exp(slope + rng.normal(0, 0.4, (400, 1, n)) + rng.normal(0, 0.1, (400, 8, n)))
    return posterior_of(theta / theta.sum(axis=2, keepdims=True))


@pytest.mark.parametrize("risk", RISKS)
@pytest.mark.parametrize(
    "text", ["at 50", "uniform", "normal 60 10", "lognormal 60 1", "triangular 20 30 90"]
)
def test_each_position_is_a_choice_of_its_own(text: str, risk):
    drawn = posterior()
    made = read_preference(text)[0].variations(Context(TIMES))
    found = sweep(drawn, range(4), made, risk)
    assert found.p2bb.shape == (len(made.positions), 4)
    for k in range(0, len(made.positions), 17):
        weights = made.weights[k]
        values = rival_values(drawn, range(4), lambda wins, by=weights: wins @ by)
        alone = judge(values)
        # draws are swept in single precision, as they are kept: one draw in 400 may tip over
        assert found.p2bb[k] == pytest.approx(alone.p2bb, abs=1 / 400 + 1e-9)
        assert found.regret[k] == pytest.approx(alone.regret[found.choices[k]], abs=1e-6)
        merit = alone.merit(risk)
        assert merit[found.choices[k]] >= merit.max() - 2 / 400


def test_a_sweep_over_budgets_is_the_preference_at_each():
    made = read_preference("at 50")[0].variations(Context(TIMES))
    for k in (0, 3, 50, len(made.positions) - 1):
        at, _ = read_preference(f"at {float(made.positions[k])!r}")
        weights = at.on(Context(TIMES)).weights
        assert made.weights[k] == pytest.approx(weights)
    assert set(TIMES) <= set(made.positions)


def test_a_sweep_over_widths_passes_the_preference_itself():
    context = Context(TIMES)
    for text, width in (("normal 60 30", 30.0), ("lognormal 60 0.8", 0.8), ("exponential 60", 60)):
        preference, _ = read_preference(text)
        made = preference.variations(context)
        near = [np.interp(width, made.positions, made.weights[:, t]) for t in range(len(TIMES))]
        assert near == pytest.approx(preference.on(context).weights, abs=2e-3)


def test_intervals_cover_all_positions_and_name_each_choice():
    budgets = read_preference("at 50")[0].variations(Context(TIMES))
    found = sweep(posterior(), range(4), budgets, "mean")
    intervals = found.intervals()
    assert [one.choice for one in intervals] == [0, 3]  # good early, then good late
    assert intervals[0].start == 10
    assert intervals[-1].stop == 1000
    positions = found.variations.positions
    place = int(np.searchsorted(positions, intervals[0].stop))
    assert positions[place + 1] == intervals[1].start
    for one in intervals:
        assert one.lowest_p2bb <= one.p2bb <= one.highest_p2bb


def test_those_that_tie_share_being_best():
    theta = np.repeat(posterior(n=2).theta[:, :, :1] / 2, 2, axis=2)
    made = Variations("budget", TIMES, np.eye(8))
    found = sweep(posterior_of(theta), range(2), made, "p2bb")
    assert found.p2bb == pytest.approx(0.5)
    assert len(found.intervals()) == 1


def test_what_could_be_gained_is_the_expected_regret_and_splits_by_rival():
    for seed in range(10):
        values = np.random.default_rng(seed).uniform(size=(300, 5)) + np.arange(5) / 10
        criteria = judge(values)
        choice = criteria.best("mean")
        found = value_of_information(values, choice)
        assert found.gain == pytest.approx(criteria.regret[choice])
        assert sum(rival.gain for rival in found.rivals) == pytest.approx(found.gain)
        assert [r.gain for r in found.rivals] == sorted(r.gain for r in found.rivals)[::-1]
        assert found.share == pytest.approx(found.gain / criteria.mean[choice])
        for rival in found.rivals:
            assert rival.p2bb == pytest.approx(criteria.p2bb[rival.item])


def test_nothing_can_be_gained_where_the_choice_is_the_best_in_every_draw():
    found = value_of_information(np.array([[0.2, 0.8], [0.3, 0.7]]), 1)
    assert (found.gain, found.rivals) == (0.0, ())
