"""Asks a proposer, and makes entries of a configuration of what it answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from polarbear.algorithms import ADAPTERS, Algorithm
from polarbear.config.design_spaces import DesignSpace
from polarbear.errors import ConfigError, PolarBearError
from polarbear.proposers import PROPOSERS
from polarbear.proposers.base import Proposed, Proposer, Request
from polarbear.settings.options import Source, unknown, validate
from polarbear.store.generations import StoredGeneration, StoredProposal

CODE_FOLDER = "design-code"  # beside the configuration, with the code that proposers write
CANDIDATE = "candidate"  # begins the name of a program
MAX_FAILURE_LENGTH = 500  # characters of a message that is stored


def proposer_of(propose: str | Mapping[str, Any], spaces: Mapping[str, DesignSpace]) -> Proposer:
    """The proposer that a configuration names; a ConfigError says why it cannot be used."""
    options = {"use": propose} if isinstance(propose, str) else dict(propose)
    source = Source("design.propose")
    if "use" not in options:
        raise source.error((), f"the key 'use' is missing; it is one of: {', '.join(PROPOSERS)}")
    name = options["use"]
    if not isinstance(name, str) or name not in PROPOSERS:
        raise source.error((), PROPOSERS.refusal(str(name)))
    proposer = validate(PROPOSERS[name], options, source)
    if proposer.needs_space and not spaces:
        raise ConfigError(
            f"the proposer '{name}' draws from spaces, but no algorithm has one: add 'space' to an "
            "algorithm"
        )
    return proposer


def ask(proposer: Proposer, request: Request) -> StoredGeneration:
    """The proposals of one generation, or why there are none."""
    generation = StoredGeneration(request.generation, proposer.use)
    try:
        answer = proposer.propose(request)
    except Exception as error:  # a proposer of a user may raise anything
        kind = "" if isinstance(error, PolarBearError) else f"{type(error).__name__}: "
        return replace(generation, failure=f"{kind}{error}"[:MAX_FAILURE_LENGTH])
    if not answer:
        return replace(generation, failure="it proposed nothing")
    proposals: list[StoredProposal] = []
    for number, proposed in enumerate(answer, 1):
        proposals.append(_stored(proposed, f"{request.generation}.{number}", request, proposals))
    return replace(generation, proposals=proposals)


def _stored(
    proposed: Proposed, number: str, request: Request, others: Sequence[StoredProposal]
) -> StoredProposal:
    """A proposal with its name and its entry of a configuration, or with its flaw."""
    if proposed.code is not None:
        return _program(proposed, number)
    algorithm = proposed.algorithm
    if algorithm is None and len(request.spaces) == 1:
        algorithm = next(iter(request.spaces))
    stored = StoredProposal(
        name=f"{algorithm or CANDIDATE} {number}",
        algorithm=algorithm,
        values=dict(proposed.values),
    )
    try:
        if algorithm is None:
            raise ValueError("several algorithms have a space: name one as 'algorithm'")
        if algorithm not in request.spaces:
            raise ValueError(unknown("algorithm with a space", algorithm, request.spaces))
        design_space = request.spaces[algorithm]
        values = design_space.space.checked(proposed.values)
        entry = entry_of(design_space.configured(stored.name, values))
    except (ValueError, ConfigError) as error:
        return replace(stored, flaw=str(error)[:MAX_FAILURE_LENGTH])
    stored = replace(stored, values=values, entry=entry)
    is_repeated = any(
        other.algorithm == algorithm and other.values == values and not other.flaw
        for other in others
    )
    if is_repeated or not request.is_new(algorithm, values):
        return replace(stored, flaw="these values were tried before")
    return stored


def _program(proposed: Proposed, number: str) -> StoredProposal:
    """A function in code; its file is named after the candidate."""
    name = f"{CANDIDATE} {number}"
    function = proposed.function or "optimise"
    file = f"{CODE_FOLDER}/candidate_{number.replace('.', '_')}.py"
    entry: dict[str, Any] = {"name": name, "use": "python", "function": f"{file}:{function}"}
    if proposed.values:
        entry["options"] = dict(proposed.values)
    flaw = "" if function.isidentifier() else f"'{function}' is not the name of a function"
    return StoredProposal(
        name=name, values=dict(proposed.values), entry=entry, code=proposed.code, flaw=flaw
    )


def entry_of(algorithm: Algorithm) -> dict[str, Any]:
    """An algorithm as an entry of a configuration has it."""
    plain = algorithm.model_dump(mode="json", by_alias=True, exclude_unset=True)
    return {key: value for key, value in plain.items() if value is not None}


def algorithm_of(proposal: StoredProposal) -> Algorithm:
    """The algorithm of a proposal, as its entry describes it."""
    source = Source(f"'{proposal.name}'")
    algorithm: Algorithm = validate(ADAPTERS[proposal.entry["use"]], proposal.entry, source)
    # An entry that was renamed in the store keeps its options.
    return algorithm.model_copy(update={"name": proposal.name})


def write_code(proposal: StoredProposal, folder: str) -> None:
    """Write the code of a proposal to the file that its entry names."""
    if proposal.code is None:
        return
    path = Path(folder) / proposal.entry["function"].rpartition(":")[0]
    if not path.exists() or path.read_text(encoding="utf-8") != proposal.code:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(proposal.code, encoding="utf-8")
