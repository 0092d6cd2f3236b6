"""What an attempt at sampling is given, and what it gives."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from polarbear.inference.chains import Effort


@dataclass(frozen=True)
class Attempt:
    """How hard an attempt tries: a second one tries harder.

    ``spacing`` of hyperparameter nodes is in standard deviations, ``pruned`` the weight of nodes
    left out, relative to the heaviest; ``tuning`` and ``target`` are NUTS's transitions before the
    first draw, and the acceptance it aims at.
    """

    effort: Effort
    spacing: float
    pruned: float
    tuning: int
    target: float


FIRST = Attempt(
    Effort(warm_up=40, acceptance=0.93, thin=1),
    spacing=1.0,
    pruned=1e-4,
    tuning=1000,
    target=0.8,
)
HARDER = Attempt(
    Effort(warm_up=200, acceptance=0.98, thin=4),
    spacing=0.8,
    pruned=1e-6,
    tuning=3000,
    target=0.95,
)


@dataclass(frozen=True)
class Draws:
    """theta[draw, T, n], chain after chain; the node each draw was at; how the sampler fared.

    ``log_weights[draw, block]`` are those of importance sampling, for approximate draws only;
    ``visited[draw]`` is the node index, zero for a model without hyperparameters.
    """

    theta: np.ndarray
    visited: np.ndarray
    divergences: int = 0
    acceptance: float = 1.0
    log_weights: np.ndarray | None = None
