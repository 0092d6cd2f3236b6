"""Draws of ratings, as every method of the native engine returns them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Draws:
    """theta[draw, T, n], chain after chain, with log_hyper[draw, H] and how the sampler fared.

    ``log_weights[draw, block]`` are those of importance sampling, for approximate draws only.
    ``missed`` is the share of draws that shows hyperparameters beyond the lattice.
    """

    theta: np.ndarray
    log_hyper: np.ndarray
    divergences: int = 0
    acceptance: float | None = None
    log_weights: np.ndarray | None = None
    missed: float = 0.0
