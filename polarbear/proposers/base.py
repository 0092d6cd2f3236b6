"""The base class of proposers, and what a proposer receives and returns."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from pydantic import Field

from polarbear.config.design_spaces import Design, DesignSpace
from polarbear.settings.options import Options
from polarbear.spaces import Value, Values
from polarbear.store.generations import StoredProposal, StoredVerdict

MAX_REPEATED_DRAWS = 50  # until a configuration is one that was not proposed before


@dataclass(frozen=True)
class Member:
    """A member of the present set: P(best) at each time of the grid, and its configuration.

    ``design`` is None for an algorithm without a space.
    """

    name: str
    p_best: tuple[float, ...]
    design: Design | None = None

    def to_plain(self) -> dict[str, Any]:
        design = self.design
        return {
            "name": self.name,
            "algorithm": None if design is None else design.algorithm,
            "options": {} if design is None else dict(design.values),
            "p_best": list(self.p_best),
        }


@dataclass(frozen=True)
class Tried:
    """A proposal of an earlier generation, and what became of it."""

    generation: int
    proposal: StoredProposal
    verdict: StoredVerdict

    def to_plain(self) -> dict[str, Any]:
        return {
            "generation": self.generation,
            "name": self.proposal.name,
            "algorithm": self.proposal.algorithm,
            "options": self.proposal.values,
            "code": self.proposal.code,
            "verdict": self.verdict.verdict,
            "score": self.verdict.score,
            "text": self.verdict.text,
        }


@dataclass(frozen=True)
class Request:
    """What a proposer knows when it is asked for ``candidates`` in a generation.

    Everything random in its answer derives from ``seed``. ``folder`` is the configuration's.
    """

    generation: int
    candidates: int
    seed: int
    axis: str
    times: tuple[float, ...]
    members: tuple[Member, ...]
    tried: tuple[Tried, ...]
    spaces: Mapping[str, DesignSpace]
    folder: str = "."

    @property
    def last_generation(self) -> list[Tried]:
        """What became of the proposals of the generation before."""
        return [tried for tried in self.tried if tried.generation == self.generation - 1]

    def is_new(self, algorithm: str, values: Values, others: Sequence[Proposed] = ()) -> bool:
        """Whether nobody has these values: no member, no earlier proposal, none of the others."""
        designs = [member.design for member in self.members if member.design is not None]
        earlier = [(design.algorithm, dict(design.values)) for design in designs]
        earlier += [(tried.proposal.algorithm or "", tried.proposal.values) for tried in self.tried]
        earlier += [(other.algorithm or "", dict(other.values)) for other in others]
        return (algorithm, dict(values)) not in earlier

    def to_plain(self) -> dict[str, Any]:
        """The request as JSON, as programs and functions of users receive it."""
        return {
            "generation": self.generation,
            "candidates": self.candidates,
            "seed": self.seed,
            "axis": self.axis,
            "times": list(self.times),
            "members": [member.to_plain() for member in self.members],
            "verdicts": [tried.to_plain() for tried in self.last_generation],
            "tried": [tried.to_plain() for tried in self.tried],
            "spaces": {name: space.space.to_plain() for name, space in self.spaces.items()},
        }


@dataclass(frozen=True)
class Proposed:
    """A proposal: values for the space of an algorithm, or the code of a function.

    ``algorithm`` may be None where only one has a space. ``options`` are further arguments of the
    ``function`` in ``code``.
    """

    algorithm: str | None = None
    values: Mapping[str, Value] = field(default_factory=dict)
    code: str | None = None
    function: str | None = None


class Proposer(Options):
    """Proposes candidates for a set; subclasses add options."""

    use: str = Field(default_factory=str, description="the proposer")

    named_by: ClassVar[str] = "use"
    needs_space: ClassVar[bool] = True  # False: it can propose without any space

    @abstractmethod
    def propose(self, request: Request) -> list[Proposed]:
        """Candidates of one generation; any error is reported as a failure of this generation."""


def algorithms_in_turn(request: Request) -> list[str]:
    """The algorithm of each candidate: those that have a space take turns."""
    names = list(request.spaces)
    first = (request.generation - 1) * request.candidates
    return [names[(first + k) % len(names)] for k in range(request.candidates)]


def rng_of(request: Request) -> np.random.Generator:
    return np.random.default_rng(request.seed)
