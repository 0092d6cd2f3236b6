"""Exact sampling of few algorithms' ratings, by a density that is rarely worked out.

As in `independent`, but the gradient is that of the density's expansion around its mode, up to
third derivatives. Any kicks that hang on nothing but where a walker is lead to the exact posterior,
since a turn is accepted by its exact energy; and nearly Gaussian as the density is, these are
hardly worse than its own. Whether a turn is accepted is mostly plain from the expansion, too, for
there is a bound on how wrong it may be: the sums of all sets, and their logarithms, are worked out
only where it is not, and decisions are those that they would lead to. Far out in a tail, where an
expansion is good for nothing, its gradient is that of a place nearer by.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from polarbear.inference.loops.fastmath import fast_exp, table_log
from polarbear.inference.loops.likelihood import LOWEST
from polarbear.inference.loops.split_hmc import DIVERGED
from polarbear.numerics.compiling import inlined, inner, kernel

NONE, ONE, TWO, THREE = np.uint64(0), np.uint64(1), np.uint64(2), np.uint64(3)
FURTHEST = 3.0  # beyond so many standard deviations a coordinate is taken to be there for kicks


class Bent(NamedTuple):
    """The target at T times, one a chain: what `independent.Ratings` has, and bend[T, d, pair].

    The expansion's gradient is the sum over pairs of coordinates, (0, 0), (1, 0), (1, 1), (2, 0),
    ..., of their product times ``bend``. The density's own is at most ``steep`` long at the mode,
    which is found only so exactly. sums[most sets + n] is scratch.
    """

    centre: np.ndarray
    spread: np.ndarray
    wins: np.ndarray
    offsets: np.ndarray
    left: np.ndarray
    right: np.ndarray
    counts: np.ndarray
    bend: np.ndarray
    steep: float
    sums: np.ndarray


@inlined
def _expand(bend, t, u, products, near, kick):
    """Fill in the kick at u; returns the expansion's residual, and how far off the mode u is in any
    coordinate: with one that is taken to be nearer by, the residual is of no use."""
    d = np.uint64(len(u))
    pairs = NONE
    far = 0.0
    for r in range(d):
        far = max(far, abs(u[r]))
        near[r] = min(max(u[r], -FURTHEST), FURTHEST)
        for v in range(r + ONE):
            products[pairs] = near[r] * near[v]
            pairs += ONE
    for q in range(NONE, d, THREE):  # three at a time, of which the last may be the same
        r, v = min(q + ONE, d - ONE), min(q + TWO, d - ONE)
        one = two = three = 0.0
        for k in range(pairs):
            one += bend[t, q, k] * products[k]
            two += bend[t, r, k] * products[k]
            three += bend[t, v, k] * products[k]
        kick[q], kick[r], kick[v] = one, two, three
    product = 0.0
    for q in range(d):
        product += kick[q] * near[q]
    return product / 3.0, far


@inlined
def doubt_at(square, far, widest, steep):
    """How wrong the expansion's residual can be at u with u'u = ``square``.

    ``widest`` is the longest difference of two algorithms' rows of spread: on the way from the mode
    to u, their log-ratings move apart by r = widest |u| at most. By Taylor's theorem, what the
    expansion lacks is a 24th of the fourth derivative along the way, in the mean over shares x of
    it with density 4 (1 - x)^3. That derivative is the sum over sets of how often they count, times
    the fourth cumulant of how far members move, drawn by their ratings at x. Of numbers at most r
    apart it is at most r^2 times their variance, which at x is at most exp(r x) times that at the
    mode; and there the sum of variances is u'u, for so u is scaled. Up to r = 2, exp(r x) is at
    most 1 + 3.2 r x, and x is 1/5 in the mean.
    """
    length = math.sqrt(square)
    r = widest * length
    if r > 2.0 or far > FURTHEST:
        return math.inf
    return steep * length + square * r * r * (1.0 + 0.64 * r) / 24.0


@inner
def _residual(centre, spread, wins, left, right, counts, sums, u):
    """What the log-density itself has beyond -u'u/2."""
    n, d = spread.shape
    m = np.uint64(len(counts))
    base = len(sums) - n
    top = -np.inf
    for i in range(n):
        mu = centre[i]
        for q in range(d):
            mu += spread[i, q] * u[q]
        sums[base + i] = mu
        top = max(top, mu)
    value = 0.0
    for i in range(n):
        mu = sums[base + i] - top
        sums[base + i] = fast_exp(max(mu, LOWEST))
        value += wins[i] * mu
    for s in range(m):
        sums[s] = sums[left[s]] + sums[right[s]]
    for s in range(m):
        value -= counts[s] * table_log(sums[s])
    for q in range(d):
        value += 0.5 * u[q] * u[q]
    return value


