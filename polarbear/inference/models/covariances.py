"""Stationary covariances of unit variance on a line: functions, spectra, state spaces and their
precision as Gauss-Markov chains.
"""

import math
from dataclasses import dataclass
from functools import cache

import numpy as np
import scipy

# Variance that is added to each step of a chain of unit scale. Without it, neighbouring values of a
# smooth process on a fine grid determine each other to more digits than a float has.
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
        constant = 2 * math.sqrt(math.pi) * math.gamma(nu + 0.5) / math.gamma(nu) * rate**nu
        return np.asarray(constant * (rate + frequency**2) ** (-nu - 0.5))


COVARIANCES = {  # Stan programs count them from one, in this order
    "matern-3/2": Covariance(1, basis_rule=3.42, boundary_rule=4.5),
    "matern-5/2": Covariance(2, basis_rule=2.65, boundary_rule=4.1),
    "squared-exponential": Covariance(None, basis_rule=1.75, boundary_rule=3.2),
}


def state_space(order: int, steps: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A Matern process of unit variance with its derivatives, as a Gauss-Markov chain.

    Derivatives are divided by powers of the decay rate lambda = sqrt(2 p + 1) / ell. Returns the
    stationary covariance of the state, and its transitions and noise over each step lambda * dt.
    """
    stationary, terms = _generated(order)
    powers = steps[:, None] ** np.arange(order + 1)
    transitions = np.tensordot(powers * np.exp(-steps)[:, None], terms, 1)
    # The noise of a tiny step is a difference of nearly equal numbers. Its rounding error is far
    # below JITTER.
    noises = stationary - transitions @ stationary @ transitions.swapaxes(1, 2)
    return stationary, transitions, (noises + noises.swapaxes(1, 2)) / 2


@cache
def _generated(order: int) -> tuple[np.ndarray, np.ndarray]:
    """The stationary covariance, and exp(F s) exp(s) as a polynomial in s, for the generator F."""
    size = order + 1
    generator = np.diag(np.ones(order), 1)
    generator[-1] = [-math.comb(size, k) for k in range(size)]
    impulse = np.diag(np.eye(size)[-1])
    stationary = scipy.linalg.solve_continuous_lyapunov(generator, -impulse)
    shifted = generator + np.eye(size)  # nilpotent, so its exponential is a short polynomial
    terms = [np.linalg.matrix_power(shifted, k) / math.factorial(k) for k in range(size)]
    return stationary / stationary[0, 0], np.array(terms)


def chain_precision(
    first: np.ndarray, transitions: np.ndarray, noises: np.ndarray
) -> tuple[np.ndarray, float]:
    """Lower band and half log-determinant for x_0 ~ N(0, first), x_t ~ N(A_t x_{t-1}, noise_t).

    States of size m follow each other; the band spans two of them.
    """
    m = len(first)
    n_times = len(transitions) + 1
    inverse_first = np.linalg.inv(first)
    # Noises are scaled to a unit diagonal before they are inverted, because over a small step the
    # components of a smooth state differ by many orders of magnitude.
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
