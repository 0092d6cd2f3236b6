"""The precision of a Gauss-Markov chain as a band, for gp and random-walk."""

from __future__ import annotations

import numpy as np

# Variance added to each step of a chain of unit scale: neighbouring values of a smooth process on a
# fine grid determine each other to more digits than a float has.
JITTER = 1e-10


def chain_precision(
    first: np.ndarray, transitions: np.ndarray, noises: np.ndarray
) -> tuple[np.ndarray, float]:
    """Band and half log-determinant for x_0 ~ N(0, first), x_t ~ N(A_t x_{t-1}, noise_t).

    States of size m follow each other; the band spans two of them.
    """
    m = len(first)
    n_times = len(transitions) + 1
    inverse_first = np.linalg.inv(first)
    diagonal = np.zeros((n_times, m, m))
    diagonal[0] = inverse_first
    half_log_det = 0.5 * float(np.linalg.slogdet(inverse_first)[1])
    below = np.zeros((n_times, m, m))
    if n_times > 1:
        # scaled to unit diagonal before inverting: over a small step the components of a smooth
        # state differ by many orders of magnitude
        noises = noises + JITTER * np.eye(m)
        scale = np.sqrt(np.diagonal(noises, axis1=1, axis2=2))
        scales = scale[:, :, None] * scale[:, None, :]
        unit = noises / scales
        inverse = np.linalg.inv(unit) / scales
        gain = inverse @ transitions
        diagonal[1:] += inverse
        diagonal[:-1] += np.swapaxes(transitions, 1, 2) @ gain
        below[1:] = -gain
        log_dets = np.linalg.slogdet(unit)[1] + 2 * np.log(scale).sum(axis=1)
        half_log_det -= 0.5 * float(log_dets.sum())
    width = 2 * m
    band = np.zeros((n_times, m, width))
    for i in range(m):
        for j in range(m):
            if j <= i:
                band[:, i, width - 1 - (i - j)] = diagonal[:, i, j]
            band[:, i, width - 1 - (i - j + m)] = below[:, i, j]
    return band.reshape(n_times * m, width), half_log_det
