"""Options of pycma and scipy in a configuration: they arrive, or are refused before any run."""

import inspect
from typing import Any, get_args

import numpy as np
import pytest
import scipy.optimize

from polarbear.algorithms.base import Algorithm
from polarbear.algorithms.scipy import TUNABLE, MethodName
from polarbear.errors import AlgorithmError
from tests.algorithms.helpers import SETTING, Box, algorithm, rastrigin, run


def configured(name: str, options: dict[str, Any]) -> Algorithm:
    """pycma or a method of scipy with these options."""
    if name == "pycma":
        return algorithm("cma", options=options)
    return algorithm("scipy", method=name, options=options)


@pytest.mark.parametrize("method", get_args(MethodName))
def test_the_options_are_those_of_scipy(method: str):
    name = method.replace("-", "_").replace("basin_hopping", "basinhopping")
    if hasattr(scipy.optimize, name):
        parameters = inspect.signature(getattr(scipy.optimize, name)).parameters
        assert set(TUNABLE[method]) <= set(parameters)
    else:
        described = scipy.optimize.show_options("minimize", method, disp=False)
        assert all(option in described for option in TUNABLE[method])


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("pycma", {"tolfun": 0.1}),
        ("nelder-mead", {"xatol": 1e-9, "fatol": 1e-9}),
        ("powell", {"xtol": 1e-9}),
        ("differential-evolution", {"popsize": 5, "mutation": [0.3, 0.9]}),
        ("dual-annealing", {"no_local_search": True}),
        ("basin-hopping", {"stepsize": 0.05, "minimizer_kwargs": {"method": "Nelder-Mead"}}),
        ("direct", {"locally_biased": False}),
        ("shgo", {"minimizer_kwargs": {"method": "L-BFGS-B"}}),
    ],
)
def test_options_reach_the_library(name: str, options: dict[str, Any]):
    plain = run(configured(name, {}), Box.cube(2), rastrigin, 1000)
    tuned = run(configured(name, options), Box.cube(2), rastrigin, 1000)
    assert not np.array_equal(plain.points, tuned.points)


@pytest.mark.parametrize(
    ("name", "option", "message"),
    [
        ("pycma", "tolfunn", "unknown option of pycma 'tolfunn'; did you mean 'tolfun'"),
        ("pycma", "seed", "'seed' cannot be set in a configuration"),
        ("pycma", "verb_log", "'verb_log' cannot be set in a configuration"),
        ("direct", "epss", "unknown option of direct 'epss'; did you mean 'eps'"),
        ("nelder-mead", "maxiter", "unknown option of nelder-mead 'maxiter'"),
        ("differential-evolution", "workers", "unknown option of differential-evolution 'workers'"),
    ],
)
def test_options_that_are_unknown_or_ours_are_refused(name: str, option: str, message: str):
    with pytest.raises(ValueError, match=message):
        configured(name, {option: 1})


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("pycma", {"tolx": "no number"}),
        ("differential-evolution", {"strategy": "worst"}),
        ("nelder-mead", {"xatol": "small"}),
        ("direct", {"len_tol": 2}),
    ],
)
def test_a_value_that_the_library_cannot_use_is_found_before_any_run(name, options):
    with pytest.raises(AlgorithmError, match=f"{name} fails with its options"):
        configured(name, options).prepare(SETTING)
