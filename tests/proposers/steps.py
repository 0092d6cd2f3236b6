"""A search with one parameter, on the textbook problems: small steps are late, large ones early."""

import numpy as np


def walk(problem, seed, step=1.0, kind="plain"):
    rng = np.random.default_rng(seed)
    width = np.asarray(problem.upper) - np.asarray(problem.lower)
    x = np.asarray(problem.lower) + width * rng.random(problem.dimension)
    best = problem(x)
    while True:
        other = np.clip(
            x + step * width * rng.standard_normal(problem.dimension), problem.lower, problem.upper
        )
        value = problem(other)
        if value < best:
            x = other
            best = value
