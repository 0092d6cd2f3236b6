"""Algorithms and problems for tests: a few that behave, and many that do not."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np


def coordinate_descent(problem, seed, step=1.0):
    rng = np.random.default_rng(seed)
    x = rng.uniform(problem.lower, problem.upper)
    y = problem(x)
    while True:
        i = rng.integers(len(x))
        trial = x.copy()
        trial[i] = np.clip(x[i] + step * rng.standard_normal(), problem.lower[i], problem.upper[i])
        value = problem(trial)
        if value < y:
            x = trial
            y = value


def _improve(problem, seed, count=20):
    rng = np.random.default_rng(seed)
    for _ in range(count):
        problem(rng.uniform(problem.lower, problem.upper))


def stops(problem, seed, after=20):
    _improve(problem, seed, after)


def crashes(problem, seed):
    _improve(problem, seed)
    print("about to fail")
    raise RuntimeError("the matrix is not positive definite")


def fails_at_once(problem, seed):
    raise RuntimeError("the licence has expired")


def hangs(problem, seed):
    _improve(problem, seed)
    while True:
        time.sleep(3600)


def hangs_with_a_child(problem, seed, pid_file):
    _improve(problem, seed)
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(3600)"])
    Path(pid_file).write_text(str(child.pid))
    child.wait()


def eats_memory(problem, seed):
    _improve(problem, seed)
    kept = []
    while True:
        kept.append(np.ones(2_000_000))
        time.sleep(0.01)


def closes_all_files(problem, seed):
    """Closes all files, like a process that becomes a daemon."""
    _improve(problem, seed)
    os.closerange(3, 4096)
    time.sleep(3)


def segfaults(problem, seed):
    _improve(problem, seed)
    os.kill(os.getpid(), signal.SIGSEGV)


def exits(problem, seed):
    _improve(problem, seed)
    sys.exit(3)


def swallows(problem, seed):
    """Catches every Exception and goes on, as some solvers do."""
    rng = np.random.default_rng(seed)
    while True:
        try:
            problem(rng.uniform(problem.lower, problem.upper))
        except Exception:
            continue


def slow(problem, seed, pause=0.002):
    rng = np.random.default_rng(seed)
    while True:
        time.sleep(pause)
        problem(rng.uniform(problem.lower, problem.upper))


def holds(problem, seed, store, go):
    """Is slow; once runs are stored, every further run waits for a file before it begins."""
    is_waiting = Path(f"{go}-{os.getpid()}")
    while any(Path(store).glob("runs/part-*.parquet")) and not Path(go).exists():
        is_waiting.touch()
        time.sleep(0.02)
    slow(problem, seed, 0 if Path(go).exists() else 0.002)


def waits(problem, seed, until, begun=None):
    _improve(problem, seed)
    if begun is not None:
        Path(begun).touch()
    while not Path(until).exists():
        time.sleep(0.02)


def reports_iterations(problem, seed, limit=10**9):
    for t in range(1, limit + 1):
        problem.report(t, 1.0 / t)


def knows_a_folder(problem, seed, folder):
    """Reports the better value on instances of one folder."""
    problem.report(1, 1.0)
    problem.report(50, 0.0 if problem.instance.id.startswith(f"{folder}/") else 0.5)


def reports_backwards(problem, seed):
    problem.report(5, 1.0)
    problem.report(4, 0.5)


def uses_global_generator(problem, seed):
    """Draws from NumPy's and Python's global generators, as careless code does."""
    import random

    while True:
        problem(np.random.uniform(problem.lower, problem.upper) * random.random())  # noqa: NPY002


class Bowl:
    """A problem of a user; its state must not leak from one run into the next."""

    def __init__(self, seed, dimension=3):
        rng = np.random.default_rng(seed)
        self.centre = rng.uniform(-1, 1, dimension)
        self.lower = [-2.0] * dimension
        self.upper = [2.0] * dimension
        self.calls = 0

    def squared_distance(self, x):
        return float(np.sum((np.asarray(x) - self.centre) ** 2))

    def __call__(self, x):
        self.calls += 1
        return self.squared_distance(x) + self.calls * 1e-9


def bowl(seed, dimension=3):
    return Bowl(seed, dimension)


class TwoBowls(Bowl):
    """Two objectives."""

    def __call__(self, x):
        return super().__call__(x), float(np.sum((x - 0.5) ** 2))


class TwoBowlsWithConstraint(TwoBowls):
    """Two objectives, and a constraint on the first variable."""

    def __call__(self, x):
        return [*super().__call__(x)], [float(x[0]) - 0.2]


def two_bowls(seed):
    return TwoBowls(seed)


def two_bowls_with_a_constraint(seed):
    return TwoBowlsWithConstraint(seed)


class NanBowl(Bowl):
    """A bowl whose value is NaN half of the time, and sometimes infinite."""

    def __call__(self, x):
        value = super().__call__(x)
        if self.calls % 2:
            return float("nan")
        return float("-inf") if self.calls % 10 == 0 else value


class OnlyNan(Bowl):
    def __call__(self, x):
        return float("nan")


class Hill(Bowl):
    """A problem to be maximised, with the optimum 0."""

    def __call__(self, x):
        return -self.squared_distance(x)


class NoisyBowl(Bowl):
    """A bowl with noise, whose true value without noise is recorded."""

    def __init__(self, seed):
        super().__init__(seed)
        self._rng = np.random.default_rng(seed)
        self.true_value = self.squared_distance

    def __call__(self, x):
        return self.squared_distance(x) - abs(self._rng.standard_cauchy())


def not_a_problem(seed):
    return 42


def boxless(seed):
    return lambda x: 0.0


NOT_CALLABLE = 7


def fails_sometimes(problem, seed, every=4, after=10):
    """Fails on about one instance in ``every``, after it has recorded some values."""
    fails = seed % every == 0
    rng = np.random.default_rng(seed)
    while True:
        for _ in range(after):
            problem(rng.uniform(problem.lower, problem.upper))
        if fails:
            raise RuntimeError("the matrix is not positive definite")


def fails_until(problem, seed, marker):
    """Fails as long as the file ``marker`` does not exist, as a bug does until it is fixed."""
    if not Path(marker).exists():
        raise RuntimeError("the licence has expired")
    coordinate_descent(problem, seed)


def killed_until(problem, seed, folder, times=1):
    """Is killed from outside the first ``times`` times that it runs with a seed."""
    tries = Path(folder) / f"{seed}"
    n_tries = len(tries.read_text()) if tries.exists() else 0
    if n_tries < times:
        tries.write_text("x" * (n_tries + 1))
        os.kill(os.getpid(), signal.SIGKILL)
    coordinate_descent(problem, seed)


def overfits(problem, seed, best_at=5):
    """A training curve that improves up to ``best_at`` and gets worse afterwards."""
    for t in range(1, 21):
        problem.report(t, abs(t - best_at) + seed % 7 / 100)
