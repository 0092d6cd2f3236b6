"""Priors of positive hyperparameters, as densities of their logarithms."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from polarbear.inference.options import InverseGammaPrior, LogNormalPrior


def log_normal(prior: LogNormalPrior, log_x: float) -> float:
    return -0.5 * ((log_x - prior.location) / prior.scale) ** 2


def draw_log_normal(prior: LogNormalPrior, rng: np.random.Generator) -> float:
    return float(rng.normal(prior.location, prior.scale))


def inverse_gamma(prior: InverseGammaPrior, log_x: float) -> float:
    return -prior.shape * log_x - prior.scale * math.exp(-log_x)


def draw_inverse_gamma(prior: InverseGammaPrior, rng: np.random.Generator) -> float:
    return float(np.log(prior.scale) - np.log(rng.gamma(prior.shape)))


def inverse_gamma_quantile(prior: InverseGammaPrior, level: float) -> float:
    from scipy.special import gammaincinv

    return float(prior.scale / gammaincinv(prior.shape, 1 - level))


def exponential(rate: float, log_x: float) -> float:
    return log_x - rate * math.exp(log_x)


def draw_exponential(rate: float, rng: np.random.Generator) -> float:
    return float(np.log(rng.exponential(1 / rate)))
