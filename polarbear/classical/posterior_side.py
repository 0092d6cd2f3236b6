"""The posterior of the algorithms that the classical view compares, under matching preferences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from polarbear.numerics.arrays import Floats
from polarbear.selection.criteria import judge
from polarbear.selection.posterior_source import Basis
from polarbear.selection.preference import Context
from polarbear.selection.preference_parsing import read_preference

PREFERENCES = ("uniform", "log-uniform", "final")  # those that have a classical counterpart


@dataclass(frozen=True)
class PosteriorSide:
    """The posterior under one preference: values[draw, algorithm], and the weights of times."""

    preference: str
    values: Floats
    weights: Floats

    @property
    def p_best(self) -> Floats:
        return judge(self.values).p2bb

    def order(self) -> list[int]:
        return judge(self.values).order("p2bb")

    def p_better(self, a: int, b: int) -> float:
        """P(a has a higher value than b); ties count half."""
        one, other = self.values[:, a], self.values[:, b]
        return float((one > other).mean() + (one == other).mean() / 2)


def posterior_sides(basis: Basis, names: Sequence[str]) -> list[PosteriorSide]:
    """The posterior of these algorithms under each of the preferences."""
    items = [basis.algorithms.index(name) for name in names]
    context = Context(basis.times, basis.axis, joint=basis.posterior.joint)
    theta = basis.posterior.theta[:, :, items]
    found = []
    for name in PREFERENCES:
        valuation = read_preference(name)[0].on(context)
        assert valuation.weights is not None
        found.append(PosteriorSide(name, valuation.values(theta), valuation.weights))
    return found
