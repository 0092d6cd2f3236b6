"""The generations of a design: what was proposed, and what became of it, one file each.

Proposals are stored before they are judged. A generation that is complete never changes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from polarbear.store.catalog import Catalog, File, json_file
from polarbear.store.manifest import NUMBER
from polarbear.store.rounds import numbers_in

FOLDER = "design"
GENERATION = rf"{FOLDER}/generation-({NUMBER})\.json"


@dataclass(frozen=True)
class StoredProposal:
    """A configuration or a program that was proposed.

    ``entry`` is that of a configuration's algorithms. ``algorithm`` is the algorithm whose space
    has the ``values``, None for a program. ``code`` is written to the file that the entry names.
    ``flaw`` is the reason why it cannot be judged.
    """

    name: str
    algorithm: str | None = None
    values: dict[str, Any] = field(default_factory=dict)
    entry: dict[str, Any] = field(default_factory=dict)
    code: str | None = None
    flaw: str = ""


@dataclass(frozen=True)
class StoredVerdict:
    """What became of a proposal: verdict, score and text of its judgement, and its cost."""

    name: str
    verdict: str
    score: float
    text: str
    problems: int
    evaluations: int


@dataclass(frozen=True)
class StoredGeneration:
    """A generation; the first one, with number 0, is the set that the search began with.

    ``failure`` says why the proposer gave nothing. ``dropped`` left the set because it was full,
    the one that is missed least first. The first one also has the ``spaces`` of algorithms, as
    proposers receive them, and as its proposals the configurations that were given.
    """

    generation: int
    proposer: str
    proposals: list[StoredProposal] = field(default_factory=list)
    verdicts: list[StoredVerdict] = field(default_factory=list)
    members: list[str] = field(default_factory=list)
    dropped: list[str] = field(default_factory=list)
    is_complete: bool = False
    failure: str = ""
    spaces: dict[str, Any] = field(default_factory=dict)

    def renamed(self, old: str, new: str) -> StoredGeneration:
        """The same generation with a new name for an algorithm."""

        def name_of(name: str) -> str:
            return new if name == old else name

        return replace(
            self,
            proposals=[
                replace(
                    proposal,
                    name=name_of(proposal.name),
                    algorithm=None if proposal.algorithm is None else name_of(proposal.algorithm),
                )
                for proposal in self.proposals
            ],
            verdicts=[replace(verdict, name=name_of(verdict.name)) for verdict in self.verdicts],
            members=[name_of(name) for name in self.members],
            dropped=[name_of(name) for name in self.dropped],
        )

    def file(self) -> File:
        return json_file(_name(self.generation), asdict(self))


class Generations:
    """The folder ``design/`` of a store, which exists once a design has begun."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog

    def numbers(self) -> list[int]:
        """The numbers of the stored generations, in order."""
        return numbers_in(self._catalog.names(f"{FOLDER}/"), GENERATION)

    def name(self, number: int) -> str:
        """The file of a generation."""
        return _name(number)

    def read(self, number: int) -> StoredGeneration:
        return self._catalog.read_record(_name(number), StoredGeneration)

    def all(self) -> Iterator[StoredGeneration]:
        """All generations, in order."""
        for number in self.numbers():
            yield self.read(number)

    def store(self, generation: StoredGeneration) -> None:
        """Store a generation; an incomplete one of the same number is replaced."""
        self._catalog.commit([generation.file()])


def _name(number: int) -> str:
    return f"{FOLDER}/generation-{number:04}.json"
