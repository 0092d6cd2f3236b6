"""What BBOB does to points, fast, against the same written plainly: equal to the bit."""

from __future__ import annotations

import numpy as np
import pytest

from polarbear.numerics.compiling import kernel_as_written
from polarbear.problems.bbob.loops.sums import plus_product
from polarbear.problems.bbob.loops.transformations import beyond, oscillate, oscillated, turn


@kernel_as_written
def turned(transposed, base, x):
    z = np.empty(len(x))
    turn(transposed, base, x, z)
    return z


@kernel_as_written
def plainly_turned(transposed, base, x):
    d = len(x)
    z = np.full(d, base)
    for i in range(d):
        for j in range(d):
            z[i] = plus_product(z[i], x[j], transposed[j * d + i])
    return z


@kernel_as_written
def oscillated_together(z):
    found = z.copy()
    oscillate(found, np.empty(len(z)))
    return found


@kernel_as_written
def oscillated_one_by_one(z):
    return np.array([oscillated(value) for value in z])


@kernel_as_written
def outside(x):
    return beyond(x, 5.0)


@pytest.mark.parametrize("dimension", [*range(2, 36), 47, 48, 49, 240])
def test_a_matrix_times_a_vector_has_sums_in_the_order_of_the_variables(dimension: int) -> None:
    rng = np.random.default_rng(dimension)
    transposed, x = rng.standard_normal(dimension**2), rng.uniform(-5, 5, dimension)
    for base in (0.0, 0.5):
        expected = plainly_turned(transposed, base, x)
        assert turned(transposed, base, x).tobytes() == expected.tobytes()


@pytest.mark.parametrize("dimension", [2, 3, 8, 30, 31])
def test_numbers_oscillate_together_as_one_by_one(dimension: int) -> None:
    rng = np.random.default_rng(dimension)
    edges = np.array([0.0, -0.0, 1.0, -1.0, 1e-300, -1e-300, 1e300, -1e300])
    for z in (rng.uniform(-9, 9, dimension), np.resize(edges, dimension)):
        assert oscillated_together(z).tobytes() == oscillated_one_by_one(z).tobytes()


def test_only_what_lies_outside_of_the_box_counts_as_beyond_it() -> None:
    assert outside(np.array([5.0, -5.0, 0.0, 4.9])) == 0.0
    assert outside(np.array([7.0, -5.0, 1.0, -5.5])) == 4.25
