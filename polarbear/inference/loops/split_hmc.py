"""One transition of split Hamiltonian Monte Carlo, whatever it is that is sampled.

In whitened coordinates u every target here is N(u; 0, I) exp(residual(u)). The Gaussian part moves
by a rotation, which is exact; only the residual, what the log-density has beyond it, gives kicks.
A target is a named tuple with what its residual needs, and says how to `evaluate` it; transitions
are compiled anew for each.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from polarbear.numerics.compiling import borrowing, inlined

DIVERGED = 1000.0  # an energy error beyond this means the integrator has left the posterior


class Walkers(NamedTuple):
    """Where C chains are: u[C, N] and, of their targets there, kick[C, N] (the residual's gradient)
    and residual[C, T], its parts; seen[C, T, d] is what draws are made from, node[C] which of
    several Gaussians u belongs to.

    Where that is not known yet, the residual is minus infinity and the kick zero: a turn by no
    angle at all is then sure to be accepted, and finds out.
    """

    u: np.ndarray
    kick: np.ndarray
    residual: np.ndarray
    seen: np.ndarray
    node: np.ndarray


class Noise(NamedTuple):
    """Randomness of K transitions of C chains: momenta[C, K, N], the angles[C, K] of a step, and
    uniforms[C, K, 1 or more], the first of which decides on acceptance."""

    momenta: np.ndarray
    angles: np.ndarray
    uniforms: np.ndarray


def evaluate(target, walkers, valued):
    """Fill in all that there is to say of the walkers' u and node; where it is not ``valued``, the
    residual need not be right, as on the way from where a turn begins to where it ends."""
    raise NotImplementedError("each target has its own, for compiled code alone")


@borrowing
def turn(target, walkers, trial, noise, k, n_steps, energies, accepted):
    """Turn each u by n_steps times its angle: the k-th transition; returns how many diverged.

    ``accepted[C]`` gathers probabilities of acceptance. Momenta are overwritten, and so are
    ``trial``, as many walkers again, and energies[C].
    """
    # arrays are taken out of their tuples but once: that counts references, which takes time
    u, kick, residual = walkers.u, walkers.kick, walkers.residual
    trial_u, trial_kick, trial_residual = trial.u, trial.kick, trial.residual
    momenta, angles, uniforms = noise.momenta, noise.angles, noise.uniforms
    n_chains, size = u.shape
    divergences = 0
    for c in range(n_chains):
        trial.node[c] = walkers.node[c]
        energy = 0.0
        for i in range(size):
            trial_u[c, i] = u[c, i]
            trial_kick[c, i] = kick[c, i]
            energy += 0.5 * (u[c, i] * u[c, i] + momenta[c, k, i] * momenta[c, k, i])
        for t in range(residual.shape[1]):
            energy -= residual[c, t]
        energies[c] = energy
    for step in range(n_steps):
        for c in range(n_chains):
            angle = angles[c, k]
            cosine, sine = math.cos(angle), math.sin(angle)
            for i in range(size):
                push = momenta[c, k, i] + 0.5 * angle * trial_kick[c, i]
                momenta[c, k, i] = push * cosine - trial_u[c, i] * sine
                trial_u[c, i] = trial_u[c, i] * cosine + push * sine
        evaluate(target, trial, step == n_steps - 1)
        for c in range(n_chains):
            for i in range(size):
                momenta[c, k, i] += 0.5 * angles[c, k] * trial_kick[c, i]
    for c in range(n_chains):
        energy = 0.0
        for i in range(size):
            energy += 0.5 * (trial_u[c, i] * trial_u[c, i] + momenta[c, k, i] * momenta[c, k, i])
        for t in range(residual.shape[1]):
            energy -= trial_residual[c, t]
        gain = energies[c] - energy
        divergences += not gain > -DIVERGED
        probability = math.exp(min(gain, 0.0)) if math.isfinite(energy) else 0.0
        accepted[c] += probability
        if uniforms[c, k, 0] < probability:
            take(trial, walkers, c)
    return divergences


@inlined
def take(trial, walkers, c):
    """Let chain c be where its trial has led."""
    u, kick, residual, seen = walkers.u, walkers.kick, walkers.residual, walkers.seen
    trial_u, trial_kick, trial_residual, trial_seen = (
        trial.u, trial.kick, trial.residual, trial.seen
    )  # fmt: skip
    for i in range(u.shape[1]):
        u[c, i] = trial_u[c, i]
        kick[c, i] = trial_kick[c, i]
    for t in range(residual.shape[1]):
        residual[c, t] = trial_residual[c, t]
        for q in range(seen.shape[2]):
            seen[c, t, q] = trial_seen[c, t, q]
    walkers.node[c] = trial.node[c]
