"""Exact sampling around Laplace approximations: split Hamiltonian Monte Carlo.

A state is a node j (one setting of the hyperparameters) and whitened coefficients u, with
eta = eta_j + observe_j(L_j'^-1 u) for the Cholesky factor L_j of node j's Laplace approximation.
In these coordinates the target is q_j N(u; 0, I) exp(residual_j(u)): the Gaussian part
is rotated exactly, and only the residual, what the likelihood has beyond second order, gives kicks.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from polarbear.inference.loops.band import solve_lower, solve_upper
from polarbear.inference.loops.likelihood import slopes
from polarbear.inference.loops.observe import observe, observe_back
from polarbear.numerics.compiling import inner, kernel

DIVERGED = 1000.0  # an energy error beyond this means the integrator has left the posterior


class Nodes(NamedTuple):
    """Laplace approximations, one a node: J nodes, T times, d functions, N coefficients.

    lower[J, N, width] and the same flipped; starts[T] and weights[J, T, m] as in `observe`;
    eta[J, T, d], and there values[J, T], gradients[J, T, d], curvatures[J, T, d, d] of the
    likelihood; cumulative[J] of the node probabilities q.
    """

    lower: np.ndarray
    flipped: np.ndarray
    starts: np.ndarray
    weights: np.ndarray
    eta: np.ndarray
    values: np.ndarray
    gradients: np.ndarray
    curvatures: np.ndarray
    cumulative: np.ndarray


class State(NamedTuple):
    """Where a chain is: node[1], u[N], kick[N] (the residual's gradient), residual[T], eta[T, d]"""

    node: np.ndarray
    u: np.ndarray
    kick: np.ndarray
    residual: np.ndarray
    eta: np.ndarray


class Noise(NamedTuple):
    """Randomness of K transitions: normals[K, N] and uniforms[K, 4]."""

    normals: np.ndarray
    uniforms: np.ndarray


@inner
def evaluate(sets, nodes, state, slope, mu, sums, rates):
    """Fill kick, residual and eta of a state from its node and u."""
    j = state.node[0]
    n_times, d = state.eta.shape
    kick, eta, residual = state.kick, state.eta, state.residual
    for i in range(len(kick)):
        kick[i] = state.u[i]
    solve_upper(nodes.flipped[j], kick)
    centre = nodes.eta[j]
    for t in range(n_times):
        for q in range(d):
            eta[t, q] = centre[t, q]
    observe(nodes.starts, nodes.weights[j], kick, eta)
    slopes(sets, eta, residual, slope, mu, sums, rates)
    values, gradients, curvatures = nodes.values[j], nodes.gradients[j], nodes.curvatures[j]
    for t in range(n_times):
        change = -values[t]
        for q in range(d):
            bend = 0.0
            for p in range(d):
                bend += curvatures[t, q, p] * (eta[t, p] - centre[t, p])
            change += (0.5 * bend - gradients[t, q]) * (eta[t, q] - centre[t, q])
            slope[t, q] += bend - gradients[t, q]
        residual[t] += change
    for i in range(len(kick)):
        kick[i] = 0.0
    observe_back(nodes.starts, nodes.weights[j], slope, kick)
    solve_lower(nodes.lower[j], kick)


@inner
def pick(cumulative, uniform):
    """The node that a uniform number falls on."""
    j = 0
    while j < len(cumulative) - 1 and cumulative[j] < uniform:
        j += 1
    return j


@inner
def _copy(source, target):
    """One state over another."""
    from_u, to_u, from_kick, to_kick = source.u, target.u, source.kick, target.kick
    for i in range(len(from_u)):
        to_u[i] = from_u[i]
        to_kick[i] = from_kick[i]
    from_residual, to_residual = source.residual, target.residual
    from_eta, to_eta = source.eta, target.eta
    for t in range(len(from_residual)):
        to_residual[t] = from_residual[t]
        for q in range(from_eta.shape[1]):
            to_eta[t, q] = from_eta[t, q]
    target.node[0] = source.node[0]


@inner
def _softmax(helmert, eta, theta):
    n, d = helmert.shape
    for t in range(eta.shape[0]):
        top = -np.inf
        for i in range(n):
            total = 0.0
            for q in range(d):
                total += helmert[i, q] * eta[t, q]
            theta[t, i] = total
            top = max(top, total)
        total = 0.0
        for i in range(n):
            theta[t, i] = math.exp(theta[t, i] - top)
            total += theta[t, i]
        for i in range(n):
            theta[t, i] /= total


@kernel
def advance(sets, nodes, state, angle, n_steps, thin, noise, theta, visited, accepted):
    """One draw for each row of theta, ``thin`` transitions apart; returns divergences.

    A transition turns u by n_steps times the angle, then proposes another node with u kept.
    ``accepted[0]`` gathers the turns' acceptance probabilities.
    """
    n_times, d = state.eta.shape
    size = len(state.u)
    n, base = sets.helmert.shape[0], sets.widest[0]
    mu, sums, rates = np.empty(n), np.empty(base + n), np.empty(base + n)
    slope = np.empty((n_times, d))
    normals, uniforms = noise.normals, noise.uniforms
    u, p = state.u, np.empty(size)
    trial = State(
        np.empty(1, np.int64), np.empty(size), np.empty(size), np.empty(n_times),
        np.empty((n_times, d)),
    )  # fmt: skip
    trial_u, trial_kick = trial.u, trial.kick
    divergences = 0
    for k in range(-1, normals.shape[0]):
        if k >= 0:
            step = angle * (1.0 + 0.15 * (2.0 * uniforms[k, 0] - 1.0))
            cosine, sine = math.cos(step), math.sin(step)
            _copy(state, trial)
            for i in range(size):
                p[i] = normals[k, i]
            gain = _energy(state.residual, u, p)
            for _ in range(n_steps):
                for i in range(size):
                    push = p[i] + 0.5 * step * trial_kick[i]
                    p[i] = push * cosine - trial_u[i] * sine
                    trial_u[i] = trial_u[i] * cosine + push * sine
                evaluate(sets, nodes, trial, slope, mu, sums, rates)
                for i in range(size):
                    p[i] += 0.5 * step * trial_kick[i]
            gain -= _energy(trial.residual, trial_u, p)
            if not gain > -DIVERGED:
                divergences += 1
            probability = math.exp(min(gain, 0.0)) if math.isfinite(gain) else 0.0
            accepted[0] += probability
            if uniforms[k, 1] < probability:
                _copy(trial, state)

        # Another node, proposed with u kept. Before the first transition the same lines evaluate
        # the state that it begins from.
        for i in range(size):
            trial_u[i] = u[i]
        trial.node[0] = pick(nodes.cumulative, uniforms[k, 2]) if k >= 0 else state.node[0]
        if k < 0 or trial.node[0] != state.node[0]:
            evaluate(sets, nodes, trial, slope, mu, sums, rates)
            gain = 0.0
            for t in range(n_times):
                gain += trial.residual[t] - state.residual[t]
            if k < 0 or uniforms[k, 3] < math.exp(min(gain, 0.0)):
                _copy(trial, state)
        if k >= 0 and (k + 1) % thin == 0:
            visited[k // thin] = state.node[0]
            _softmax(sets.helmert, state.eta, theta[k // thin])
    return divergences


@inner
def _energy(residual, u, p):
    """Minus the log-density of position and momentum, but for a constant."""
    total = 0.0
    for t in range(len(residual)):
        total -= residual[t]
    for i in range(len(u)):
        total += 0.5 * (u[i] * u[i] + p[i] * p[i])
    return total


@kernel
def approximate(sets, nodes, normals, uniforms, theta, visited, log_weights):
    """Draws from the Laplace approximations themselves, with log importance weights."""
    n_times, d = nodes.eta.shape[1:]
    size = normals.shape[1]
    n, base = sets.helmert.shape[0], sets.widest[0]
    mu, sums, rates = np.empty(n), np.empty(base + n), np.empty(base + n)
    slope = np.empty((n_times, d))
    state = State(
        np.zeros(1, np.int64), np.empty(size), np.empty(size), np.empty(n_times),
        np.empty((n_times, d)),
    )  # fmt: skip
    for k in range(normals.shape[0]):
        state.node[0] = pick(nodes.cumulative, uniforms[k])
        for i in range(size):
            state.u[i] = normals[k, i]
        evaluate(sets, nodes, state, slope, mu, sums, rates)
        visited[k] = state.node[0]
        for t in range(n_times):
            log_weights[k, t] = state.residual[t]
        _softmax(sets.helmert, state.eta, theta[k])
