"""Draws of ratings that are independent over time, given their prior: exact, or Laplace's.

Every part of the grid in every chain has its own random numbers, so that draws depend on the seed
alone and not on how many threads share the work.
"""

from __future__ import annotations

import numpy as np

from polarbear.inference.loops.likelihood import SetSums
from polarbear.inference.loops.simplex import rotate
from polarbear.inference.native.nested import Lattice
from polarbear.inference.native.sampling import (
    BATCH_NUMBERS,
    ROTATION,
    STEPS,
    Draws,
    Effort,
    draws_a_chain,
)
from polarbear.inference.native.set_sums import with_prior
from polarbear.inference.native.simplex_mode import SimplexMode
from polarbear.numerics.threads import in_threads

TIMES_A_PART = 8  # that one task samples


class Turns:
    """Transitions at some times; ``values``, ``accepted`` and ``divergences`` are of the last."""

    def __init__(self, sets: SetSums, times: slice, rng: np.random.Generator) -> None:
        self.sets = sets._replace(
            wins=sets.wins[times], offsets=sets.offsets[times.start : times.stop + 1]
        )
        self.rng = rng
        n_times, n = self.sets.wins.shape
        self.scratch = np.empty((7, int(sets.widest[0]) + n))
        self.values = np.empty(n_times)
        self.accepted = np.empty(n_times)
        self.divergences = 0

    def __call__(
        self,
        centre: np.ndarray,
        spread: np.ndarray,
        u: np.ndarray,
        draws: int,
        thin: int = 1,
        steps: int = 1,
    ) -> np.ndarray:
        """theta[T, draw, n], one every ``thin`` transitions from u[T, d], which moves along."""
        sets, transitions = self.sets, draws * thin
        n_times, n = centre.shape
        theta = np.empty((n_times, draws, n))
        self.accepted[:] = 0.0
        self.divergences = rotate(
            sets.offsets, sets.left, sets.right, sets.counts, sets.wins, centre, spread, u,
            self.rng.standard_normal((n_times, transitions, n - 1)),
            self.rng.random((n_times, transitions, 2)),
            ROTATION / steps, steps, thin, self.scratch, theta, self.values, self.accepted,
        )  # fmt: skip
        self.accepted /= max(transitions, 1)
        return theta


def worst_tenth(rates: np.ndarray) -> float:
    """The mean of the lowest tenth of the rates."""
    return float(np.sort(rates)[: max(1, len(rates) // 10)].mean())


def sample(
    sets: SetSums,
    mode: SimplexMode,
    draws: int,
    chains: int,
    seed: int,
    effort: Effort,
    threads: int | None = None,
) -> Draws:
    """Exact draws at one setting of the prior: each part of the grid is a task for itself."""
    sets = with_prior(sets, mode.latent.dirichlet)
    n_times, n = sets.wins.shape
    theta = np.empty((chains, draws_a_chain(draws, chains), n_times, n))

    def run(task: tuple[int, int]) -> tuple[int, float, int]:
        chain, first = task
        times = slice(first, min(first + TIMES_A_PART, n_times))
        rng = np.random.default_rng([seed, chain, first])
        return _run_part(Turns(sets, times, rng), mode, times, effort, theta[chain][:, times])

    tasks = [(chain, t) for t in range(0, n_times, TIMES_A_PART) for chain in range(chains)]
    results = in_threads(run, tasks, threads)
    return Draws(
        theta.reshape(-1, n_times, n),
        np.zeros(theta.shape[0] * theta.shape[1], dtype=np.int64),
        sum(divergences for divergences, _, _ in results),
        min(acceptance for _, acceptance, _ in results),
        max(steps for _, _, steps in results),
    )


def _run_part(
    turns: Turns, mode: SimplexMode, times: slice, effort: Effort, theta: np.ndarray
) -> tuple[int, float, int]:
    """Fill theta[draw, T, n]; returns divergences, the worst time's acceptance and the steps.

    Steps become more and smaller until even the worst time accepts them.
    """
    centre, spread = mode.centre[times], mode.spread[times]
    u = 0.7 * turns.rng.standard_normal(mode.x[times].shape)
    for steps in STEPS:
        turns(centre, spread, u, effort.warm_up, steps=steps)
        if worst_tenth(turns.accepted) >= effort.acceptance:
            break
    batch = max(1, BATCH_NUMBERS // (u.size * effort.thin))
    divergences, accepted = 0, 0.0
    for first in range(0, len(theta), batch):
        here = slice(first, min(first + batch, len(theta)))
        found = turns(centre, spread, u, here.stop - here.start, effort.thin, steps)
        theta[here] = found.swapaxes(0, 1)
        divergences += turns.divergences
        accepted += worst_tenth(turns.accepted) * (here.stop - here.start) / len(theta)
    return divergences, accepted, steps


def draw_approximation(
    sets: SetSums, lattice: Lattice, draws: int, chains: int, seed: int, threads: int | None = None
) -> Draws:
    """Independent draws from the (nested) Laplace approximation, with their importance weights."""
    n_times, n = sets.wins.shape
    size = chains * draws_a_chain(draws, chains)
    visited = np.random.default_rng(seed).choice(len(lattice.weights), size, p=lattice.weights)
    theta, log_weights = np.empty((size, n_times, n)), np.empty((size, n_times))
    priors = [with_prior(sets, mode.latent.dirichlet) for mode in lattice.modes]

    def run(t: int) -> None:
        rng = np.random.default_rng([seed, t])
        for j, mode in enumerate(lattice.modes):
            here = np.flatnonzero(visited == j)
            u = rng.standard_normal((len(here), n - 1))
            mu = mode.centre[t] + u @ mode.spread[t].T
            weight = np.exp(mu - mu.max(axis=1, keepdims=True))
            theta[here, t] = weight / weight.sum(axis=1, keepdims=True)
            density = _log_density(priors[j], t, mu) - mode.heights[t]
            log_weights[here, t] = density + 0.5 * (u * u).sum(axis=1)
            if t == 0:
                log_weights[here, t] -= mode.correction

    in_threads(run, range(n_times), threads)
    return Draws(theta, visited, log_weights=log_weights)


def _log_density(sets: SetSums, t: int, mu: np.ndarray) -> np.ndarray:
    """Of many mu[draw, n] at one time."""
    here = slice(int(sets.offsets[t]), int(sets.offsets[t + 1]))
    counted = sets.counts[here] > 0
    counts, masks = sets.counts[here][counted], sets.masks[here][counted]
    member = (masks >> np.arange(mu.shape[1])[:, None] & 1).astype(float)
    mu = mu - mu.max(axis=1, keepdims=True)
    values = mu @ sets.wins[t]
    stride = max(1, BATCH_NUMBERS // len(masks))
    for first in range(0, len(mu), stride):
        some = slice(first, first + stride)
        values[some] -= np.log(np.exp(mu[some]) @ member) @ counts
    return np.asarray(values)
