"""Exact sampling of ratings that are independent over time: split Hamiltonian Monte Carlo.

At each time mu = centre + spread u, where spread' H spread = 1 for the curvature H at the mode: in
u the density is nearly a standard normal, whose motion is a rotation; only what the log-density has
beyond second order gives kicks. One plain loop, because that is what compiles quickly.
"""

from __future__ import annotations

import math

import numpy as np

from polarbear.inference.loops.fastmath import fast_exp, fast_log
from polarbear.inference.loops.likelihood import LOWEST, ONE
from polarbear.numerics.compiling import kernel

DIVERGED = 1000.0  # an energy error beyond this means the integrator has left the posterior


@kernel
def rotate(
    offsets, left, right, counts, wins, centre, spread, u, normals, uniforms, angle, n_steps, thin,
    scratch, theta, values, accepted,
):  # fmt: skip
    """Fill theta[T, draw, n], draws ``thin`` transitions apart; returns divergences.

    The sets of time t stand at offsets[t] .. offsets[t + 1] of left, right and counts, as in
    `likelihood.SetSums`, with the prior counted in. A transition turns u[t] by n_steps times the
    angle, give or take; normals[T, transition, d] and uniforms[T, transition, 2] are its
    randomness, accepted[T] sums its probabilities, values[T] are log-densities of the last states.
    scratch[7, most sets + n] is overwritten.
    """
    n_times, n, d = spread.shape
    base = scratch.shape[1] - n
    sums, rates, now = scratch[0], scratch[1], scratch[2]
    p, trial, force, kick = scratch[3], scratch[4], scratch[5], scratch[6]
    divergences = 0
    for t in range(n_times):
        first = offsets[t]
        m = offsets[t + 1] - first
        height = -np.inf
        for q in range(d):
            kick[q] = 0.0  # scratch may hold anything, and no step times that need not be zero
        # before the first transition, the same lines evaluate the state that it begins from
        for k in range(-1, normals.shape[1]):
            turns = n_steps if k >= 0 else 1
            step = angle * (0.85 + 0.3 * uniforms[t, k, 0]) if k >= 0 else 0.0
            cosine = math.cos(step)
            sine = math.sin(step)
            gain = -height
            for q in range(d):
                p[q] = normals[t, k, q] if k >= 0 else 0.0
                trial[q] = u[t, q]
                force[q] = kick[q]
                gain += 0.5 * p[q] * p[q]
            value = 0.0
            for _ in range(turns):
                for q in range(d):
                    push = p[q] + 0.5 * step * force[q]
                    p[q] = push * cosine - trial[q] * sine
                    trial[q] = trial[q] * cosine + push * sine
                top = -np.inf
                for i in range(n):
                    mu = centre[t, i]
                    for q in range(d):
                        mu += spread[t, i, q] * trial[q]
                    rates[base + i] = mu
                    top = max(top, mu)
                value = 0.0
                for i in range(n):
                    mu = rates[base + i] - top
                    rates[base + i] = 0.0
                    sums[base + i] = fast_exp(max(mu, LOWEST))
                    value += wins[t, i] * mu
                for s in range(m):
                    sums[s] = sums[left[first + s]] + sums[right[first + s]]
                for s in range(m):
                    value -= counts[first + s] * fast_log(sums[s])
                    rates[s] = counts[first + s] / sums[s]
                for back in range(m):
                    s = m - ONE - back
                    rates[left[first + s]] += rates[s]
                    rates[right[first + s]] += rates[s]
                for q in range(d):
                    force[q] = trial[q]
                for i in range(n):
                    slope = wins[t, i] - sums[base + i] * rates[base + i]
                    for q in range(d):
                        force[q] += spread[t, i, q] * slope
                for q in range(d):
                    p[q] += 0.5 * step * force[q]
            gain += value
            for q in range(d):
                gain -= 0.5 * p[q] * p[q]
            accept = k < 0
            if k >= 0:
                if not gain > -DIVERGED:
                    divergences += 1
                probability = math.exp(min(gain, 0.0)) if math.isfinite(gain) else 0.0
                accepted[t] += probability
                accept = uniforms[t, k, 1] < probability
            if accept:
                height = value
                for q in range(d):
                    u[t, q] = trial[q]
                    kick[q] = force[q]
                total = 0.0
                for i in range(n):
                    total += sums[base + i]
                for i in range(n):
                    now[i] = sums[base + i] / total
            if k >= 0 and (k + 1) % thin == 0:
                for i in range(n):
                    theta[t, k // thin, i] = now[i]
        values[t] = height
    return divergences
