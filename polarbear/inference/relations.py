"""Posterior to relations: dominance, equivalence, crossing, each with its Monte-Carlo error.

Tables are indexed [a, b] or [time, a, b] and are about a: 'a dominates b'.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from polarbear.errors import InferenceError
from polarbear.inference.models import joint_models
from polarbear.numerics.threads import Threads, in_threads

if TYPE_CHECKING:
    from polarbear.inference.posterior_draws import Posterior


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


def pointwise(
    posterior: Posterior,
    epsilon: float = 0.05,
    threads: int | None = None,
    no_worse: bool = False,
) -> Pointwise:
    """Relations at each time separately; ``no_worse`` asks for the probabilities of that name."""
    if not 0 <= epsilon < 0.5:
        raise InferenceError(f"epsilon must lie in [0, 0.5), found {epsilon:g}")
    _, n_times, n = posterior.theta.shape
    if posterior.wins is None:  # each algorithm's draws are read n - 1 times: next to each other
        together = np.ascontiguousarray(posterior.theta.transpose(2, 0, 1))
        posterior = replace(posterior, theta=together.transpose(1, 2, 0))
    tables = np.zeros((6 if no_worse else 4, n_times, n, n))
    tables[2::2] = np.eye(n)

    def compare(pair: tuple[int, int]) -> None:
        a, b = pair
        wins = posterior.head_to_head(a, b)
        above, below = posterior.beats(a, b), posterior.beats(b, a)
        a_no_worse, b_no_worse = wins >= 0.5 - epsilon, wins <= 0.5 + epsilon
        flags = {(0, a, b): above, (0, b, a): below, (2, a, b): a_no_worse & b_no_worse}
        if no_worse:
            flags |= {(4, a, b): a_no_worse, (4, b, a): b_no_worse}
        for (table, one, other), flag in flags.items():
            share, error = shares_with_errors(flag, posterior.chains, posterior.independent)
            tables[table, :, one, other], tables[table + 1, :, one, other] = share, error
        tables[2:4, :, b, a] = tables[2:4, :, a, b]

    in_threads(compare, list(itertools.combinations(range(n), 2)), Threads(threads))
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
    dominance, error, crossing = np.zeros((3, n, n))

    def run(pair: tuple[int, int]) -> None:
        a, b = pair
        always = np.stack([posterior.beats(*p).all(axis=1) for p in ((a, b), (b, a))], axis=1)
        shares = shares_with_errors(always, posterior.chains, posterior.independent)
        for table, (one, other) in zip((dominance, error), shares, strict=True):
            table[a, b], table[b, a] = one, other
        crossing[a, b] = crossing[b, a] = (~always.any(axis=1)).mean()

    in_threads(run, [(a, b) for a in range(n) for b in range(a)], Threads(threads))
    return Joint(dominance, error, crossing)


def shares_with_errors(
    flags: np.ndarray, chains: int, independent: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """Shares of draws that flags[draw, item] mark, with their Monte-Carlo errors.

    Errors of chains are those of batch means, and at least those of independent draws. They are
    not zero even where all draws or none are marked.
    """
    size = len(flags)
    share = flags.sum(axis=0, dtype=np.int32) / size
    smoothed = (share * size + 0.5) / (size + 1)
    error = np.sqrt(smoothed * (1 - smoothed) / size)
    if independent:
        return share, error
    by_chain = flags.reshape(chains, -1, *flags.shape[1:])
    batch = max(1, math.isqrt(by_chain.shape[1]))
    count = by_chain.shape[1] // batch
    used = by_chain[:, : count * batch].reshape(chains * count, batch, *flags.shape[1:])
    means = used.sum(axis=1, dtype=np.int32) / batch
    return share, np.maximum(error, means.std(axis=0, ddof=1) / math.sqrt(len(means)))


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
        names = ("better", "equivalent", "no_worse", "dominates")
        by = {name: standard_errors * getattr(self.errors, name) for name in names}
        return replace(
            self, errors=None, **{name: getattr(self, name) + by[name] for name in names}
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
