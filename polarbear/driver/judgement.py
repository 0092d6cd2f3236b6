"""What a round infers: the posterior, and the relations that decide by it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from polarbear.driver.evidence import Evidence
from polarbear.driver.posteriors import Learned
from polarbear.inference import Posterior, relations
from polarbear.inference.beliefs import Beliefs, beliefs
from polarbear.inference.empirical.bootstrap import Bootstrap
from polarbear.inference.fit import named
from polarbear.inference.named_fit import NamedFit
from polarbear.inference.relations import Joint, Pointwise
from polarbear.racing import Elimination, State, Threat
from polarbear.racing.guarantee import record_of_duels
from polarbear.racing.rules import Rules
from polarbear.rankings.duels import duels_of, place_of_pair

LOOKING_BACK = 1000  # draws that say how likely an elimination was wrong


@dataclass(frozen=True)
class Judgement:
    """What a round's evidence says; ``pointwise`` is None where it is not to be trusted.

    ``draws`` is the most that a relation rests on, ``field`` who competes for first places.
    """

    learned: Learned
    evidence: Evidence
    pointwise: Pointwise | None
    joint: Joint | None
    draws: int
    field: tuple[str, ...] | None = None

    @property
    def fit(self) -> NamedFit | None:
        """Whether Plackett-Luce fits, where it is assumed."""
        return named(self.learned.posterior.fit, self.learned.algorithms, self.learned.times)

    def duels(self, rules: Rules) -> np.ndarray | None:
        """How often one was ranked before another, where decisions have to heed it: [time, a, b].

        The empirical model says nothing else.
        """
        if rules.guarantee == "none" and not self.learned.posterior.options.plackett_luce:
            return None
        return record_of_duels(self.evidence.positions, self.evidence.weights)

    def p_any_wrong(self, eliminated: Sequence[Elimination]) -> float:
        """How likely one of these at least is wrong: not better at every time, by the duels."""
        if not eliminated:
            return 0.0
        posterior, names = self.learned.posterior, self.learned.algorithms
        pairs = [(names.index(e.by), names.index(e.algorithm)) for e in eliminated]
        if posterior.wins is None:
            right = self._always_won(pairs)
        else:
            right = [posterior.always_beats(by, gone) for by, gone in pairs]
        return float(1 - np.logical_and.reduce(right).mean())

    def _always_won(self, pairs: Sequence[tuple[int, int]]) -> list[np.ndarray]:
        """Of each pair, whether the first beats the second at all times, by duels: bool[draw]."""
        seen, n = self.evidence, len(self.learned.algorithms)
        duels = duels_of(seen.positions, seen.problems, seen.weights)
        bootstrap = Bootstrap(duels, LOOKING_BACK, self.learned.posterior.seed)
        wins = bootstrap.wins([place_of_pair(a, b, n) for a, b in pairs])
        return [
            np.asarray((wins[:, :, k] > 0.5 if a < b else wins[:, :, k] < 0.5).all(axis=1))
            for k, (a, b) in enumerate(pairs)
        ]

    def beliefs(self) -> Beliefs:
        """What is kept of it for whoever looks back at the round."""
        learned = self.learned
        return beliefs(
            learned.posterior, learned.algorithms, learned.times, self.pointwise, self.joint
        )


def relations_of(posterior: Posterior, rules: Rules) -> tuple[Pointwise, Joint | None]:
    joint = relations.joint(posterior) if rules.elimination == "joint" else None
    no_worse = rules.resolution == "membership"
    return relations.pointwise(posterior, rules.epsilon, no_worse=no_worse), joint


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
