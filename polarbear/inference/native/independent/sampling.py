"""Draws of ratings that are independent over time, given their prior: exact, or Laplace's.

Every part of the grid in every chain has its own random numbers, so that draws depend on the seed
alone and not on how many threads share the work.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from polarbear.inference.base import draws_a_chain
from polarbear.inference.chains import START, Chains, Effort, unseen, worst_tenth
from polarbear.inference.loops.bent import Bent, advance_bent
from polarbear.inference.loops.grown import Grown, advance_grown
from polarbear.inference.loops.independent import Ratings, advance, approximate
from polarbear.inference.loops.likelihood import SetSums
from polarbear.inference.loops.split_hmc import Noise
from polarbear.inference.native.attempt import Draws
from polarbear.inference.native.independent.bending import bend_of
from polarbear.inference.native.independent.mode import Mode
from polarbear.inference.native.nested import Lattice
from polarbear.inference.native.newton import CONVERGED
from polarbear.inference.native.set_sums import with_prior
from polarbear.numerics.threads import in_threads

TIMES_A_PART = 8  # that one task samples
BENT_STEPS = (2, 3, 4)  # with kicks by third derivatives; more hardly make them better
BENT_ACCEPTANCE = 0.96  # at least: below, a chain may stay for long where it is in a tail
LOOPS = {Ratings: advance, Grown: advance_grown, Bent: advance_bent}


class TimeChains(Chains):
    """A chain at each of some times, which fills theta[draw, T, n].

    At each time log-ratings are centre[n] + spread[n, d] u[d]. Where there is a ``bend`` (of all
    times), kicks are taken from it as long as enough turns are accepted.
    """

    def __init__(
        self,
        sets: SetSums,
        times: slice,
        mode: Mode,
        rng: np.random.Generator,
        theta: np.ndarray,
        bend: np.ndarray | None = None,
    ) -> None:
        n_times, n = theta.shape[1:]
        super().__init__(n_times, n - 1, rng)
        self.times, self.theta = times, theta
        self.target: Ratings | Grown | Bent
        u = START * rng.standard_normal((n_times, n - 1))
        part = None if bend is None else bend[times]
        self.place(sets, mode.centre[times], mode.spread[times], u, part)

    @property
    def log_densities(self) -> np.ndarray:
        """Of where the chains are, [T]."""
        return np.asarray(self.walkers.residual[:, 0] - 0.5 * (self.walkers.u**2).sum(axis=1))

    def place(
        self,
        sets: SetSums,
        centre: np.ndarray,
        spread: np.ndarray,
        u: np.ndarray,
        bend: np.ndarray | None = None,
    ) -> None:
        """Walk from u[T, d] in other coordinates, with other choice sets, from now on.

        They have the prior counted in.
        """
        n = centre.shape[1]
        room = int(sets.widest[0]) + n
        offsets = sets.offsets[self.times.start : self.times.stop + 1]
        of_sets = centre, spread, sets.wins[self.times], offsets, sets.left, sets.right, sets.counts
        scratch = [np.empty(room) for _ in range(3)]
        if not len(sets.masks):
            otherwise = _counted_otherwise(sets.counts, offsets)
            self._walk_on(Grown(*of_sets, *otherwise, *scratch), u)
            return
        self._exact = Ratings(*of_sets, *scratch[:2])
        if bend is None:
            self._walk_on(self._exact, u)
        else:
            self._walk_on(Bent(*of_sets, bend, math.sqrt(CONVERGED), scratch[0]), u)

    def _walk_on(self, target: Ratings | Grown | Bent, u: np.ndarray) -> None:
        self.target = target
        self.walkers = unseen(u, 1, target.centre.shape[1])
        self.look()

    def settle(self, acceptance: Callable[[], np.ndarray], effort: Effort) -> None:
        """Take the cheap kicks if there are any and a few steps do, or else exact ones."""
        if isinstance(self.target, Bent):
            enough = max(BENT_ACCEPTANCE, effort.acceptance)
            for self.steps in BENT_STEPS:
                if worst_tenth(acceptance()) >= enough:
                    return
            self._walk_on(self._exact, self.walkers.u)
        super().settle(acceptance, effort)

    def _advance(
        self, noise: Noise, n_steps: int, thin: int, kept: slice, accepted: np.ndarray
    ) -> int:
        theta = np.empty((kept.stop - kept.start, *self.theta.shape[1:]))
        loop = LOOPS[type(self.target)]
        # what kicks by third derivatives need to know of a place is found again in no time
        walkers = self.walkers[:1] if isinstance(self.target, Bent) else self.walkers
        divergences = loop(*self.target, *walkers, *noise, n_steps, thin, theta, accepted)
        self.theta[kept] = theta
        return int(divergences)


def _counted_otherwise(
    counts: np.ndarray, offsets: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """How often most sets of each time count, where the others begin, and their local numbers."""
    usual, odd = np.empty(len(offsets) - 1), []
    for t, (first, end) in enumerate(zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True)):
        usual[t] = np.median(counts[first:end])
        odd.append(np.flatnonzero(counts[first:end] != usual[t]).astype(np.uint64))
    begins = np.cumsum([0, *map(len, odd)]).astype(np.uint64)
    return usual, begins, np.concatenate(odd)


def sample(
    sets: SetSums,
    lattice: Lattice,
    draws: int,
    chains: int,
    seed: int,
    effort: Effort,
    threads: int | None = None,
) -> Draws:
    """Exact draws at the one setting of the prior: each part of the grid is a task for itself."""
    mode = lattice.modes[0]
    sets = with_prior(sets, mode.latent.dirichlet)
    n_times, n = sets.wins.shape
    a_chain = draws_a_chain(draws, chains)
    theta = np.empty((chains, a_chain, n_times, n))
    bend = bend_of(sets, mode)

    def run(task: tuple[int, int]) -> tuple[int, float]:
        chain, first = task
        times = slice(first, min(first + TIMES_A_PART, n_times))
        rng = np.random.default_rng([seed, chain, first])
        fared = TimeChains(sets, times, mode, rng, theta[chain][:, times], bend).run(
            effort, a_chain
        )
        return fared.divergences, worst_tenth(fared.acceptance)

    tasks = [(chain, t) for t in range(0, n_times, TIMES_A_PART) for chain in range(chains)]
    results = in_threads(run, tasks, threads)
    return Draws(
        theta.reshape(-1, n_times, n),
        np.zeros(chains * a_chain, dtype=np.int64),
        sum(divergences for divergences, _ in results),
        min(acceptance for _, acceptance in results),
    )


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
        first, last = int(sets.offsets[t]), int(sets.offsets[t + 1])
        for j, (mode, prior) in enumerate(zip(lattice.modes, priors, strict=True)):
            here = np.flatnonzero(visited == j)
            drawn, weights = np.empty((len(here), n)), np.empty(len(here))
            approximate(
                mode.centre[t], mode.spread[t], prior.wins[t],
                prior.left[first:last], prior.right[first:last], prior.counts[first:last],
                int(prior.widest[0]), rng.standard_normal((len(here), n - 1)), drawn, weights,
            )  # fmt: skip
            theta[here, t] = drawn
            log_weights[here, t] = weights - mode.heights[t]
            if t == 0:
                log_weights[here, t] -= mode.correction

    in_threads(run, range(n_times), threads)
    return Draws(theta, visited, log_weights=log_weights)
