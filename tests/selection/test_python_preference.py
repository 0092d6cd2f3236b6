"""Functions of the user's own as preferences."""

from pathlib import Path

import numpy as np
import pytest

from polarbear.errors import PolarBearError
from polarbear.selection.preference import Context
from polarbear.selection.preference_parsing import read_preference

SOURCE = """
import numpy as np

def many(theta): return np.log(theta).mean(axis=-1)
def one(theta): return np.log(theta).mean()
def strict(theta):
    assert theta.ndim == 1
    return float(min(theta)) + sum(theta)
def dated(theta, times): return float(theta @ times)
def powered(theta, power): return (theta ** power).mean(axis=-1)
def last(theta): return theta[-1]

def falls(theta): return -theta.mean(axis=-1)
def flat(theta): return 0.0 * theta.mean(axis=-1)
def steps(theta): return np.floor(4 * theta.mean(axis=-1))
def steady(theta): return theta.mean(axis=-1) - 2 * theta.std(axis=-1)
def peaked(theta): return theta.max(axis=-1) - theta.mean(axis=-1)
def relative(theta): return theta[..., -1] / theta.sum(axis=-1)
def capped(theta): return np.minimum(theta.mean(axis=-1), 0.3)

def raises(theta): raise KeyError("theta")
def text(theta): return "good"
def nothing(theta): return None
def nan(theta): return np.nan * theta.mean(axis=-1)
number = 3
"""
TIMES = np.geomspace(1, 100, 12)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("functions")
    (path / "worth.py").write_text(SOURCE)
    return path


def valued(name: str, folder: Path, theta: np.ndarray, times: np.ndarray = TIMES) -> np.ndarray:
    preference, _ = read_preference(name if name.startswith("{") else f"worth.py:{name}")
    return preference.on(Context(times, folder=str(folder))).values(theta)


@pytest.mark.parametrize("n_times", [1, 12])
@pytest.mark.parametrize(
    ("name", "formula"),
    [
        ("many", lambda theta, times: np.log(theta).mean(axis=1)),
        ("one", lambda theta, times: np.log(theta).mean(axis=1)),
        ("strict", lambda theta, times: theta.min(axis=1) + theta.sum(axis=1)),
        ("dated", lambda theta, times: np.einsum("dtn,t->dn", theta, times)),
        ("last", lambda theta, times: theta[:, -1]),
    ],
)
def test_a_function_of_a_curve_gives_its_value(folder, name, formula, n_times):
    times = np.geomspace(1, 100, n_times) if n_times > 1 else np.array([5.0])
    theta = np.random.default_rng(1).dirichlet(np.ones(3), size=(40, n_times))
    assert valued(name, folder, theta, times) == pytest.approx(formula(theta, times), rel=1e-9)


def test_options_reach_the_function(folder: Path):
    theta = np.random.default_rng(1).dirichlet(np.ones(3), size=(5, len(TIMES)))
    text = "{preference: python, function: 'worth.py:powered', options: {power: 3}}"
    assert valued(text, folder, theta) == pytest.approx((theta**3).mean(axis=1))


@pytest.mark.parametrize(
    "name", ["falls", "flat", "steps", "steady", "peaked", "relative", "capped"]
)
def test_one_that_is_not_strictly_monotone_is_refused(folder: Path, name: str):
    with pytest.raises(PolarBearError, match=f"'worth.py:{name}' is not strictly monotone"):
        valued(name, folder, np.empty((0, len(TIMES), 0)))


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("raises", "'worth.py:raises' failed: KeyError"),
        ("text", "returned good (str); expected a finite number"),
        ("nothing", "returned None (NoneType); expected a finite number"),
        ("nan", "returned nan"),
        ("number", "is not a function but int"),
        ("absent", "has no 'absent'"),
        ("{preference: python, function: 'worth.py:one', options: {p: 1}}", "unknown argument 'p'"),
        ("{preference: python, function: 'elsewhere:one'}", "cannot import 'elsewhere'"),
        ("{preference: python, function: 'one'}", "expected 'module:function'"),
    ],
)
def test_one_that_cannot_be_used_is_refused_in_a_line(folder: Path, name: str, words: str):
    with pytest.raises(PolarBearError) as refused:
        valued(name, folder, np.empty((0, len(TIMES), 0)))
    assert words in str(refused.value)
