"""Proposals that were made before: those of another store, or of a file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import ClassVar

from pydantic import Field

from polarbear.errors import ConfigError
from polarbear.proposers.base import Proposed, Proposer, Request
from polarbear.proposers.user_proposers import proposals_of
from polarbear.store import StoreOnDisk


class Replay(Proposer):
    """Candidates of a file, in their order, or the generations of another store."""

    source: str = Field(
        description="a store, or a file with a list of candidates in JSON; beside the configuration"
    )

    needs_space: ClassVar[bool] = False

    def propose(self, request: Request) -> list[Proposed]:
        path = Path(request.folder) / self.source
        if path.is_dir():
            return _of_store(path, request.generation)
        try:
            answer = json.loads(path.read_text(encoding="utf-8"))
        except OSError as error:
            raise ConfigError(f"cannot read {path}: {error.strerror}") from None
        except ValueError:
            raise ConfigError(f"{path} is not JSON") from None
        first = (request.generation - 1) * request.candidates
        return proposals_of(answer)[first : first + request.candidates]


def _of_store(path: Path, generation: int) -> list[Proposed]:
    generations = StoreOnDisk.open(path).generations
    if generation not in generations.numbers():
        return []
    return [
        Proposed(
            algorithm=proposal.algorithm,
            values=proposal.values,
            code=proposal.code,
            function=_function_of(proposal.entry),
        )
        for proposal in generations.read(generation).proposals
    ]


def _function_of(entry: dict[str, object]) -> str | None:
    reference = entry.get("function")
    return None if reference is None else str(reference).rpartition(":")[2]
