"""Configurations near the members of the set, as irace draws them.

A member is chosen as parent. Numbers are drawn from a normal distribution around the parent's
value, truncated to the parameter's bounds, and categories keep the parent's value with a
probability that grows; both narrow from generation to generation (Lopez-Ibanez et al. 2016).
Parents differ from irace's: the set has members for different budgets, and one that is the best at
few budgets is still the only parent there.
"""

from __future__ import annotations

import numpy as np
import scipy  # loads `scipy.special` at its first use
from pydantic import Field

from polarbear.proposers.base import (
    MAX_REPEATED_DRAWS,
    Member,
    Proposed,
    Proposer,
    Request,
    algorithms_in_turn,
    rng_of,
)
from polarbear.spaces import Parameter, Space, Value, Values

FIRST_DEVIATION = 0.5  # of a parameter's range, as in irace


class Elites(Proposer):
    """Configurations drawn around members of the set, nearer to them in each generation."""

    narrowing: float = Field(
        0.8, gt=0, le=1, description="the factor of the width from one generation to the next"
    )
    narrowest: float = Field(0.1, gt=0, le=1, description="the smallest width")
    explore: float = Field(
        0.2, ge=0, le=1, description="the share of candidates that are drawn uniformly"
    )

    def propose(self, request: Request) -> list[Proposed]:
        rng = rng_of(request)
        width = max(self.narrowing ** (request.generation - 1), self.narrowest)
        proposals: list[Proposed] = []
        for name in algorithms_in_turn(request):
            space = request.spaces[name].space
            parents = [
                member
                for member in request.members
                if member.design is not None and member.design.algorithm == name
            ]
            for _ in range(MAX_REPEATED_DRAWS):
                if not parents or rng.random() < self.explore:
                    values = space.draw(rng)
                else:
                    values = _child(space, _chosen(parents, rng), width, rng)
                if request.is_new(name, values, proposals):
                    proposals.append(Proposed(name, values))
                    break
        return proposals


def _chosen(parents: list[Member], rng: np.random.Generator) -> Values:
    """The values of a parent: half of the draws are by its share of budgets, half are uniform."""
    shares = np.array([float(np.mean(parent.p_best)) for parent in parents])
    total = shares.sum()
    uniform = np.full(len(parents), 1 / len(parents))
    weights = uniform if total <= 0 else (uniform + shares / total) / 2
    design = parents[int(rng.choice(len(parents), p=weights))].design
    assert design is not None
    return design.values


def _child(
    space: Space, parent: Values, width: float, rng: np.random.Generator
) -> dict[str, Value]:
    """A configuration near a parent's; parameters that the parent does not use are uniform."""

    def value_near(parameter: Parameter) -> Value:
        if parameter.name not in parent:
            return parameter.draw(rng)
        return _near(parameter, parent[parameter.name], width, rng)

    return space.draw(rng, value_near)


def _near(parameter: Parameter, value: Value, width: float, rng: np.random.Generator) -> Value:
    if parameter.is_numeric:
        low, high = parameter.scaled_bounds
        centre = parameter.to_scale(value)
        return parameter.from_scale(_truncated_normal(centre, width, low, high, rng))
    position = parameter.position_of(value)
    n = len(parameter.values)
    if parameter.kind == "ordered":
        drawn = _truncated_normal(position, width, -0.5, n - 0.5, rng)
        return parameter.values[min(max(round(drawn), 0), n - 1)]
    if rng.random() < width:
        position = int(rng.integers(n))
    return parameter.values[position]


def _truncated_normal(
    centre: float, width: float, low: float, high: float, rng: np.random.Generator
) -> float:
    """A draw from a normal distribution between two bounds, by the inverse of its distribution."""
    deviation = FIRST_DEVIATION * width * (high - low)
    below = scipy.special.ndtr((low - centre) / deviation)
    above = scipy.special.ndtr((high - centre) / deviation)
    quantile = below + rng.random() * (above - below)
    return float(np.clip(centre + deviation * scipy.special.ndtri(quantile), low, high))
