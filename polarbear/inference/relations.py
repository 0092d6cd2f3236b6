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
from polarbear.inference.empirical.pair_probabilities import pair_probabilities
from polarbear.inference.models import joint_models
from polarbear.numerics.threads import Threads, in_threads
from polarbear.rankings.duels import index_of_pair
from polarbear.settings.decision_levels import DEFAULT_EPSILON

if TYPE_CHECKING:
    from polarbear.inference.posterior_draws import Posterior
    from polarbear.rankings.duels import DuelRecord


@dataclass(frozen=True)
class Pointwise:
    """P(a beats b on more than half of the instances), and on a share within 0.5 +- epsilon.

    ``no_worse``, which is optional, is P(a beats b on a share of at least 0.5 - epsilon).
    """

    dominance: np.ndarray
    dominance_error: np.ndarray
    equivalence: np.ndarray
    equivalence_error: np.ndarray
    epsilon: float
    no_worse: np.ndarray | None = None
    no_worse_error: np.ndarray | None = None

    def decided_at(self, index: np.ndarray) -> Pointwise:
        """The relations in which each pair has those of another time: index[time, pair]."""
        n_times, n, _ = self.dominance.shape
        table = np.zeros((n_times, n, n), dtype=int)
        a, b = np.triu_indices(n, 1)
        table[:, a, b] = index
        table[:, b, a] = index

        def taken(values: np.ndarray | None) -> np.ndarray | None:
            return None if values is None else np.take_along_axis(values, table, axis=0)

        return Pointwise(
            dominance=np.take_along_axis(self.dominance, table, axis=0),
            dominance_error=np.take_along_axis(self.dominance_error, table, axis=0),
            equivalence=np.take_along_axis(self.equivalence, table, axis=0),
            equivalence_error=np.take_along_axis(self.equivalence_error, table, axis=0),
            epsilon=self.epsilon,
            no_worse=taken(self.no_worse),
            no_worse_error=taken(self.no_worse_error),
        )


@dataclass(frozen=True)
class Joint:
    """P(a beats b on more than half of them at all times), and P(neither does: the two cross)."""

    dominance: np.ndarray
    dominance_error: np.ndarray
    crossing: np.ndarray


def pointwise(
    posterior: Posterior,
    epsilon: float = DEFAULT_EPSILON,
    threads: int | None = None,
    no_worse: bool = False,
) -> Pointwise:
    """Relations at each time separately; ``no_worse`` adds the probabilities of that name.

    They are exact where they follow from the duels of a pair, otherwise shares of draws.
    """
    if not 0 <= epsilon < 0.5:
        raise InferenceError(f"epsilon must lie in [0, 0.5), found {epsilon:g}")
    if posterior.exact_duels is not None:
        return _by_duels(posterior.exact_duels, posterior.options.concentration, epsilon)
    _, n_times, n = posterior.theta.shape
    if posterior.wins is None:
        # The draws of an algorithm are read n - 1 times, which is faster if they are contiguous.
        by_algorithm = np.ascontiguousarray(posterior.theta.transpose(2, 0, 1))
        posterior = replace(posterior, theta=by_algorithm.transpose(1, 2, 0))
    tables = np.zeros((6 if no_worse else 4, n_times, n, n))
    tables[2::2] = np.eye(n)

    def compare(pair: tuple[int, int]) -> None:
        a, b = pair
        wins = posterior.head_to_head(a, b)
        a_no_worse = wins >= 0.5 - epsilon
        b_no_worse = wins <= 0.5 + epsilon
        flags = {
            (0, a, b): posterior.beats(a, b),
            (0, b, a): posterior.beats(b, a),
            (2, a, b): a_no_worse & b_no_worse,
        }
        if no_worse:
            flags[4, a, b] = a_no_worse
            flags[4, b, a] = b_no_worse
        for (table, row, column), flag in flags.items():
            share, error = shares_with_errors(flag, posterior.chains, posterior.independent)
            tables[table, :, row, column] = share
            tables[table + 1, :, row, column] = error
        tables[2:4, :, b, a] = tables[2:4, :, a, b]

    in_threads(compare, list(itertools.combinations(range(n), 2)), Threads(threads))
    return Pointwise(
        dominance=tables[0],
        dominance_error=tables[1],
        equivalence=tables[2],
        equivalence_error=tables[3],
        epsilon=epsilon,
        no_worse=tables[4] if no_worse else None,
        no_worse_error=tables[5] if no_worse else None,
    )


