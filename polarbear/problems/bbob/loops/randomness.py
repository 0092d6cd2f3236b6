"""BBOB's own random numbers, and the rotations drawn from them."""

from __future__ import annotations

import math

import numpy as np

from polarbear.numerics.compiling import inner_as_written, kernel_as_written
from polarbear.problems.bbob.loops.sums import plus_product

# The minimal standard generator, by Schrage's method: MODULUS = MULTIPLIER * QUOTIENT + REMAINDER.
MULTIPLIER, MODULUS, QUOTIENT, REMAINDER = 16807, 2147483647, 127773, 2836
SHUFFLED = 32  # numbers are kept waiting, and each drawn says which of them is next
WARM_UP = 8
SHARE = 67108865.0  # of the modulus, one for each that is waiting
NEVER_ZERO = 1e-99


@inner_as_written
def next_state(state):
    times = math.floor(state / QUOTIENT)
    following = MULTIPLIER * (state - times * QUOTIENT) - REMAINDER * times
    return following + MODULUS if following < 0 else following


@kernel_as_written
def uniform(count, seed):
    """Numbers between 0 and 1, of which a seed has one stream."""
    state = np.int64(1 if seed == 0 else seed)
    for _ in range(WARM_UP):
        state = np.int64(next_state(state))
    waiting = np.empty(SHUFFLED, np.int64)
    for place in range(SHUFFLED - 1, -1, -1):
        state = np.int64(next_state(state))
        waiting[place] = state
    drawn = np.empty(count)
    last = waiting[0]
    for i in range(count):
        place = int(last / SHARE)
        state = np.int64(next_state(state))
        last = waiting[place]
        waiting[place] = state
        drawn[i] = last / MODULUS if last != 0 else NEVER_ZERO
    return drawn


@kernel_as_written
def normal(count, seed):
    """Standard normal numbers by Box and Muller's method: radii first, then as many angles."""
    shares = uniform(2 * count, seed)
    drawn = np.empty(count)
    for i in range(count):
        x = math.sqrt(-2.0 * math.log(shares[i])) * math.cos(2.0 * math.pi * shares[count + i])
        drawn[i] = x if x != 0.0 else NEVER_ZERO
    return drawn


@kernel_as_written
def rotation(dimension, seed):
    """The transpose of a random rotation: normal vectors, each made orthogonal to those before."""
    vectors = normal(dimension * dimension, seed).reshape(dimension, dimension)
    for i in range(dimension):
        for j in range(i):
            product = 0.0
            for k in range(dimension):
                product = plus_product(product, vectors[i, k], vectors[j, k])
            for k in range(dimension):
                vectors[i, k] = plus_product(vectors[i, k], -product, vectors[j, k])
        square = 0.0
        for k in range(dimension):
            square = plus_product(square, vectors[i, k], vectors[i, k])
        length = math.sqrt(square)
        for k in range(dimension):
            vectors[i, k] /= length
    return vectors


@kernel_as_written
def stretched_between(last, factors, first):
    """The transpose of last @ diag(factors) @ first, of matrices that are transposed as well."""
    dimension = len(factors)
    product = np.zeros((dimension, dimension))
    for j in range(dimension):
        for k in range(dimension):
            for i in range(dimension):
                stretched = last[k, i] * factors[k]
                product[j, i] = plus_product(product[j, i], stretched, first[j, k])
    return product


@kernel_as_written
def turned(matrix, points):
    """Points, one a row, times a matrix that is transposed."""
    dimension = len(matrix)
    found = np.zeros(points.shape)
    for p in range(len(points)):
        for k in range(dimension):
            for i in range(dimension):
                found[p, i] = plus_product(found[p, i], matrix[k, i], points[p, k])
    return found


@kernel_as_written
def spread(shares, width, below):
    """Numbers between 0 and 1 taken to an interval."""
    found = np.empty(len(shares))
    for i in range(len(shares)):
        found[i] = plus_product(-below, width, shares[i])
    return found
