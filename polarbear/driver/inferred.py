"""What `polarbear infer` tells of a posterior: ratings at times, and pairs where asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import permutations

from polarbear.driver.posterior_cache import CachedPosterior
from polarbear.inference import relations
from polarbear.inference.diagnostics import Diagnostics
from polarbear.inference.fit import named
from polarbear.inference.named_fit import NamedFit
from polarbear.plain import asked


@dataclass(frozen=True)
class Rating:
    """How likely an algorithm is to be the best at a time, with a central 95 % interval."""

    algorithm: str
    t: float
    mean: float
    low: float
    high: float


@dataclass(frozen=True)
class PairAt:
    """How likely a is better than b at a time, or as good; ``error`` is the Monte-Carlo error.

    ``p_wins`` is the expected share of instances on which a beats b.
    """

    a: str
    b: str
    t: float
    p_dominates: float
    p_equivalent: float
    error: float
    p_wins: float


@dataclass(frozen=True)
class PairOver:
    """How likely a is better than b at all times, or the two cross."""

    a: str
    b: str
    p_dominates: float
    p_crosses: float
    error: float


@dataclass(frozen=True)
class Inferred:
    """A posterior in numbers; fields are the keys of `polarbear infer --json`.

    Pairs are there where they were asked for, ``joint`` only where the model knows of all times
    at once.
    """

    model: str
    engine: str
    method: str
    draws: int
    seed: int
    seconds: float
    from_store: bool
    instances: int
    evidence_weight: float
    diagnostics: Diagnostics
    fit: NamedFit | None
    notes: tuple[str, ...]
    ratings: tuple[Rating, ...]
    epsilon: float | None = asked()
    pairs: tuple[PairAt, ...] | None = asked()
    joint: tuple[PairOver, ...] | None = asked()


def inferred(cached: CachedPosterior, shown: Sequence[int]) -> Inferred:
    """The ratings at some times of the grid, given by their places."""
    posterior = cached.posterior
    mean, (low, high) = posterior.mean(), posterior.interval()
    return Inferred(
        model=posterior.model,
        engine=posterior.engine,
        method=posterior.method,
        draws=posterior.n_draws,
        seed=posterior.seed,
        seconds=round(posterior.seconds, 3),
        from_store=cached.from_store,
        instances=cached.instances,
        evidence_weight=posterior.evidence_weight,
        diagnostics=posterior.diagnostics,
        fit=named(posterior.fit, cached.algorithms, cached.times),
        notes=posterior.notes,
        ratings=tuple(
            Rating(
                name,
                float(cached.times[t]),
                float(mean[t, i]),
                float(low[t, i]),
                float(high[t, i]),
            )
            for i, name in enumerate(cached.algorithms)
            for t in shown
        ),
    )


def with_pairs(
    told: Inferred, cached: CachedPosterior, shown: Sequence[int], epsilon: float
) -> Inferred:
    """The same with every pair at these times, and over all times where the model can say."""
    return replace(
        told,
        epsilon=epsilon,
        pairs=pairs_at(cached, shown, epsilon),
        joint=pairs_over(cached) if cached.posterior.joint else None,
    )


def pairs_at(cached: CachedPosterior, shown: Sequence[int], epsilon: float) -> tuple[PairAt, ...]:
    """Every ordered pair at some times of the grid."""
    at, names = relations.pointwise(cached.posterior, epsilon), cached.algorithms
    wins = {
        (a, b): cached.posterior.head_to_head(a, b).mean(axis=0)
        for a, b in permutations(range(len(names)), 2)
    }
    return tuple(
        PairAt(
            names[a],
            names[b],
            float(cached.times[t]),
            float(at.dominance[t, a, b]),
            float(at.equivalence[t, a, b]),
            float(at.dominance_error[t, a, b]),
            float(wins[a, b][t]),
        )
        for a, b in permutations(range(len(names)), 2)
        for t in shown
    )


def pairs_over(cached: CachedPosterior) -> tuple[PairOver, ...]:
    """Every ordered pair over all times at once."""
    over, names = relations.joint(cached.posterior), cached.algorithms
    return tuple(
        PairOver(
            names[a],
            names[b],
            float(over.dominance[a, b]),
            float(over.crossing[a, b]),
            float(over.dominance_error[a, b]),
        )
        for a, b in permutations(range(len(names)), 2)
    )
