"""Exact sampling of a newcomer's log-ratings over time, given those of the others.

Each draw of the others has its own density of x = centre + observe(L'^-1 u), with a centre of its
own and a Gaussian that many of them share; what the likelihood has beyond it is the residual.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from polarbear.inference.loops.fastmath import fast_exp, fast_log
from polarbear.inference.loops.split_hmc import evaluate, turn
from polarbear.inference.loops.temporal import Node, colour, whiten
from polarbear.numerics.compiling import kernel, loop_for

FURTHEST = 690.0  # log-ratings beyond it are followed in the limit: sums stay finite and normal


class Entry(NamedTuple):
    """The targets of D draws of the others, one a chain: a Gaussian as in `temporal.Node`, but
    centre[D, T, 1] and pull[D, T, 1] are each draw's own and curvature[T, 1, 1] is for all.

    wins[T], counts[T, S] and their total[T]; sums[T, D, S] of the others' ratings; no_values[T]
    are zero, and slope[T, 1] is scratch space.
    """

    lower: np.ndarray
    flipped: np.ndarray
    starts: np.ndarray
    weights: np.ndarray
    centre: np.ndarray
    pull: np.ndarray
    curvature: np.ndarray
    wins: np.ndarray
    counts: np.ndarray
    total: np.ndarray
    sums: np.ndarray
    no_values: np.ndarray
    slope: np.ndarray


@loop_for(evaluate, Entry)
def _evaluate_entry(target, walkers, valued):
    """What is seen of u is x."""
    wins, counts, total, sums = target.wins, target.counts, target.total, target.sums
    slope, residual, seen = target.slope, walkers.residual, walkers.seen
    n_times, n_draws, n_sets = sums.shape
    for c in range(n_draws):
        node = Node(
            target.lower, target.flipped, target.starts, target.weights,
            target.centre[c], target.no_values, target.pull[c], target.curvature,
        )  # fmt: skip
        colour(node, walkers, c)
        for t in range(n_times):
            x = seen[c, t, 0]
            e = fast_exp(min(max(x, -FURTHEST), FURTHEST))
            logs = 0.0
            shares = 0.0
            for s in range(n_sets):
                remaining = sums[t, c, s] + e
                logs += counts[t, s] * fast_log(remaining)
                shares += counts[t, s] / remaining
            residual[c, t] = wins[t] * x - total[t] * max(x - FURTHEST, 0.0) - logs
            slope[t, 0] = wins[t] - e * shares
        whiten(node, slope, walkers, c)


@kernel
def advance(target, walkers, trial, n_steps, noise, accepted):
    """All of the noise's transitions, one after the other; returns divergences."""
    energies = np.empty(len(accepted))
    divergences = 0
    for k in range(noise.angles.shape[1]):
        divergences += turn(target, walkers, trial, noise, k, n_steps, energies, accepted)
    return divergences
