"""Linear preferences against SciPy's quadrature, trapezoid rule and distributions."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import quad, trapezoid

from polarbear.errors import SelectionError
from polarbear.selection.preference import Context
from polarbear.selection.preference_parsing import read_preference

UNEVEN = np.array([10.0, 11.0, 40.0, 41.0, 300.0, 950.0, 1000.0])
LOG = np.geomspace(10.0, 1000.0, 25)
GRIDS = pytest.mark.parametrize("times", [UNEVEN, LOG], ids=["uneven", "log"])


def weights_of(text: str, times: np.ndarray, folder: Path | None = None) -> np.ndarray:
    preference, _ = read_preference(text)
    weights = preference.on(Context(times, folder=str(folder or "."))).weights
    assert weights is not None
    return weights


def curve(times: np.ndarray) -> np.ndarray:
    return np.random.default_rng(len(times)).uniform(size=len(times))


@GRIDS
@pytest.mark.parametrize(("text", "transform"), [("uniform", np.array), ("log-uniform", np.log)])
def test_uniform_is_the_trapezoid_rule_in_t_or_log_t(times: np.ndarray, text: str, transform):
    theta = curve(times)
    x = transform(times)
    expected = trapezoid(theta, x) / (x[-1] - x[0])
    assert weights_of(text, times) @ theta == pytest.approx(expected, rel=1e-12)


@GRIDS
@pytest.mark.parametrize("t", [10.0, 40.5, 123.0, 1000.0])
def test_a_time_between_two_of_the_grid_is_interpolated(times: np.ndarray, t: float):
    theta = curve(times)
    assert weights_of(f"at {t}", times) @ theta == pytest.approx(np.interp(t, times, theta))


def test_where_times_are_independent_a_single_time_is_the_nearest_of_the_grid():
    preference, _ = read_preference("at 30")
    valuation = preference.on(Context(UNEVEN, joint=False))
    assert valuation.weights is not None
    assert valuation.weights.tolist() == [0, 0, 1, 0, 0, 0, 0]
    assert "taken at 40" in valuation.notes[0]


@GRIDS
@pytest.mark.parametrize("ends", [(10, 1000), (20, 39), (12, 700.5), (500, 500)])
def test_a_range_is_the_integral_over_it(times: np.ndarray, ends: tuple[float, float]):
    theta = curve(times)
    start, stop = ends
    if start == stop:
        expected = np.interp(start, times, theta)
    else:
        inside = times[(times > start) & (times < stop)]
        total, _ = quad(lambda t: np.interp(t, times, theta), start, stop, points=inside, limit=500)
        expected = total / (stop - start)
    mean = weights_of(f"between {start} and {stop}", times) @ theta
    assert mean == pytest.approx(expected, rel=1e-9)


DISTRIBUTIONS = [
    ("normal 400 150", stats.norm(400, 150)),
    ("normal 990 300", stats.norm(990, 300)),
    ("normal 500 0.5", stats.norm(500, 0.5)),  # between two times of both grids
    ("normal -50 100", stats.norm(-50, 100)),
    ("lognormal 80 0.8", stats.lognorm(0.8, scale=80)),
    ("lognormal 3000 1.5", stats.lognorm(1.5, scale=3000)),
    ("triangular 20 50 800", stats.triang(30 / 780, 20, 780)),
    ("triangular 5 5 600", stats.triang(0, 5, 595)),
    ("triangular 100 1500 1500", stats.triang(1, 100, 1400)),
    ("exponential 120", stats.expon(scale=120)),
    ("exponential 5000", stats.expon(scale=5000)),
]


@GRIDS
@pytest.mark.parametrize(("text", "law"), DISTRIBUTIONS, ids=[t for t, _ in DISTRIBUTIONS])
def test_a_distribution_is_the_expectation_cut_off_at_the_grid(times, text, law):
    theta = curve(times)
    total = 0.0
    for start, stop in pairwise(times):
        within = [q for q in law.ppf([0.001, 0.1, 0.5, 0.9, 0.999]) if start < q < stop]
        piece, _ = quad(
            lambda t: law.pdf(t) * np.interp(t, times, theta),
            start,
            stop,
            points=within or None,
            epsabs=1e-13,
            limit=500,
        )
        total += piece
    expected = total / (law.cdf(times[-1]) - law.cdf(times[0]))
    assert weights_of(text, times) @ theta == pytest.approx(expected, rel=1e-7)


def test_a_note_reports_a_truncated_distribution():
    preference, _ = read_preference("normal 1000 100")
    assert "50% of this distribution" in preference.on(Context(UNEVEN)).notes[0]
    inside, _ = read_preference("normal 500 10")
    assert inside.on(Context(UNEVEN)).notes == ()


@pytest.mark.parametrize(
    "text",
    [
        "normal 5000 10",
        "exponential 0.5",
        "triangular 1 2 3",
        "triangular 33 83 1e308",  # near the largest number
        "lognormal 1e305 20",  # whose mean overflows
    ],
)
@pytest.mark.filterwarnings("error")
def test_a_distribution_off_the_grid_is_refused_with_the_range(text: str):
    preference, _ = read_preference(text)
    with pytest.raises(SelectionError, match="nothing of this distribution.*from 10 to 1000"):
        preference.on(Context(UNEVEN))


@GRIDS
def test_past_budgets_count_one_by_one_and_those_outside_are_left_out(times, tmp_path: Path):
    (tmp_path / "past.csv").write_text("budget\n20\n35\n35\n999\n2000\n")
    theta = curve(times)
    expected = np.mean(np.interp([20, 35, 35, 999], times, theta))
    assert weights_of("budgets past.csv", times, tmp_path) @ theta == pytest.approx(expected)
    preference, _ = read_preference("budgets past.csv")
    notes = preference.on(Context(times, folder=str(tmp_path))).notes
    assert "1 of 5 budgets" in notes[0]


def test_weights_at_the_times_of_the_grid_are_the_trapezoid_rule(tmp_path: Path):
    density = np.random.default_rng(3).uniform(size=len(UNEVEN))
    rows = "\n".join(f"{t},{w}" for t, w in zip(UNEVEN, density, strict=True))
    (tmp_path / "w.csv").write_text(f"t,weight\n{rows}\n")
    theta = curve(UNEVEN)
    expected = trapezoid(density * theta, UNEVEN) / trapezoid(density, UNEVEN)
    assert weights_of("weights w.csv", UNEVEN, tmp_path) @ theta == pytest.approx(expected)
    (tmp_path / "one.csv").write_text("123,7\n")
    weights = weights_of("weights one.csv", LOG, tmp_path)
    assert weights == pytest.approx(weights_of("at 123", LOG))


def test_a_mix_is_the_mean_of_its_parts():
    mixed = weights_of("3 * at 40 + 1 * uniform", UNEVEN)
    expected = 0.75 * weights_of("at 40", UNEVEN) + 0.25 * weights_of("uniform", UNEVEN)
    assert mixed == pytest.approx(expected)
    theta = np.random.default_rng(2).dirichlet(np.ones(4), size=(50, len(UNEVEN)))
    preference, _ = read_preference("0.25 * worst-case + 0.75 * final")
    expected = 0.25 * theta.min(axis=1) + 0.75 * theta[:, -1]
    assert preference.on(Context(UNEVEN)).values(theta) == pytest.approx(expected)