def _by_duels(duels: DuelRecord, concentration: float, epsilon: float) -> Pointwise:
    """Relations without a Monte-Carlo error."""
    probabilities = pair_probabilities(duels, epsilon, concentration)
    is_itself = np.eye(duels.algorithms)
    no_error = np.zeros_like(probabilities.better)
    return Pointwise(
        dominance=probabilities.better,
        dominance_error=no_error,
        equivalence=probabilities.equivalent + is_itself,
        equivalence_error=no_error,
        epsilon=epsilon,
        no_worse=probabilities.no_worse + is_itself,
        no_worse_error=no_error,
    )


def joint(
    posterior: Posterior, threads: int | None = None, decided_at: np.ndarray | None = None
) -> Joint:
    """Relations over all times at once, where the model can speak about them.

    ``decided_at`` has the indices of the times that decide each pair: int[time, pair].
    """
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
        times: slice | np.ndarray = slice(None)
        if decided_at is not None:
            times = np.unique(decided_at[:, index_of_pair(a, b, n)])
        a_always = posterior.beats(a, b)[:, times].all(axis=1)
        b_always = posterior.beats(b, a)[:, times].all(axis=1)
        always = np.stack([a_always, b_always], axis=1)
        share, share_error = shares_with_errors(always, posterior.chains, posterior.independent)
        dominance[a, b] = share[0]
        dominance[b, a] = share[1]
        error[a, b] = share_error[0]
        error[b, a] = share_error[1]
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
    n_batches = by_chain.shape[1] // batch
    batches = by_chain[:, : n_batches * batch].reshape(chains * n_batches, batch, *flags.shape[1:])
    means = batches.sum(axis=1, dtype=np.int32) / batch
    return share, np.maximum(error, means.std(axis=0, ddof=1) / math.sqrt(len(means)))


@dataclass(frozen=True)
class DecisionTables:
    """Probabilities that decide a round of a race.

    ``better``, ``equivalent`` and ``no_worse`` are [time, a, b] and settle pairs.
    ``dominates[a, b]`` eliminates b: P(a is better than b) at the time at which it is lowest, or at
    all times jointly. ``estimate[a, b]``, to show, is P(b dominated): P(a is better than b) under
    the neutral prior, at the time at which it is lowest.
    ``errors`` are their Monte-Carlo errors, None where probabilities are exact. ``by_duels`` says
    that the probabilities of a pair are functions of its duels alone.
    """

    better: np.ndarray
    equivalent: np.ndarray
    no_worse: np.ndarray
    dominates: np.ndarray
    estimate: np.ndarray
    errors: DecisionTables | None = None
    by_duels: bool = False

    def shifted(self, standard_errors: float) -> DecisionTables:
        """All probabilities moved by a number of Monte-Carlo errors."""
        if self.errors is None:
            return self
        return replace(
            self,
            errors=None,
            better=self.better + standard_errors * self.errors.better,
            equivalent=self.equivalent + standard_errors * self.errors.equivalent,
            no_worse=self.no_worse + standard_errors * self.errors.no_worse,
            dominates=self.dominates + standard_errors * self.errors.dominates,
        )


def decision_tables(
    posterior: Posterior,
    epsilon: float,
    elimination: str,
    decided_at: np.ndarray | None = None,
) -> DecisionTables:
    """The probabilities by which a posterior decides, by pointwise or joint elimination.

    ``decided_at`` has the index of the time that decides each pair at each time: int[time, pair].
    """
    at_times = pointwise(posterior, epsilon, no_worse=True)
    if decided_at is not None:
        at_times = at_times.decided_at(decided_at)
    assert at_times.no_worse is not None
    assert at_times.no_worse_error is not None
    weakest = at_times.dominance.argmin(axis=0)[None]
    estimate = np.take_along_axis(at_times.dominance, weakest, axis=0)[0]
    estimate_error = np.take_along_axis(at_times.dominance_error, weakest, axis=0)[0]
    dominates = estimate
    error = estimate_error
    if elimination == "joint":
        over_times = joint(posterior, decided_at=decided_at)
        dominates = over_times.dominance
        error = over_times.dominance_error
    errors = DecisionTables(
        better=at_times.dominance_error,
        equivalent=at_times.equivalence_error,
        no_worse=at_times.no_worse_error,
        dominates=error,
        estimate=estimate_error,
    )
    return DecisionTables(
        better=at_times.dominance,
        equivalent=at_times.equivalence,
        no_worse=at_times.no_worse,
        dominates=dominates,
        estimate=estimate,
        errors=errors,
    )
