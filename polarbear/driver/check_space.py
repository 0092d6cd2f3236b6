"""A check of a space: configurations are drawn from it, and the adapter has to accept them."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from polarbear.algorithms.base import Algorithm
from polarbear.config.configuration import Config
from polarbear.config.design_spaces import DesignSpace
from polarbear.errors import PolarBearError
from polarbear.wording import counted, percent

DRAWS = 100
PREPARED = 20  # of the draws, for which the adapter checks what it can before a run
TRIED = 2  # of the draws, with which the algorithm runs


@dataclass(frozen=True)
class SpaceCheck:
    """The configurations that were drawn from the space of one algorithm.

    ``forbidden`` is the share of uniform draws that a clause forbids, which are drawn again;
    ``refused`` the number of other draws that the adapter refuses, with the reason of the first.
    """

    algorithm: str
    parameters: int
    conditional: int
    draws: int
    forbidden: float
    refused: int
    refusal: str
    example: dict[str, Any]

    @property
    def words(self) -> str:
        """The space and one of its configurations."""
        text = f"space of {self.algorithm}: {counted(self.parameters, 'parameter')}"
        if self.conditional:
            text += f", {self.conditional} of them conditional"
        if self.forbidden:
            text += f", {percent(self.forbidden)} of it forbidden"
        example = ", ".join(f"{name}={value}" for name, value in self.example.items())
        return f"{text}; for example {example}" if example else text


def check_space(
    name: str, design_space: DesignSpace, config: Config
) -> tuple[SpaceCheck, list[Algorithm]]:
    """Draw configurations from a space; returns the result and some algorithms to try out."""
    space = design_space.space
    rng = np.random.default_rng(config.seed)
    accepted: list[Algorithm] = []
    refusals: list[str] = []
    example: dict[str, Any] = {}
    n_forbidden = space.count_forbidden(rng, DRAWS)
    for number in range(1, DRAWS + 1):
        try:
            values = space.draw(rng)
            algorithm = design_space.configured(f"{name} (draw {number})", values)
            if number <= PREPARED:
                algorithm.prepare(config.setting)
        except (ValueError, PolarBearError) as error:
            refusals.append(str(error))
            continue
        example = example or dict(values)
        accepted.append(algorithm)
    space_check = SpaceCheck(
        algorithm=name,
        parameters=len(space.parameters),
        conditional=sum(parameter.condition is not None for parameter in space.parameters),
        draws=DRAWS,
        forbidden=n_forbidden / DRAWS,
        refused=len(refusals),
        refusal=refusals[0] if refusals else "",
        example=example,
    )
    return space_check, accepted[:TRIED]
