"""Win probabilities that change smoothly over time, as far as the data say that they do.

The bootstrap takes each time for itself: of twenty times one looks worse than it is, and a rule
about all times waits for that one. But who beats whom hardly changes from one time to the next. So
a pair's curve, on the scale arcsin(2p - 1) on which duels have the same noise whatever p is, gets a
Gaussian process as its prior: a level and deviations from it, each of some size and lengthscale, or
rough, or of the first time alone, so that nothing has to be smooth. Which levels and which shapes
there are is learned from other pairs, and which of them a pair has from its own (a mixture, by
expectation maximisation). That near-clones are nearly even at all times is learned with it, in
place of the number of imaginary duels. Little is learned from few pairs, and a race looks again and
again: so before any pair small differences are taken to be likelier than large ones, and some duels
to be even.

What is smoothed are the draws of the bootstrap. If phi is a draw of the curve and f one from the
prior, then f + K (K + V)^-1 (phi - f) is a draw from the posterior, V being the covariance of the
noise: all pairs of a draw still stem from the same weights of instances. How noise at two times
hangs together is estimated from the instances' own scores (noise.py): where it is the same at all
times, neighbouring times add nothing and the curve stays as it was. What the noise is like, and
which levels and shapes there are, does not depend on draws (moments.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import isqrt

import numpy as np
from scipy.linalg.lapack import dtrtrs

from polarbear.numerics import lapack
from polarbear.numerics.threads import in_threads, single_threaded_blas

IMAGINARY_DUELS = 3.0  # half of them won: the first few real ones must not decide alone
IMAGINARY_PAIRS = 5.0  # of which levels and shapes are as follows
LEVELS = (0.03, 0.1, 0.3, 1.0)  # from near-clones to always the same winner
HOW_LIKELY = tuple(np.array([8, 4, 2, 1]) / 15)  # each of them; shapes are as likely as each other
DEVIATIONS = (0.05, 0.25, 0.8)  # from the level, which they may turn round
LENGTHSCALES = (0.1, 0.3, 1.0)  # of the whole grid
HARDLY, ROUGH = 0.01, 0.15  # deviations of curves that do not change, and of those that jump
BEGINNING = 0.8  # of the first time alone, where all have only just begun and may still be even
_STREAM = 2**31 + 1
_ROUNDS = 40  # of expectation maximisation
_JITTER = 1e-8
_FACTORS_KEPT = 2**24  # numbers: 128 MiB
_PAIRS_A_TASK = 32  # at most
_FEW_TIMES = 32  # up to which all shapes are solved for in one call: of so few, calls take longest


def shapes_of_curves(unit_times: np.ndarray) -> np.ndarray:
    """Prior covariances of what a pair's curve deviates from its level: [shape, time, time].

    Every level goes with every shape: that a curve does not change says nothing about how far it is
    from even. A level adds its square to all of a covariance.
    """
    apart = np.abs(np.subtract.outer(unit_times, unit_times))
    shapes = [HARDLY**2 * _matern(apart, 1.0)]
    shapes += [size**2 * _matern(apart, length) for size in DEVIATIONS for length in LENGTHSCALES]
    shapes.append(ROUGH**2 * (np.exp(-apart / 0.3) + np.eye(len(apart))))
    if len(apart) > 2:
        shapes.append(DEVIATIONS[0] ** 2 * _matern(apart, LENGTHSCALES[1]))
        shapes[-1][0, 0] += BEGINNING**2
    return np.stack(shapes)


@lru_cache(maxsize=1)  # which all rounds of a race have in common
def _shapes_and_roots(unit_times: tuple[float, ...]) -> tuple[np.ndarray, np.ndarray]:
    """The shapes, and their Cholesky factors in single precision."""
    shapes = shapes_of_curves(np.array(unit_times))
    with single_threaded_blas():
        roots = np.linalg.cholesky(shapes + _JITTER * np.eye(len(unit_times)))
    return shapes, roots.astype(np.float32)


@dataclass(frozen=True)
class Curves:
    """What is known of the curves of all pairs before a draw of them is smoothed.

    ``roots[shape]`` are the Cholesky factors of the ``shapes``.
    ``correlation[time, time]`` and ``spread[pair, time]`` are those of their noise, and
    ``shares[kind, pair]`` is how likely a pair's curve is of each kind, shapes running fastest.
    ``factors[pair][shape]`` are the Cholesky factors of a shape's covariance and the noise's, where
    they are not too many to keep.
    """

    shapes: np.ndarray
    roots: np.ndarray
    correlation: np.ndarray
    spread: np.ndarray
    shares: np.ndarray
    factors: Sequence[np.ndarray] | None = None

    def smooth(
        self, wins: np.ndarray, pairs: Sequence[int], seed: int, threads: int | None = None
    ) -> None:
        """Smooth draws [draw, time, pair] of these pairs in their place.

        They are on the scale of curves, and those of win probabilities afterwards.
        """
        draws, n_times, _ = wins.shape
        first, second = np.triu_indices(_algorithms_of(len(self.spread)), 1)
        who, places = np.unique([first[pairs], second[pairs]], return_inverse=True)
        one, two = places.reshape(2, -1)
        rng = np.random.default_rng([seed, _STREAM])
        which = np.asarray(rng.random(draws))
        standard = rng.standard_normal((len(who), draws, n_times + 1), dtype=np.float32)
        standard /= np.float32(np.sqrt(2))

        def run(some: slice) -> None:
            curves = np.ascontiguousarray(wins[:, :, some].transpose(2, 0, 1))
            for k, curve in zip(range(some.start, some.stop), curves, strict=True):
                kinds = np.searchsorted(np.cumsum(self.shares[:-1, pairs[k]]), which)
                levels, shape = np.divmod(kinds, len(self.shapes))
                order = np.argsort(shape, kind="stable")  # draws of a shape side by side
                phi, apart = curve[order], standard[one[k]][order]
                apart -= standard[two[k]][order]
                level = np.array(LEVELS, dtype=np.float32)[levels[order]]
                self._smooth_pair(phi, pairs[k], level, shape[order], apart)
                curve[order] = phi
            wins[:, :, some] = curves.transpose(1, 2, 0)

        with single_threaded_blas():
            in_threads(run, _near_each_other(len(pairs)), threads)

    def _smooth_pair(
        self,
        phi: np.ndarray,
        pair: int,
        level: np.ndarray,
        shapes: np.ndarray,
        apart: np.ndarray,
    ) -> None:
        """With A a shape's covariance and the noise's, V, the curve's is A + l^2 11', of which the
        inverse is that of A less a part of rank one: one matrix serves all levels."""
        noise = _noise(self.correlation, self.spread[pair])
        used, begins = np.unique(shapes, return_index=True)
        solved = self._solved(used, noise) if len(noise) <= _FEW_TIMES else None
        ends = [*begins[1:], len(shapes)]
        for k, (shape, begin, end) in enumerate(zip(used, begins, ends, strict=True)):
            some = slice(begin, end)
            missed = apart[some, 1:] @ self.roots[shape].T
            missed += level[some, None] * apart[some, :1]
            np.subtract(phi[some], missed, out=missed)
            if solved is None:
                drawn, flat = self._drawn_back(pair, shape, noise, missed)
            else:
                drawn, flat = missed @ solved[k, :, :-1], solved[k, :, -1]
            phi[some] -= drawn
            squared = level[some] ** 2
            shared = squared / (1 + squared * flat.sum()) * (missed @ flat)
            phi[some] += np.outer(shared.astype(np.float32), (flat @ noise).astype(np.float32))
        np.clip(phi, -np.pi / 2, np.pi / 2, out=phi)
        np.sin(phi, out=phi)
        phi += 1
        phi /= 2

    def _solved(self, shapes: np.ndarray, noise: np.ndarray) -> np.ndarray:
        """A^-1 of the noise and, in the last column, of ones, for each of some shapes."""
        sides = np.column_stack([noise, np.ones(len(noise))])
        return np.linalg.solve(self.shapes[shapes] + noise, sides).astype(np.float32)

    def _drawn_back(
        self, pair: int, shape: int, noise: np.ndarray, missed: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """V A^-1 of each row of ``missed``, and A^-1 of ones, for one shape."""
        few = len(missed) < len(noise)  # whichever there is less to solve for
        solved = np.vstack([missed if few else noise, np.ones(len(noise))])
        if self.factors is None:
            factor = _factorised(self.shapes[[shape]] + noise)[0]
        else:
            factor = self.factors[pair][shape]
        lapack.solve(np.asarray(factor), solved)
        back, flat = solved[:-1], solved[-1]
        return back @ noise if few else missed @ back.astype(np.float32).T, flat


def on_the_scale_of_curves(wins: np.ndarray, threads: int | None = None) -> np.ndarray:
    """Draws [draw, time, pair] of win probabilities, in their place, where their noise does not
    depend on them."""

    def run(some: slice) -> None:
        wins[:, :, some] = np.arcsin(2 * wins[:, :, some] - 1)

    in_threads(run, _near_each_other(wins.shape[2]), threads)
    return wins


def _near_each_other(n_pairs: int) -> list[slice]:
    """Pairs of which each draw lies together: of many pairs draws are far apart in memory. Of few
    pairs each is for itself, so that threads have enough to share."""
    stride = min(_PAIRS_A_TASK, 1 + n_pairs // _PAIRS_A_TASK)
    return [slice(first, min(first + stride, n_pairs)) for first in range(0, n_pairs, stride)]


def learned_curves(
    mean: np.ndarray,
    spread: np.ndarray,
    unit_times: np.ndarray,
    correlation: np.ndarray,
    threads: int | None = None,
) -> Curves:
    """What is known of all pairs' curves, from the mean and the variance of draws of them before
    they are smoothed, both [pair, time].

    ``correlation[time, time]`` is that of the scores of one instance.
    """
    n_pairs, n_times = mean.shape
    shapes, roots = _shapes_and_roots(tuple(unit_times.tolist()))
    correlation = correlation + _JITTER * np.eye(n_times)

    kept = n_times > _FEW_TIMES and n_pairs * shapes.size <= _FACTORS_KEPT

    def explained(pair: int) -> tuple[np.ndarray, np.ndarray | None]:
        factors = _factorised(shapes + _noise(correlation, spread[pair]))
        return _log_evidence(mean[pair], factors), factors if kept else None

    with single_threaded_blas():
        found, factors = zip(*in_threads(explained, range(n_pairs), threads), strict=True)
        shares = _shares(np.stack(found, axis=1), _algorithms_of(n_pairs))
    return Curves(shapes, roots, correlation, spread, shares, factors if kept else None)


def _algorithms_of(n_pairs: int) -> int:
    """How many have so many pairs."""
    return (1 + isqrt(1 + 8 * n_pairs)) // 2


def _noise(correlation: np.ndarray, spread: np.ndarray) -> np.ndarray:
    """Of two times the one that has fewer duels shares them with the other."""
    return np.asarray(correlation * np.minimum(spread[:, None], spread))


def _matern(apart: np.ndarray, lengthscale: float) -> np.ndarray:
    """Matern-3/2 correlation."""
    scaled = np.sqrt(3) * apart / lengthscale
    return np.asarray((1 + scaled) * np.exp(-scaled))


def _factorised(covariances: np.ndarray) -> np.ndarray:
    """Their Cholesky factors, in their lower triangles; of few times, with zeros above them."""
    if covariances.shape[1] <= _FEW_TIMES:
        return np.asarray(np.linalg.cholesky(covariances))
    for covariance in covariances:
        lapack.factorise(covariance)
    return covariances


def _log_evidence(curve: np.ndarray, factors: np.ndarray) -> np.ndarray:
    """The log-density of a curve, up to a constant, under each level with each covariance of its
    deviations and noise, given by their Cholesky factors: [kind], shapes running fastest."""
    both = np.column_stack([curve, np.ones(len(curve))])
    if len(curve) <= _FEW_TIMES:
        whitened = np.linalg.solve(factors, both)
    else:
        whitened = np.stack([dtrtrs(factor.T, both, trans=1)[0] for factor in factors])
    curves, ones = whitened[:, :, 0], whitened[:, :, 1]
    half_determinant = np.log(np.diagonal(factors, axis1=1, axis2=2)).sum(axis=1)
    squared = np.array(LEVELS)[:, None] ** 2
    grown = 1 + squared * (ones**2).sum(axis=1)  # determinants, with a level
    distance = (curves**2).sum(axis=1) - squared / grown * (curves * ones).sum(axis=1) ** 2
    return np.asarray(-0.5 * (distance + np.log(grown)) - half_determinant).ravel()


def _shares(log_evidence: np.ndarray, n: int) -> np.ndarray:
    """How likely each pair's curve is of each kind: [kind, pair].

    What levels there are, and what shapes, a pair learns from the pairs of the others: if one
    algorithm was lucky, all its duels look decided, and must not vouch for each other. Of the pairs
    of m algorithms only m - 1 say something of their own, so each counts 2/m.
    """
    likelihood = np.exp(log_evidence - log_evidence.max(axis=0))
    likelihood = likelihood.reshape(len(LEVELS), -1, likelihood.shape[1])
    first, second = np.triu_indices(n, 1)
    takes_part = np.eye(n)[first] + np.eye(n)[second]  # [pair, algorithm]
    weight = 2 / max(n - 2, 1)
    beforehand = np.array(HOW_LIKELY)[:, None]
    shapes = likelihood.shape[1]
    common = np.broadcast_to(beforehand[..., None] / shapes, likelihood.shape)
    for _ in range(_ROUNDS):
        shares = common * likelihood
        shares /= shares.sum(axis=(0, 1))
        own = shares @ takes_part  # of each algorithm, the sum over its pairs
        others = shares.sum(axis=2, keepdims=True) - own[..., first] - own[..., second]
        found = weight * np.maximum(others + shares, 0)
        levels = found.sum(axis=1) + IMAGINARY_PAIRS * beforehand
        forms = found.sum(axis=0) + IMAGINARY_PAIRS / shapes
        common = (levels / levels.sum(axis=0))[:, None] * (forms / forms.sum(axis=0))
    shares = common * likelihood
    shares /= shares.sum(axis=(0, 1))
    return np.asarray(shares.reshape(log_evidence.shape))