@inner
def _longest_difference(rows):
    longest = 0.0
    for i in range(rows.shape[0]):
        for j in range(i):
            square = 0.0
            for q in range(rows.shape[1]):
                square += (rows[i, q] - rows[j, q]) ** 2
            longest = max(longest, square)
    return math.sqrt(longest)


@inner
def _ratings(centre, spread, places, rows, scratch, theta):
    """Fill theta[draw, n] for places[d, draw] of u.

    Draws lie side by side until they are ratings, so that there are vector instructions for all;
    rows[n, draw] and scratch[draw] are overwritten.
    """
    n, draws = rows.shape
    for j in range(draws):
        scratch[j] = -np.inf
    for i in range(n):
        for j in range(draws):
            rows[i, j] = centre[i]
        for q in range(len(places)):
            by = spread[i, q]
            for j in range(draws):
                rows[i, j] += by * places[q, j]
        for j in range(draws):
            scratch[j] = max(scratch[j], rows[i, j])
    for i in range(n):
        for j in range(draws):
            rows[i, j] = fast_exp(max(rows[i, j] - scratch[j], LOWEST))
    for j in range(draws):
        scratch[j] = 0.0
    for i in range(n):
        for j in range(draws):
            scratch[j] += rows[i, j]
    for j in range(draws):
        share = 1.0 / scratch[j]
        for i in range(n):
            theta[j, i] = rows[i, j] * share


@kernel
def advance_bent(
    centre, spread, wins, offsets, left, right, counts, bend, steep, sums,
    walkers, momenta, angles, uniforms, n_steps, thin, theta, accepted,
):  # fmt: skip
    """Fill theta[draw, T, n], draws ``thin`` transitions apart; returns divergences.

    The arrays of `Bent`, where walkers are (u[T, d]), and those of `Noise`. Transitions are as in
    `split_hmc.turn`, but all of a time before the next.
    """
    n_times, n, d = spread.shape
    products, near = np.empty(bend.shape[2]), np.empty(d)
    kick, trial_kick, trial, push = np.empty(d), np.empty(d), np.empty(d), np.empty(d)
    draws = theta.shape[0]
    places, rows, scratch = np.empty((d, draws)), np.empty((n, draws)), np.empty(draws)
    divergences = 0
    for t in range(n_times):
        u = walkers[t]
        here = slice(offsets[t], offsets[t + 1])
        exactly = (centre[t], spread[t], wins[t], left[here], right[here], counts[here], sums)
        trial[:] = 0.0
        height = _residual(*exactly, trial)
        widest = _longest_difference(spread[t])
        residual, far = _expand(bend, t, u, products, near, kick)
        square = (u * u).sum()
        doubt = doubt_at(square, far, widest, steep)
        for k in range(angles.shape[1]):
            angle = angles[t, k]
            cosine, sine = math.cos(angle), math.sin(angle)
            energy = 0.5 * square - residual
            for i in range(d):
                energy += 0.5 * momenta[t, k, i] * momenta[t, k, i]
                push[i] = momenta[t, k, i] + 0.5 * angle * kick[i]
                trial[i] = u[i]
            trial_residual = far = 0.0
            for step in range(n_steps):
                for i in range(d):
                    along, at = push[i], trial[i]
                    push[i] = along * cosine - at * sine
                    trial[i] = at * cosine + along * sine
                trial_residual, far = _expand(bend, t, trial, products, near, trial_kick)
                by = 0.5 * angle if step == n_steps - 1 else angle
                for i in range(d):
                    push[i] += by * trial_kick[i]
            trial_square = kinetic = 0.0
            for i in range(d):
                trial_square += trial[i] * trial[i]
                kinetic += push[i] * push[i]
            gain = energy - 0.5 * (trial_square + kinetic) + trial_residual
            trial_doubt = doubt_at(trial_square, far, widest, steep)
            probability = fast_exp(max(min(gain, 0.0), LOWEST))
            uniform = uniforms[t, k, 0]
            sure = (
                1.0 - doubt - trial_doubt
            )  # at most exp(-doubts), and 1 / sure at least exp(doubts)
            if not (uniform < probability * sure or uniform * sure >= probability):
                if doubt > 0.0:
                    exact = _residual(*exactly, u) - height
                    gain += residual - exact
                    residual, doubt = exact, 0.0
                exact = _residual(*exactly, trial) - height
                gain += exact - trial_residual
                trial_residual, trial_doubt = exact, 0.0
                probability = fast_exp(max(min(gain, 0.0), LOWEST))
            divergences += not gain > -DIVERGED
            accepted[t] += probability
            if uniform < probability:
                residual, doubt, square = trial_residual, trial_doubt, trial_square
                for i in range(d):
                    u[i] = trial[i]
                    kick[i] = trial_kick[i]
            if (k + 1) % thin == 0:
                for i in range(d):
                    places[i, k // thin] = u[i]
        _ratings(centre[t], spread[t], places, rows, scratch, theta[:, t])
    return divergences
