"""Draws of ratings that are independent over time, given their prior: exact, or Laplace's.

Every part of the grid in every chain has its own random numbers, so that draws depend on the seed
alone and not on how many threads share the work.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from polarbear.inference.base import draws_a_chain
from polarbear.inference.chains import START, Chains, Effort, Fared, unseen, worst_tenth
from polarbear.inference.loops.bent import Bent, advance_bent
from polarbear.inference.loops.curved import Curved, advance_curved
from polarbear.inference.loops.grown import Grown, advance_grown
from polarbear.inference.loops.independent import Ratings, advance, approximate
from polarbear.inference.loops.likelihood import SetSums
from polarbear.inference.loops.split_hmc import Noise
from polarbear.inference.native.attempt import Draws
from polarbear.inference.native.independent.alike import Alike, alike_of
from polarbear.inference.native.independent.bending import bend_of
from polarbear.inference.native.independent.mode import Mode
from polarbear.inference.native.nested import Lattice
from polarbear.inference.native.newton import CONVERGED
from polarbear.inference.native.set_sums import with_prior
from polarbear.numerics.threads import in_threads

TIMES_A_PART = 8  # that one task samples
# with kicks that need no choice sets, how many steps there may be, since more hardly make them
# better, and what acceptance at least: below, a chain may stay for long where it is in a tail
CHEAP_STEPS = {Bent: (2, 3, 4), Curved: (3, 4)}
CHEAP_ACCEPTANCE = {Bent: 0.96, Curved: 0.93}
MANY = 1 << 25  # numbers, from which on single precision, in which a store keeps them, must do
FURTHEST = 3.0  # standard deviations up to which many algorithms' ratings are taken for kicks
Target = Ratings | Grown | Bent | Curved
LOOPS = {Ratings: advance, Grown: advance_grown, Bent: advance_bent, Curved: advance_curved}


class TimeChains(Chains):
    """A chain at each of some times, which fills theta[draw, T, n].

    At each time log-ratings are centre[n] + spread[n, d] u[d]. Where there is a ``bend`` (of all
    times, as `bend_of` has it), kicks are taken from it as long as enough turns are accepted.
    """

    def __init__(
        self,
        sets: SetSums,
        times: slice,
        mode: Mode,
        rng: np.random.Generator,
        theta: np.ndarray,
        bend: np.ndarray | None = None,
        alike: Alike | None = None,
    ) -> None:
        n_times, n = theta.shape[1:]
        super().__init__(n_times, n - 1, rng)
        self.times, self.theta = times, theta
        self.target: Target
        u = START * rng.standard_normal((n_times, n - 1))
        part = None if bend is None else bend[times]
        self.place(sets, mode.centre[times], mode.spread[times], u, part, alike)

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
        alike: Alike | None = None,
    ) -> None:
        """Walk from u[T, d] in other coordinates, with other choice sets, from now on.

        They have the prior counted in; which of them count ``alike`` is found out if not told.
        """
        n = centre.shape[1]
        room = int(sets.widest[0]) + n
        offsets = sets.offsets[self.times.start : self.times.stop + 1]
        of_sets = centre, spread, sets.wins[self.times], offsets, sets.left, sets.right, sets.counts
        scratch = [np.empty(room) for _ in range(2)]
        cheap: Target | None = None
        if len(sets.masks):
            self._exact: Target = Ratings(*of_sets, *scratch)
            if bend is not None:
                cheap = Bent(*of_sets, bend, math.sqrt(CONVERGED), scratch[0])
        else:
            counted = (alike or alike_of(sets)).at(self.times)
            self._exact = Grown(*of_sets, *counted, *scratch)
            if bend is not None:
                limits = np.zeros((*bend.shape[:2], 2), dtype=np.float32)
                limits[:, :n, 0] = FURTHEST * np.sqrt((spread**2).sum(axis=2))
                limits[:, :n, 1] = sets.wins[self.times]
                single = np.zeros(bend.shape[2:], dtype=np.float32)
                cheap = Curved(*of_sets[:-1], *counted, bend, limits, scratch[0], single)
        self._walk_on(cheap or self._exact, u)

    def _walk_on(self, target: Target, u: np.ndarray) -> None:
        self.target = target
        self.walkers = unseen(u, 1, target.centre.shape[1])
        self.look()

    def settle(self, acceptance: Callable[[], np.ndarray], effort: Effort) -> None:
        """Take the cheap kicks if there are any and a few steps do, or else exact ones."""
        if self.target is not self._exact:
            kind = type(self.target)
            enough = max(CHEAP_ACCEPTANCE[kind], effort.acceptance)
            for self.steps in CHEAP_STEPS[kind]:
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


class SampledTimes:
    """Exact draws at the one setting of the prior, theta[chain, draw, T, n].

    Times have nothing to do with each other, so that some of them can be drawn again.
    """

    def __init__(
        self,
        sets: SetSums,
        lattice: Lattice,
        draws: int,
        chains: int,
        seed: int,
        threads: int | None = None,
    ) -> None:
        self._mode = lattice.modes[0]
        self._sets = with_prior(sets, self._mode.latent.dirichlet)
        self._bend = bend_of(self._sets, self._mode, threads)
        self._alike = None if len(sets.masks) else alike_of(self._sets)
        self._seed, self._threads = seed, threads
        n_times, n = sets.wins.shape
        shape = chains, draws_a_chain(draws, chains), n_times, n
        self.theta = np.empty(shape, dtype=float if math.prod(shape) < MANY else np.float32)
        self._acceptance = np.ones(n_times)
        self._divergences = np.zeros(n_times, dtype=np.int64)  # of a part, told of its first time

    @property
    def draws(self) -> Draws:
        """All of them, as they are now."""
        theta = self.theta.reshape(-1, *self.theta.shape[2:])
        visited = np.zeros(len(theta), dtype=np.int64)
        divergences = int(self._divergences.sum())
        return Draws(theta, visited, divergences, float(self._acceptance.min()))

    def draw(self, effort: Effort) -> np.ndarray:
        """All times, each part of the grid a task for itself; returns them."""
        n_times = self.theta.shape[2]
        starts = range(0, n_times, TIMES_A_PART)
        self._draw([slice(t, min(t + TIMES_A_PART, n_times)) for t in starts], effort)
        return np.arange(n_times)

    def draw_again(self, times: np.ndarray, effort: Effort) -> np.ndarray:
        """These times and those of parts in which a transition diverged; returns all of them."""
        diverged = np.flatnonzero(self._divergences)[:, None] + np.arange(TIMES_A_PART)
        again = np.union1d(times, diverged[diverged < self.theta.shape[2]])
        self._draw([slice(t, t + 1) for t in again.tolist()], effort, 1)
        return again

    def _draw(self, parts: list[slice], effort: Effort, *others: int) -> None:
        """By random numbers of their own, and by ``others`` for another attempt."""

        def run(task: tuple[slice, int]) -> Fared:
            times, chain = task
            rng = np.random.default_rng([self._seed, chain, times.start, *others])
            theta = self.theta[chain][:, times]
            chains = TimeChains(self._sets, times, self._mode, rng, theta, self._bend, self._alike)
            return chains.run(effort, len(theta))

        tasks = [(times, chain) for times in parts for chain in range(len(self.theta))]
        for times in parts:
            self._acceptance[times], self._divergences[times] = 1.0, 0
        for (times, _), fared in zip(tasks, in_threads(run, tasks, self._threads), strict=True):
            self._acceptance[times] = np.minimum(self._acceptance[times], fared.acceptance)
            self._divergences[times.start] += fared.divergences


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
