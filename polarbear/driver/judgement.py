"""What a round infers: the posterior, and the relations that decide by it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from polarbear.driver.evidence import Evidence
from polarbear.driver.posteriors import Learned
from polarbear.inference import ModelOptions, Posterior, infer, relations
from polarbear.inference.beliefs import Beliefs, beliefs
from polarbear.inference.relations import Joint, Pointwise
from polarbear.racing import State, Threat
from polarbear.racing.rules import Rules


@dataclass(frozen=True)
class Judgement:
    """What a round's evidence says; ``pointwise`` is None where it is not to be trusted."""

    learned: Learned
    evidence: Evidence
    pointwise: Pointwise | None
    joint: Joint | None
    draws: int

    def beliefs(self) -> Beliefs:
        """What is kept of it for whoever looks back at the round."""
        learned = self.learned
        return beliefs(
            learned.posterior, learned.algorithms, learned.times, self.pointwise, self.joint
        )


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
    posterior = infer(evidence.choice_sets.pick(times), evidence.unit_times[times], options, seed)
    finer = relations.pointwise(posterior, rules.epsilon)
    merged = {}
    for name in ("dominance", "dominance_error", "equivalence", "equivalence_error"):
        merged[name] = getattr(pointwise, name).copy()
        merged[name][times] = getattr(finer, name)
    return Pointwise(**merged, epsilon=rules.epsilon)


def threats(state: State, pointwise: Pointwise | None, joint: Joint | None) -> dict[str, Threat]:
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
            found[name] = Threat(by, float(probability[index[by], index[name]]))
    return found
