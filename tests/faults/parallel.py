"""Algorithms that evaluate in processes which libraries start."""

import multiprocessing
from concurrent.futures import ProcessPoolExecutor

import numpy as np


def square(x):
    return float(np.sum(np.square(x)))


def points_of(problem, seed):
    rng = np.random.default_rng(seed)
    return [rng.uniform(problem.lower, problem.upper) for _ in range(4)]


def report(problem, values):
    for t, value in enumerate(values, 1):
        problem.report(t, value)


def _pool(problem, seed, method):
    with multiprocessing.get_context(method).Pool(2) as pool:
        report(problem, pool.map(square, points_of(problem, seed)))


def fork_pool(problem, seed):
    _pool(problem, seed, "fork")


def spawn_pool(problem, seed):
    _pool(problem, seed, "spawn")


def forkserver_pool(problem, seed):
    _pool(problem, seed, "forkserver")


def executor(problem, seed):
    with ProcessPoolExecutor(2) as pool:
        report(problem, pool.map(square, points_of(problem, seed)))


def joblib_processes(problem, seed):
    import joblib

    points = points_of(problem, seed)
    report(problem, joblib.Parallel(n_jobs=2)(joblib.delayed(square)(x) for x in points))


def pool_that_is_left_open(problem, seed):
    pool = multiprocessing.get_context("fork").Pool(2)
    report(problem, pool.map(square, points_of(problem, seed)))
    pool.apply_async(square, [np.ones(2)])


def pool_of_the_problem(problem, seed):
    """Evaluates in processes, and again here, where evaluations count."""
    points = points_of(problem, seed)
    with multiprocessing.get_context("fork").Pool(2) as pool:
        values = pool.map(square, points)
    problem(points[int(np.argmin(values))])
