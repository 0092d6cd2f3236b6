"""Stationary covariances of unit variance on a line: functions, spectra, state spaces and their
precision as Gauss-Markov chains.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy.special import gamma, gammainc

# Variance added to each step of a chain of unit scale: neighbouring values of a smooth process on a
# fine grid determine each other to more digits than a float has.
JITTER = 1e-10


@dataclass(frozen=True)
class Covariance:
    """A kernel with the constants of Riutort-Mayol's rules for its Hilbert-space approximation.

    ``order`` is p of a Matern kernel with nu = p + 1/2, or None where the process is not Markov.
    With s the half range, hsgp asks for c >= boundary_rule * ell / s and
    m >= basis_rule * c / (ell / s).
    """

    order: int | None
    basis_rule: float
    boundary_rule: float

    def correlation(self, distance: np.ndarray, lengthscale: float) -> np.ndarray:
        if self.order is None:
            return np.asarray(np.exp(-0.5 * (distance / lengthscale) ** 2))
        r = math.sqrt(2 * self.order + 1) * distance / lengthscale
        polynomial = 1 + r + (r**2 / 3 if self.order == 2 else 0)
        return np.asarray(polynomial * np.exp(-r))

    def spectral_density(self, frequency: np.ndarray, lengthscale: float) -> np.ndarray:
        if self.order is None:
            power = np.exp(-0.5 * (lengthscale * frequency) ** 2)
            return np.asarray(math.sqrt(2 * math.pi) * lengthscale * power)
        nu = self.order + 0.5
        rate = 2 * nu / lengthscale**2
        constant = 2 * math.sqrt(math.pi) * gamma(nu + 0.5) / gamma(nu) * rate**nu
        return np.asarray(constant * (rate + frequency**2) ** (-nu - 0.5))


COVARIANCES = {  # Stan programs count them from one, in this order
    "matern-3/2": Covariance(1, basis_rule=3.42, boundary_rule=4.5),
    "matern-5/2": Covariance(2, basis_rule=2.65, boundary_rule=4.1),
    "squared-exponential": Covariance(None, basis_rule=1.75, boundary_rule=3.2),
}

# Answers to a unit impulse of noise, of the process and its derivatives over powers of the decay
# rate lambda = sqrt(2 p + 1) / ell: polynomials in s = lambda * time (constant first) times exp(-s)
_IMPULSE = {
    1: np.array([[0.0, 1.0, 0.0], [1.0, -1.0, 0.0]]),
    2: np.array([[0.0, 0.0, 0.5], [0.0, 1.0, -0.5], [1.0, -2.0, 0.5]]),
}


def transitions(order: int, steps: np.ndarray) -> np.ndarray:
    """The state's mean after each step lambda * dt, as a matrix [.., p + 1, p + 1]."""
    powers = steps[:, None] ** np.arange(order + 1)
    return np.asarray(np.tensordot(powers * np.exp(-steps)[:, None], _exponential(order), 1))


@cache
def _exponential(order: int) -> np.ndarray:
    """exp(F s) exp(s) as a polynomial in s, for the generator F of the scaled state."""
    size = order + 1
    generator = np.diag(np.ones(order), 1)
    generator[-1] = -np.array([math.comb(size, k) for k in range(size)], dtype=float)
    shifted = generator + np.eye(size)  # nilpotent, so its exponential is a short polynomial
    return np.array([np.linalg.matrix_power(shifted, k) / math.factorial(k) for k in range(size)])


def noise_covariances(order: int, steps: np.ndarray) -> np.ndarray:
    """Covariance that noise adds over each step lambda * dt, for a process of unit variance.

    Integrals of products of impulse responses, by incomplete gamma functions: taking differences
    of stationary covariances instead would cancel to nothing for small steps.
    """
    k = np.arange(2 * order + 1)
    return np.asarray(np.tensordot(gammainc(k + 1, 2 * steps[:, None]), _products(order), 1))


@cache
def _products(order: int) -> np.ndarray:
    """What each power of s adds to the long-run covariance: [power, i, j], for unit variance."""
    k = np.arange(2 * order + 1)
    responses = _IMPULSE[order]
    products = np.array([[np.convolve(a, b)[: len(k)] for b in responses] for a in responses])
    table = np.moveaxis(products * gamma(k + 1) / 2.0 ** (k + 1), 2, 0)
    return np.asarray(table / table[:, 0, 0].sum())


def stationary_covariance(order: int) -> np.ndarray:
    """Covariance of the state at any time, for a process of unit variance."""
    return np.asarray(_products(order).sum(axis=0))


def chain_precision(
    first: np.ndarray, transitions: np.ndarray, noises: np.ndarray
) -> tuple[np.ndarray, float]:
    """Lower band and half log-determinant for x_0 ~ N(0, first), x_t ~ N(A_t x_{t-1}, noise_t).

    States of size m follow each other; the band spans two of them.
    """
    m, n_times = len(first), len(transitions) + 1
    inverse_first = np.linalg.inv(first)
    # scaled to unit diagonal before inverting: over a small step the components of a smooth state
    # differ by many orders of magnitude
    noises = noises + JITTER * np.eye(m)
    scale = np.sqrt(np.diagonal(noises, axis1=1, axis2=2))
    scales = scale[:, :, None] * scale[:, None, :]
    unit = noises / scales
    inverse = np.linalg.inv(unit) / scales
    gain = inverse @ transitions
    diagonal = np.concatenate([inverse_first[None], inverse])
    diagonal[:-1] += np.swapaxes(transitions, 1, 2) @ gain
    log_dets = np.linalg.slogdet(unit)[1].sum() + 2 * np.log(scale).sum()
    half_log_det = 0.5 * float(np.linalg.slogdet(inverse_first)[1] - log_dets)
    band = np.zeros((2 * m, n_times, m))  # rows of the lower band, for each state and component
    for i in range(m):
        for j in range(m):
            if j <= i:
                band[i - j, :, j] = diagonal[:, i, j]
            band[m + i - j, :-1, j] = -gain[:, i, j]
    return band.reshape(2 * m, -1)[: n_times * m], half_log_det
