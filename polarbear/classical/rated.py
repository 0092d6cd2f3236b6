"""What a posterior says about the algorithms that the classical view compares."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from polarbear.numerics.arrays import Floats
from polarbear.preferences import Context, read_preference
from polarbear.select import Basis, judge

PREFERENCES = ("uniform", "log-uniform", "final")


@dataclass(frozen=True)
class Rated:
    """A posterior on one way to value time: values[draw, algorithm] and the weights of times."""

    preference: str
    values: Floats
    weights: Floats

    @property
    def p_best(self) -> Floats:
        return judge(self.values).p2bb

    def order(self) -> list[int]:
        return judge(self.values).order("p2bb")

    def p_better(self, a: int, b: int) -> float:
        """P(a is worth more than b); ties count half."""
        one, other = self.values[:, a], self.values[:, b]
        return float((one > other).mean() + (one == other).mean() / 2)


def rated(basis: Basis, names: Sequence[str]) -> list[Rated]:
    """The posterior of these algorithms under each preference the classical view has a twin of."""
    items = [basis.algorithms.index(name) for name in names]
    context = Context(basis.times, basis.axis, joint=basis.posterior.joint)
    theta = basis.posterior.theta[:, :, items]
    found = []
    for name in PREFERENCES:
        valuation = read_preference(name)[0].on(context)
        assert valuation.weights is not None
        found.append(Rated(name, valuation.values(theta), valuation.weights))
    return found
