"""Exact sampling around Laplace approximations: split Hamiltonian Monte Carlo.

A state is a node j (one setting of the hyperparameters) and whitened coefficients u, with
eta = eta_j + observe_j(L_j'^-1 u) for the Cholesky factor L_j of node j's Laplace approximation.
In these coordinates the target is q_j N(u; 0, I) exp(residual_j(u) + offset_j): the Gaussian part
is rotated exactly, and only the residual, what the likelihood has beyond second order, gives kicks.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from polarbear.compiling import inner, kernel
from polarbear.inference.kernels.band import solve_lower, solve_upper
from polarbear.inference.kernels.likelihood import slopes
from polarbear.inference.kernels.observe import observe, observe_back

DIVERGED = 1000.0  # an energy error beyond this means the integrator has left the posterior


class Nodes(NamedTuple):
    """Laplace approximations, one a node: J nodes, T times, d functions, N coefficients.

    lower[J, N, width] and the same flipped; starts[T] and weights[J, T, m] as in `observe`;
    eta[J, T, d], and there values[J, T], gradients[J, T, d], curvatures[J, T, d, d] of the
    likelihood; alpha[J] of a Dirichlet prior or zero; cumulative[J] of the node probabilities q,
    offset[J] what their logarithms lack or exceed; log_prior[J] of the node without coefficients.
    """

    lower: np.ndarray
    flipped: np.ndarray
    starts: np.ndarray
    weights: np.ndarray
    eta: np.ndarray
    values: np.ndarray
    gradients: np.ndarray
    curvatures: np.ndarray
    alpha: np.ndarray
    cumulative: np.ndarray
    offset: np.ndarray
    log_prior: np.ndarray


class State(NamedTuple):
    """Where a chain is: node[1], u[N], kick[N] (the residual's gradient), residual[T], eta[T, d]"""

    node: np.ndarray
    u: np.ndarray
    kick: np.ndarray
    residual: np.ndarray
    eta: np.ndarray


class Blocks(NamedTuple):
    """Runs of times, with their shares of the coefficients, that are independent given the node.

    Block b has times[b] .. times[b + 1] and coefficients shares[b] .. shares[b + 1].
    """

    times: np.ndarray
    shares: np.ndarray


class Noise(NamedTuple):
    """Randomness of K transitions: normals[K, N], uniforms[K, 3], accepts[K, B] (uniform too)."""

    normals: np.ndarray
    uniforms: np.ndarray
    accepts: np.ndarray


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
    slopes(sets, nodes.alpha[j], eta, residual, slope, mu, sums, rates)
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
def _copy_part(source, target, first, last, first_time, last_time):
    from_u, to_u, from_kick, to_kick = source.u, target.u, source.kick, target.kick
    for i in range(first, last):
        to_u[i] = from_u[i]
        to_kick[i] = from_kick[i]
    from_residual, to_residual = source.residual, target.residual
    from_eta, to_eta = source.eta, target.eta
    for t in range(first_time, last_time):
        to_residual[t] = from_residual[t]
        for q in range(from_eta.shape[1]):
            to_eta[t, q] = from_eta[t, q]


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
def advance(sets, nodes, state, blocks, angle, n_steps, thin, noise, theta, visited, accepted):
    """One draw for each row of theta, ``thin`` transitions apart; returns divergences.

    A transition turns u by n_steps times the angle, accepted block by block, then proposes another
    node with u kept. ``accepted[B]`` gathers the blocks' acceptance probabilities.
    """
    n_times, d = state.eta.shape
    size = len(state.u)
    n, base = sets.helmert.shape[0], sets.widest[0]
    mu, sums, rates = np.empty(n), np.empty(base + n), np.empty(base + n)
    slope = np.empty((n_times, d))
    times, shares = blocks.times, blocks.shares
    n_blocks = len(times) - 1
    u, p, before = state.u, np.empty(size), np.empty(n_blocks)
    trial = State(
        np.empty(1, np.int64), np.empty(size), np.empty(size), np.empty(n_times),
        np.empty((n_times, d)),
    )  # fmt: skip
    trial_u, trial_kick = trial.u, trial.kick
    divergences = 0
    for k in range(-1, noise.normals.shape[0]):
        if k >= 0:
            step = angle * (1.0 + 0.15 * (2.0 * noise.uniforms[k, 0] - 1.0))
            cosine, sine = math.cos(step), math.sin(step)
            trial.node[0] = state.node[0]
            _copy_part(state, trial, shares[0], shares[n_blocks], times[0], times[n_blocks])
            for i in range(size):
                p[i] = noise.normals[k, i]
            for b in range(n_blocks):
                before[b] = _energy(state.residual, u, p, times, shares, b)
            for _ in range(n_steps):
                for i in range(size):
                    push = p[i] + 0.5 * step * trial_kick[i]
                    p[i] = push * cosine - trial_u[i] * sine
                    trial_u[i] = trial_u[i] * cosine + push * sine
                evaluate(sets, nodes, trial, slope, mu, sums, rates)
                for i in range(size):
                    p[i] += 0.5 * step * trial_kick[i]
            for b in range(n_blocks):
                gain = before[b] - _energy(trial.residual, trial_u, p, times, shares, b)
                if not gain > -DIVERGED:
                    divergences += 1
                probability = math.exp(min(gain, 0.0)) if math.isfinite(gain) else 0.0
                accepted[b] += probability
                if noise.accepts[k, b] < probability:
                    _copy_part(trial, state, shares[b], shares[b + 1], times[b], times[b + 1])

        # Another node: proposed with u kept; or, for a Dirichlet prior every other time, drawn from
        # its distribution given eta, which needs no acceptance. Before the first transition the
        # same lines evaluate the state that it begins from.
        for i in range(size):
            trial_u[i] = u[i]
        certain = k < 0
        if k < 0:
            trial.node[0] = state.node[0]
        elif k % 2 == 1 and nodes.alpha[0] > 0.0:
            certain = True
            trial.node[0] = _node_given_eta(
                sets.helmert, nodes.alpha, nodes.log_prior, state.eta, noise.uniforms[k, 1]
            )
            _whiten(nodes.lower, nodes.eta, trial.node[0], state.eta, trial_u)
        else:
            trial.node[0] = pick(nodes.cumulative, noise.uniforms[k, 1])
        if k < 0 or trial.node[0] != state.node[0]:
            evaluate(sets, nodes, trial, slope, mu, sums, rates)
            gain = 0.0
            for t in range(n_times):
                gain += trial.residual[t] - state.residual[t]
            gain += nodes.offset[trial.node[0]] - nodes.offset[state.node[0]]
            probability = math.exp(min(gain, 0.0)) if math.isfinite(gain) else 0.0
            if certain or noise.uniforms[k, 2] < probability:
                state.node[0] = trial.node[0]
                _copy_part(trial, state, shares[0], shares[n_blocks], times[0], times[n_blocks])
        if k >= 0 and (k + 1) % thin == 0:
            visited[k // thin] = state.node[0]
            _softmax(sets.helmert, state.eta, theta[k // thin])
    return divergences


@inner
def _node_given_eta(helmert, alpha, log_prior, eta, uniform):
    """A node from its distribution given all ratings, which enter by the sum of log theta."""
    n, d = helmert.shape
    total = 0.0
    for t in range(eta.shape[0]):
        top = -np.inf
        for i in range(n):
            value = 0.0
            for q in range(d):
                value += helmert[i, q] * eta[t, q]
            top = max(top, value)
        whole = 0.0
        for i in range(n):
            value = 0.0
            for q in range(d):
                value += helmert[i, q] * eta[t, q]
            whole += math.exp(value - top)
        total -= n * (top + math.log(whole))  # the mus themselves sum to zero
    weights = np.empty(len(alpha))
    top = -np.inf
    for j in range(len(alpha)):
        weights[j] = alpha[j] * total + log_prior[j]
        top = max(top, weights[j])
    whole = 0.0
    for j in range(len(alpha)):
        whole += math.exp(weights[j] - top)
        weights[j] = whole
    return pick(weights, uniform * whole)


@inner
def _whiten(lower, centre, j, eta, u):
    """u = L_j' (eta - eta_j), where each time has its own coefficients, so that x is eta."""
    width = lower.shape[2]
    d = eta.shape[1]
    for i in range(len(u)):
        u[i] = 0.0
    for i in range(len(u)):
        change = eta[i // d, i % d] - centre[j, i // d, i % d]
        for k in range(max(0, i - width + 1), i):
            u[k] += lower[j, i, width - 1 - (i - k)] * change
        u[i] += change / lower[j, i, width - 1]


@inner
def _energy(residual, u, p, times, shares, b):
    """Minus the log-density of one block's position and momentum, but for a constant."""
    total = 0.0
    for t in range(times[b], times[b + 1]):
        total -= residual[t]
    for i in range(shares[b], shares[b + 1]):
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
        log_weights[k, 0] += nodes.offset[state.node[0]]
        _softmax(sets.helmert, state.eta, theta[k])
