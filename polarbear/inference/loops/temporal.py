"""Exact sampling around Laplace approximations of ratings that hang together over time.

A node j is one setting of the hyperparameters, with eta = eta_j + observe_j(L_j'^-1 u) for the
Cholesky factor L_j of its Laplace approximation. In these coordinates the target over (j, u) is
q_j N(u; 0, I) exp(residual_j(u)), and the residual is what the likelihood has beyond second order.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from polarbear.inference.loops.band import solve_lower, solve_upper
from polarbear.inference.loops.likelihood import SetSums, slopes
from polarbear.inference.loops.observe import observe, observe_back
from polarbear.inference.loops.split_hmc import evaluate, take, turn
from polarbear.numerics.compiling import inlined, inner, kernel, loop_for


class Node(NamedTuple):
    """A Gaussian around a centre: T times, d functions, N coefficients.

    lower[N, width] and the same flipped; starts[T] and weights[T, m] as in `observe`; eta[T, d],
    and there values[T], gradients[T, d] and curvatures[T, d, d] of the likelihood.
    """

    lower: np.ndarray
    flipped: np.ndarray
    starts: np.ndarray
    weights: np.ndarray
    eta: np.ndarray
    values: np.ndarray
    gradients: np.ndarray
    curvatures: np.ndarray


class Nodes(NamedTuple):
    """Laplace approximations, one a node: what `Node` has, but for starts, J times over.

    cumulative[J] is of the node probabilities q.
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


class Nested(NamedTuple):
    """The target over (node, u); slope[T, d] and the last three are scratch space."""

    sets: SetSums
    nodes: Nodes
    slope: np.ndarray
    mu: np.ndarray
    sums: np.ndarray
    rates: np.ndarray


@inlined
def colour(node, walkers, c):
    """Fill eta, which is what is seen of u."""
    u, x, eta, centre = walkers.u[c], walkers.kick[c], walkers.seen[c], node.eta
    for i in range(len(x)):
        x[i] = u[i]
    solve_upper(node.flipped, x)
    for t in range(eta.shape[0]):
        for q in range(eta.shape[1]):
            eta[t, q] = centre[t, q]
    observe(node.starts, node.weights, x, eta)


@inlined
def whiten(node, slope, walkers, c):
    """From the likelihood to what it has beyond second order: residual and kick.

    Its values stand in ``residual``, its gradients[T, d] in ``slope``, which is overwritten.
    """
    kick, residual, eta = walkers.kick[c], walkers.residual[c], walkers.seen[c]
    centre, values, gradients, curvatures = node.eta, node.values, node.gradients, node.curvatures
    n_times, d = eta.shape
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
    observe_back(node.starts, node.weights, slope, kick)
    solve_lower(node.lower, kick)


@loop_for(evaluate, Nested)
def _evaluate_nested(target, walkers, valued):
    nodes, j = target.nodes, walkers.node[0]
    node = Node(
        nodes.lower[j], nodes.flipped[j], nodes.starts, nodes.weights[j],
        nodes.eta[j], nodes.values[j], nodes.gradients[j], nodes.curvatures[j],
    )  # fmt: skip
    colour(node, walkers, 0)
    slopes(
        target.sets, walkers.seen[0], walkers.residual[0], target.slope,
        target.mu, target.sums, target.rates, valued,
    )  # fmt: skip
    whiten(node, target.slope, walkers, 0)


@inlined
def _nested(sets, nodes):
    """The target, with scratch space of its own."""
    n, base = sets.helmert.shape[0], sets.widest[0]
    return Nested(
        sets, nodes, np.empty(nodes.eta.shape[1:]),
        np.empty(n), np.empty(base + n), np.empty(base + n),
    )  # fmt: skip


@inner
def pick(cumulative, uniform):
    """The node that a uniform number falls on."""
    j = 0
    while j < len(cumulative) - 1 and cumulative[j] < uniform:
        j += 1
    return j


@inlined
def _jump(target, walkers, trial, node, uniform):
    """Propose another node with u kept."""
    if node != walkers.node[0]:
        trial.node[0] = node
        for i in range(walkers.u.shape[1]):
            trial.u[0, i] = walkers.u[0, i]
        evaluate(target, trial, True)
        gain = 0.0
        for t in range(walkers.residual.shape[1]):
            gain += trial.residual[0, t] - walkers.residual[0, t]
        if uniform < math.exp(min(gain, 0.0)):
            take(trial, walkers, 0)


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
def advance(sets, nodes, walkers, trial, n_steps, thin, noise, theta, visited, accepted):
    """One draw for each row of theta, ``thin`` transitions apart; returns divergences.

    There is one walker. A transition is its turn, then the proposal of another node, which takes
    two uniforms more.
    """
    target, energies, uniforms = _nested(sets, nodes), np.empty(1), noise.uniforms
    divergences = 0
    for k in range(uniforms.shape[1]):
        divergences += turn(target, walkers, trial, noise, k, n_steps, energies, accepted)
        node = pick(nodes.cumulative, uniforms[0, k, 1])
        _jump(target, walkers, trial, node, uniforms[0, k, 2])
        if (k + 1) % thin == 0:
            visited[k // thin] = walkers.node[0]
            _softmax(sets.helmert, walkers.seen[0], theta[k // thin])
    return divergences
