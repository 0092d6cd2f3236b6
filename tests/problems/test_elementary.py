"""Elementary functions of BBOB's loops against the library's own."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from polarbear.numerics.compiling import kernel_as_written
from polarbear.problems.bbob.loops.elementary import cosine, exponential, logarithm, sine

RNG = np.random.default_rng(1)
POSITIVE = 10 ** RNG.uniform(-300, 300, 20_000)
ANGLES = np.concatenate([RNG.uniform(-1e3, 1e3, 20_000), RNG.uniform(-1e7, 1e7, 20_000), [0.0]])


@kernel_as_written
def logarithms(x):
    return np.array([logarithm(value) for value in x])


@kernel_as_written
def exponentials(x):
    return np.array([exponential(value) for value in x])


@kernel_as_written
def tenth_powers(x):
    return np.array([exponential(0.1 * logarithm(value)) for value in x])


@kernel_as_written
def sines(x):
    return np.array([sine(value) for value in x])


@kernel_as_written
def cosines(x):
    return np.array([cosine(value) for value in x])


@pytest.mark.parametrize(
    ("ours", "theirs", "x", "relative"),
    [
        (logarithms, np.log, POSITIVE, 4e-16),
        (logarithms, np.log, 1 + RNG.uniform(-1e-6, 1e-6, 1000), 4e-16),
        (exponentials, np.exp, RNG.uniform(-700, 709, 20_000), 4e-16),
        (tenth_powers, lambda x: x**0.1, POSITIVE, 4e-14),  # of exponents up to 69
    ],
)
def test_they_are_the_library_s_to_the_last_digits(
    ours: Callable[..., np.ndarray],
    theirs: Callable[..., np.ndarray],
    x: np.ndarray,
    relative: float,
):
    np.testing.assert_allclose(ours(x), theirs(x), rtol=relative, atol=0)


def test_sines_and_cosines_are_the_library_s_to_the_last_digits_of_one():
    np.testing.assert_allclose(sines(ANGLES), np.sin(ANGLES), rtol=0, atol=4e-16)
    np.testing.assert_allclose(cosines(ANGLES), np.cos(ANGLES), rtol=0, atol=4e-16)


def test_what_is_no_normal_number_is_zero_or_infinite():
    found = exponentials(np.array([-1e300, -709.0, 0.0, 709.9, 1e300, -np.inf, np.inf]))
    assert found.tolist() == [0.0, 0.0, 1.0, np.inf, np.inf, 0.0, np.inf]
