"""Chains of split HMC: how far a transition turns, in how many steps, and how long chains run.

What they walk on is for `loops` to say, one kind of chain each: all ratings of a temporal model,
the ratings at single times, or a newcomer's.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from polarbear.inference.loops.split_hmc import Noise, Walkers

ROTATION = 1.6  # radians a transition turns in all: a quarter circle forgets where it began
JITTER = 0.15  # of that, either way: no transition may lead round in a circle for ever
STEPS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)  # it may take; one, where nearly Gaussian
START = 0.7  # standard deviations that chains begin from their centres, unless told otherwise
BATCH_NUMBERS = 300_000  # random numbers made at a time, which bounds memory


@dataclass(frozen=True)
class Effort:
    """How hard chains work: transitions by which a number of steps is judged, the acceptance that
    it should have, and transitions for each draw that is kept."""

    warm_up: int
    acceptance: float
    thin: int


@dataclass(frozen=True)
class Fared:
    """How chains fared: the divergences of all, and the mean acceptance[C] of each."""

    divergences: int
    acceptance: np.ndarray


class Chains(ABC):
    """C chains side by side, each in ``size`` numbers, that all take the same number of steps."""

    uniforms: ClassVar[int] = 1  # that a transition takes beside its angle

    def __init__(self, count: int, size: int, rng: np.random.Generator) -> None:
        self.count, self.size, self.rng = count, size, rng
        self.steps = STEPS[0]

    @abstractmethod
    def _advance(
        self, noise: Noise, n_steps: int, thin: int, kept: slice, accepted: np.ndarray
    ) -> int:
        """Make every ``thin``-th state one of the draws ``kept``; returns divergences.

        A transition takes n_steps steps; ``accepted[C]`` gathers probabilities of acceptance.
        """

    def advance(self, kept: slice, thin: int = 1) -> Fared:
        """So many draws more."""
        transitions = (kept.stop - kept.start) * thin
        momenta = self.rng.standard_normal((self.count, transitions, self.size))
        uniforms = self.rng.random((self.count, transitions, 1 + self.uniforms))
        angles = ROTATION / self.steps * (1 + JITTER * (2 * uniforms[:, :, 0] - 1))
        noise = Noise(momenta, angles, np.ascontiguousarray(uniforms[:, :, 1:]))
        accepted = np.zeros(self.count)
        divergences = self._advance(noise, self.steps, thin, kept, accepted)
        return Fared(divergences, accepted / max(transitions, 1))

    def look(self) -> None:
        """Evaluate where the chains are, by a turn by no angle; that is draw 0, for now."""
        still = (np.zeros((self.count, 1, *end)) for end in ((self.size,), (), (self.uniforms,)))
        self._advance(Noise(*still), 1, 1, slice(0, 1), np.zeros(self.count))

    def run(self, effort: Effort, draws: int) -> Fared:
        """Find the number of steps, then make draws 0 to ``draws`` of each chain."""

        def acceptance() -> np.ndarray:
            return self.advance(slice(0, 1), effort.warm_up).acceptance

        self.settle(acceptance, effort)
        batch = max(1, BATCH_NUMBERS // (self.count * self.size * effort.thin))
        divergences, accepted = 0, np.zeros(self.count)
        for first in range(0, draws, batch):
            kept = slice(first, min(first + batch, draws))
            fared = self.advance(kept, effort.thin)
            divergences += fared.divergences
            accepted += fared.acceptance * (kept.stop - kept.start) / draws
        return Fared(divergences, accepted)

    def settle(self, acceptance: Callable[[], np.ndarray], effort: Effort) -> None:
        """Take more and smaller steps until even the worst tenth of the chains accept them."""
        for self.steps in STEPS:
            if worst_tenth(acceptance()) >= effort.acceptance:
                break


def unseen(u: np.ndarray, n_times: int, d: int) -> Walkers:
    """Walkers at u[C, N], of whose targets nothing is known yet but their size."""
    return Walkers(
        u=u,
        kick=np.zeros_like(u),
        residual=np.full((len(u), n_times), -np.inf),
        seen=np.zeros((len(u), n_times, d)),
        node=np.zeros(len(u), dtype=np.int64),
    )


def worst_tenth(acceptance: np.ndarray) -> float:
    """The mean of the lowest tenth."""
    return float(np.sort(acceptance)[: max(1, len(acceptance) // 10)].mean())
