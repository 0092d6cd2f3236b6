"""BBOB's random number generator, and the rotations drawn with it.

Sums and products are in ioh's order, so that instances agree with ioh's to the last digits.
"""

import math

import numpy as np

from polarbear.numerics.compiling import CONTRACTED, compiled

# Settings as in `functions.py`. They are written here because Numba compiles a loop again only when
# its own file changes.
fused = compiled(nogil=True, error_model="numpy", no_cfunc_wrapper=True, fastmath=CONTRACTED)

# The minimal standard generator by Schrage's method: MODULUS = MULTIPLIER * QUOTIENT + REMAINDER.
MULTIPLIER = 16807
MODULUS = 2147483647
QUOTIENT = 127773
REMAINDER = 2836
TABLE_SIZE = 32  # of the Bays-Durham shuffle
TABLE_STEP = 67108865.0  # states per entry of the table
WARM_UP_STEPS = 8
REPLACES_ZERO = 1e-99


@fused
def next_state(state):
    quotient = math.floor(state / QUOTIENT)
    following = MULTIPLIER * (state - quotient * QUOTIENT) - REMAINDER * quotient
    return np.int64(following + MODULUS if following < 0 else following)


@fused
def uniform(count, seed):
    """Numbers between 0 and 1."""
    state = np.int64(1 if seed == 0 else seed)
    for _ in range(WARM_UP_STEPS):
        state = next_state(state)
    table = np.empty(TABLE_SIZE, np.int64)
    for entry in range(TABLE_SIZE - 1, -1, -1):
        state = next_state(state)
        table[entry] = state
    drawn = np.empty(count)
    last = table[0]
    for i in range(count):
        entry = int(last / TABLE_STEP)
        state = next_state(state)
        last = table[entry]
        table[entry] = state
        drawn[i] = last / MODULUS if last != 0 else REPLACES_ZERO
    return drawn


@fused
def uniform_between(low, high, count, seed):
    drawn = uniform(count, seed)
    for i in range(count):
        drawn[i] = low + (high - low) * drawn[i]
    return drawn


@fused
def normal(count, seed):
    """Standard normal numbers by the Box-Muller method."""
    shares = uniform(2 * count, seed)
    drawn = np.empty(count)
    for i in range(count):
        x = math.sqrt(-2.0 * math.log(shares[i])) * math.cos(2.0 * math.pi * shares[count + i])
        drawn[i] = x if x != 0.0 else REPLACES_ZERO
    return drawn


@fused
def rotation(dimension, seed):
    """A random orthogonal matrix for row vectors: x @ matrix rotates x.

    By the modified Gram-Schmidt process, on vectors that are columns here. The innermost loops go
    over vectors: sums over coordinates would be vectorised with products that are rounded.
    """
    columns = normal(dimension * dimension, seed).reshape(dimension, dimension).T.copy()
    for j in range(dimension):
        squares = np.zeros(dimension)
        products = np.zeros(dimension)
        for k in range(dimension):
            for i in range(j, dimension):  # only that of j is used
                squares[i] += columns[k, i] * columns[k, i]
        for k in range(dimension):
            columns[k, j] /= math.sqrt(squares[j])
        for k in range(dimension):
            for i in range(j + 1, dimension):
                products[i] += columns[k, i] * columns[k, j]
        for k in range(dimension):
            for i in range(j + 1, dimension):
                columns[k, i] -= products[i] * columns[k, j]
    return columns.T.copy()


@fused
def scaled_product(first, factors, last):
    """first @ diag(factors) @ last."""
    dimension = len(factors)
    product = np.zeros((dimension, dimension))
    for j in range(dimension):
        for k in range(dimension):
            for i in range(dimension):
                product[j, i] += (last[k, i] * factors[k]) * first[j, k]
    return product
