"""Every method of scipy runs to the budget, in the box and reproducibly."""

from __future__ import annotations

import inspect
from typing import Any, get_args

import numpy as np
import pytest
import scipy.optimize

from polarbear.algorithms.scipy import METHODS, TUNABLE, Hop, MethodName
from polarbear.errors import AlgorithmError
from tests.algorithms.helpers import (
    SETTING,
    Box,
    algorithm,
    rastrigin,
    run,
)


@pytest.fixture(params=get_args(MethodName))
def method(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_the_options_are_those_of_scipy(method: str):
    name = method.replace("-", "_").replace("basin_hopping", "basinhopping")
    if hasattr(scipy.optimize, name):
        assert set(TUNABLE[method]) <= set(
            inspect.signature(getattr(scipy.optimize, name)).parameters
        )
    else:
        described = scipy.optimize.show_options("minimize", method, disp=False)
        assert all(option in described for option in TUNABLE[method])


@pytest.mark.parametrize(
    ("method", "options"),
    [
        ("nelder-mead", {"xatol": 1e-9, "fatol": 1e-9}),
        ("powell", {"xtol": 1e-9}),
        ("differential-evolution", {"popsize": 5, "mutation": [0.3, 0.9]}),
        ("dual-annealing", {"no_local_search": True}),
        ("basin-hopping", {"stepsize": 0.05, "minimizer_kwargs": {"method": "Nelder-Mead"}}),
        ("direct", {"locally_biased": False}),
        ("shgo", {"minimizer_kwargs": {"method": "L-BFGS-B"}}),
    ],
)
def test_options_reach_scipy(method: str, options: dict[str, Any]):
    plain = run(algorithm("scipy", method=method), Box.cube(2), rastrigin, 1000)
    tuned = run(algorithm("scipy", method=method, options=options), Box.cube(2), rastrigin, 1000)
    assert not np.array_equal(plain.points, tuned.points)


@pytest.mark.parametrize(
    ("method", "option", "message"),
    [
        ("direct", "epss", "unknown option of direct 'epss'; did you mean 'eps'"),
        ("nelder-mead", "maxiter", "unknown option of nelder-mead 'maxiter'"),
        ("differential-evolution", "workers", "unknown option of differential-evolution 'workers'"),
    ],
)
def test_options_that_are_unknown_or_ours_are_refused(method: str, option: str, message: str):
    with pytest.raises(ValueError, match=message):
        algorithm("scipy", method=method, options={option: 1})


@pytest.mark.parametrize(
    ("method", "options"),
    [
        ("differential-evolution", {"strategy": "worst"}),
        ("nelder-mead", {"xatol": "small"}),
        ("direct", {"len_tol": 2}),
    ],
)
def test_a_value_that_scipy_cannot_use_is_found_before_any_run(
    method: str, options: dict[str, Any]
):
    with pytest.raises(AlgorithmError, match=f"scipy's {method} fails with its options"):
        algorithm("scipy", method=method, options=options).prepare(SETTING)


def test_a_start_that_evaluates_nothing_is_an_error(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(METHODS, "powell", lambda start: None)
    with pytest.raises(AlgorithmError, match="without an evaluation"):
        run(algorithm("scipy", method="powell"), Box.cube(2))


@pytest.mark.parametrize("stepsize", [0.1, 0.5, 7.0])
def test_a_hop_stays_in_the_unit_box_and_goes_everywhere(stepsize: float):
    hop = Hop(stepsize, np.random.default_rng(1))
    x = np.full(3, 0.5)
    path = []
    for _ in range(2000):
        x = hop(x)
        path.append(x)
    assert Box.cube(3, 0, 1).contains(np.array(path))
    counts = np.histogram(np.array(path).ravel(), 4, (0, 1))[0]
    assert np.all(counts > 1000)
