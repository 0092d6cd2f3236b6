"""What a round believes: the posterior, the relations that follow from it, and their tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from polarbear.driver.evidence import Evidence
from polarbear.driver.posteriors import Learned
from polarbear.inference import ModelOptions, Posterior, infer, relations
from polarbear.inference.relations import Joint, Pointwise
from polarbear.racing import State
from polarbear.racing.rules import Rules
from polarbear.store import tables


@dataclass(frozen=True)
class Beliefs:
    """What a round's evidence says; ``pointwise`` is None where it is not to be trusted."""

    learned: Learned
    evidence: Evidence
    pointwise: Pointwise | None
    joint: Joint | None
    draws: int


def relations_of(posterior: Posterior, rules: Rules) -> tuple[Pointwise, Joint | None]:
    joint = relations.joint(posterior) if rules.elimination == "joint" else None
    return relations.pointwise(posterior, rules.epsilon), joint


def refined(
    evidence: Evidence,
    options: ModelOptions,
    seed: int,
    rules: Rules,
    hanging: np.ndarray,
    pointwise: Pointwise,
) -> Pointwise:
    """Relations from more draws at the times that hang on it, where times are independent."""
    times = np.flatnonzero(hanging)
    posterior = infer(
        evidence.choice_sets.pick(times),
        evidence.unit_times[times],
        options,
        seed,
        positions=evidence.positions[:, :, times],
    )
    finer = relations.pointwise(posterior, rules.epsilon)
    merged = {}
    for name in ("dominance", "dominance_error", "equivalence", "equivalence_error"):
        merged[name] = getattr(pointwise, name).copy()
        merged[name][times] = getattr(finer, name)
    return Pointwise(**merged, epsilon=rules.epsilon)


def threats(
    state: State, pointwise: Pointwise | None, joint: Joint | None
) -> dict[str, dict[str, Any]]:
    """Who comes nearest to putting each candidate out, and how near."""
    if pointwise is None:
        return {}
    probability = joint.dominance if joint else pointwise.dominance.min(axis=0)
    index = {name: i for i, name in enumerate(state.algorithms)}
    found = {}
    for name in state.candidates:
        others = [other for other in state.candidates if other != name]
        if others:
            by = max(others, key=lambda other: probability[index[other], index[name]])
            found[name] = {"by": by, "probability": float(probability[index[by], index[name]])}
    return found


def belief_tables(beliefs: Beliefs) -> tuple[pa.Table, pa.Table]:
    """Ratings and relations of a round, as the store keeps them."""
    posterior, names = beliefs.learned.posterior, beliefs.learned.algorithms
    times, n = beliefs.learned.times, len(names)
    mean, (low, high) = posterior.mean(), posterior.interval()
    ratings = pa.table(
        {
            "algorithm": np.repeat(np.array(names, dtype=object), len(times)),
            "t": np.tile(times, n),
            "mean": mean.T.ravel(),
            "low": low.T.ravel(),
            "high": high.T.ravel(),
        },
        schema=tables.ROUND_RATINGS,
    )
    a, b = np.triu_indices(n, 1)
    columns: dict[str, list[Any]] = {field.name: [] for field in tables.ROUND_PAIRS}

    def add(t: np.ndarray | None, **values: np.ndarray) -> None:
        repeat = 1 if t is None else len(t)
        columns["a"] += [names[i] for i in a for _ in range(repeat)]
        columns["b"] += [names[i] for i in b for _ in range(repeat)]
        columns["t"] += [None] * len(a) if t is None else np.tile(t, len(a)).tolist()
        for name, value in values.items():
            columns[name] += value.T.ravel().tolist()

    at, over = beliefs.pointwise, beliefs.joint
    if at is not None:
        add(
            times,
            p_above=at.dominance[:, a, b],
            p_below=at.dominance[:, b, a],
            p_alike=at.equivalence[:, a, b],
            error=at.dominance_error[:, a, b],
        )
    if over is not None:
        add(
            None,
            p_above=over.dominance[a, b],
            p_below=over.dominance[b, a],
            p_alike=over.crossing[a, b],
            error=over.dominance_error[a, b],
        )
    return ratings, pa.table(columns, schema=tables.ROUND_PAIRS)
