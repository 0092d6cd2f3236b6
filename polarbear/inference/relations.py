"""Posterior to relations: dominance, equivalence, crossing, each with its Monte-Carlo error.

Tables are indexed [a, b] or [time, a, b] and speak about a: 'a dominates b'.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from polarbear.errors import InferenceError
from polarbear.inference.diagnostics import error_of, ratings_compared, shares_with_errors
from polarbear.inference.models import joint_models
from polarbear.numerics.threads import in_threads

if TYPE_CHECKING:
    from polarbear.inference.base import Posterior

_TIMES_A_TASK = 8  # whose draws are near each other
_PAIRS_A_TASK = 512  # of all its times; bounds memory, not results
Shares = tuple[np.ndarray, np.ndarray]  # with their Monte-Carlo errors


@dataclass(frozen=True)
class Pointwise:
    """P(a beats b on more than half of the instances), and on a share within 0.5 +- epsilon.

    ``no_worse``, where it was asked for, is P(a beats b on a share of at least 0.5 - epsilon).
    """

    dominance: np.ndarray
    dominance_error: np.ndarray
    equivalence: np.ndarray
    equivalence_error: np.ndarray
    epsilon: float
    no_worse: np.ndarray | None = None
    no_worse_error: np.ndarray | None = None


@dataclass(frozen=True)
class Joint:
    """P(a beats b on more than half of them at all times), and P(neither does: the two cross)."""

    dominance: np.ndarray
    dominance_error: np.ndarray
    crossing: np.ndarray
    crossing_error: np.ndarray


def pointwise(
    posterior: Posterior,
    epsilon: float = 0.05,
    threads: int | None = None,
    no_worse: bool = False,
) -> Pointwise:
    """Relations at each time for itself; who is no worse than whom, where that is asked for."""
    if not 0 <= epsilon < 0.5:
        raise InferenceError(f"epsilon must lie in [0, 0.5), found {epsilon:g}")
    theta = posterior.theta
    _, n_times, n = theta.shape
    first, second = np.triu_indices(n, 1)
    tables = np.zeros((6 if no_worse else 4, n_times, n, n))
    tables[2::2] = np.eye(n)
    ratio = (0.5 + epsilon) / (0.5 - epsilon)
    wins = posterior.wins

    def fill(
        where: tuple[Any, Any, Any],
        better: Shares,
        worse: np.ndarray,
        alike: Shares,
        as_good: tuple[Shares, Shares] | None,
    ) -> None:
        t, a, b = where
        tables[0, t, a, b], tables[0, t, b, a] = better[0], worse
        tables[1, t, a, b] = tables[1, t, b, a] = better[1]
        tables[2, t, a, b] = tables[2, t, b, a] = alike[0]
        tables[3, t, a, b] = tables[3, t, b, a] = alike[1]
        if as_good is not None:
            for (one, two), (share, error) in zip(((a, b), (b, a)), as_good, strict=True):
                tables[4, t, one, two], tables[5, t, one, two] = share, error

    def at_times(times: slice) -> None:
        """Of ratings, which lie together at a time."""
        shares, errors = ratings_compared(theta[:, times], ratio, posterior.chains)
        better, alike, *as_good = zip(shares.swapaxes(0, 1), errors.swapaxes(0, 1), strict=False)
        where = np.arange(times.start, times.stop)[:, None], first, second
        fill(where, better, shares[:, 4], alike, (as_good[0], as_good[1]) if no_worse else None)

    def of_a_pair(pair: int) -> None:
        """Of duels, of which a pair's times lie together."""
        assert wins is not None
        off = wins[:, :, pair] - 0.5
        flags = off > 0, off < 0, np.abs(off) <= epsilon, off >= -epsilon
        counts = (flag.view(np.int8).sum(axis=0, dtype=np.int32) for flag in flags)
        above, below, near, as_good = (count / posterior.n_draws for count in counts)
        # The second is no worse where they are alike, or the first is worse by more than that.
        shares = (above, near, as_good, near + 1 - as_good)
        better, alike, *both = ((share, error_of(share, posterior.n_draws)) for share in shares)
        where = slice(None), first[pair], second[pair]
        fill(where, better, below, alike, (both[0], both[1]) if no_worse else None)

    if wins is None:
        at_once = max(1, min(_TIMES_A_TASK, _PAIRS_A_TASK // len(first)))
        tasks = [slice(t, min(t + at_once, n_times)) for t in range(0, n_times, at_once)]
        in_threads(at_times, tasks, threads)
    else:
        in_threads(of_a_pair, range(len(first)), threads)
    dominance, dominance_error, equivalence, equivalence_error, *more = tables
    return Pointwise(dominance, dominance_error, equivalence, equivalence_error, epsilon, *more)


def joint(posterior: Posterior, threads: int | None = None) -> Joint:
    """Relations over all times at once, where the model can speak about them."""
    if not posterior.joint:
        raise InferenceError(
            f"the {posterior.model} model treats times as independent and has no joint posterior "
            f"over time: use one that has ({', '.join(joint_models())}), or pointwise "
            "relations"
        )
    n = posterior.theta.shape[2]
    tables = np.zeros((4, n, n))

    def run(pair: tuple[int, int]) -> None:
        a, b = pair
        above, below = posterior.always_beats(a, b), posterior.always_beats(b, a)
        flags = np.stack([above, below, ~(above | below)])
        share, error = shares_with_errors(flags, posterior.chains, posterior.independent)
        tables[0, a, b], tables[0, b, a], tables[2, a, b] = share
        tables[1, a, b], tables[1, b, a], tables[3, a, b] = error
        tables[2, b, a], tables[3, b, a] = share[2], error[2]

    in_threads(run, [(a, b) for a in range(n) for b in range(a)], threads)
    return Joint(*tables)


@dataclass(frozen=True)
class DecisionTables:
    """Probabilities that decide a round of a race.

    ``better``, ``equivalent`` and ``no_worse`` are [time, a, b] and settle pairs.
    ``dominates[a, b]`` eliminates b: P(a is better than b) at the time at which it is lowest, or at
    all times jointly. ``estimate[a, b]`` is the same probability under the neutral prior, to show.
    ``errors`` are their Monte-Carlo errors, None where probabilities are exact.
    """

    better: np.ndarray
    equivalent: np.ndarray
    no_worse: np.ndarray
    dominates: np.ndarray
    estimate: np.ndarray
    errors: DecisionTables | None = None

    def shifted(self, standard_errors: float) -> DecisionTables:
        """All probabilities moved by a number of Monte-Carlo errors."""
        if self.errors is None:
            return self
        off = self.errors
        return DecisionTables(
            better=self.better + standard_errors * off.better,
            equivalent=self.equivalent + standard_errors * off.equivalent,
            no_worse=self.no_worse + standard_errors * off.no_worse,
            dominates=self.dominates + standard_errors * off.dominates,
            estimate=self.estimate,
        )


def decision_tables(posterior: Posterior, epsilon: float, elimination: str) -> DecisionTables:
    """The probabilities by which a posterior decides, by pointwise or joint elimination."""
    at = pointwise(posterior, epsilon, no_worse=True)
    assert at.no_worse is not None
    assert at.no_worse_error is not None
    if elimination == "joint":
        over = joint(posterior)
        dominates, error = over.dominance, over.dominance_error
    else:
        weakest = at.dominance.argmin(axis=0)[None]
        dominates = np.take_along_axis(at.dominance, weakest, axis=0)[0]
        error = np.take_along_axis(at.dominance_error, weakest, axis=0)[0]
    off = at.dominance_error, at.equivalence_error, at.no_worse_error
    errors = DecisionTables(*off, error, error)
    found = at.dominance, at.equivalence, at.no_worse
    return DecisionTables(*found, dominates, dominates, errors)
