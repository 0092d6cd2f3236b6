"""Checks of the evidence: refuses what no model can use, and notes what limits a posterior."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from polarbear.errors import InferenceError
from polarbear.rankings import ABSENT
from polarbear.wording import counted, noun, short, small

if TYPE_CHECKING:
    from polarbear.rankings.choice_sets import ChoiceSets


@dataclass(frozen=True)
class Coverage:
    """The algorithms that rankings compare; `ChoiceSets` has the same facts.

    ``rankings[T]`` is the number of rankings of two or more algorithms, ``met[n, n]`` says which
    pairs occur in one ranking.
    """

    rankings: np.ndarray
    met: np.ndarray
    sampled_ties: int = 0  # duels count all ties

    @property
    def n_algorithms(self) -> int:
        return len(self.met)

    @property
    def n_times(self) -> int:
        return len(self.rankings)

    @classmethod
    def of(cls, positions: np.ndarray) -> Coverage:
        present = positions != ABSENT
        compared = present.sum(axis=1) > 1
        rows = present.swapaxes(1, 2).reshape(-1, present.shape[1]).astype(np.float32)
        return cls(compared.sum(axis=0), rows.T @ rows > 0)


def check(sets: ChoiceSets | Coverage) -> None:
    """Refuse rankings that compare nothing."""
    if sets.n_algorithms < 2:
        raise InferenceError(
            "only one algorithm is ranked: there is nothing to compare it with; "
            "add at least a second one"
        )
    if not sets.rankings.any():
        raise InferenceError(
            "no ranking has two algorithms in it: run at least two on the same instances"
        )


def check_positions(
    positions: np.ndarray | None, n: int | None, n_times: int, model: str
) -> np.ndarray:
    """The positions as an array; an error where they are missing or have another shape."""
    algorithms = "algorithm" if n is None else f"{n} algorithms"
    expected = f"positions[instance, {algorithms}, {n_times} times]"
    if positions is None:
        raise InferenceError(
            f"the {model} model needs the {expected} that the choice sets were counted from, to "
            "measure how far rankings of one instance repeat each other over time; give them, or "
            "set dependence='independent' to count every ranking in full"
        )
    positions = np.asarray(positions)
    shape = positions.shape
    if len(shape) != 3 or shape[2] != n_times or n not in (None, shape[1]):
        raise InferenceError(f"expected {expected}, found an array of shape {shape}")
    return positions


def notes(
    sets: ChoiceSets | Coverage,
    names: Sequence[str] | None = None,
    problems: Sequence[str] | None = None,
    weights: np.ndarray | None = None,
) -> tuple[str, ...]:
    """Sentences on limits of the data; without names, algorithms are numbered."""
    names = names or [f"algorithm {i + 1}" for i in range(sets.n_algorithms)]
    found = []
    if sets.rankings.max() == 1:
        found.append(
            "only one instance was ranked: the posterior contains little beyond the prior, and "
            "nothing about differences between instances"
        )
    gaps = np.flatnonzero(sets.rankings == 0)
    if len(gaps):
        found.append(
            f"{len(gaps)} of {counted(sets.n_times, 'timepoint')} without rankings (first: "
            f"timepoint {gaps[0] + 1}): theta there comes from the prior and, in a temporal model, "
            "from neighbouring times"
        )
    found.extend(_overlap(sets, names))
    if sets.sampled_ties:
        found.append(
            f"{counted(sets.sampled_ties, 'tie')} too wide for the closed form: counted through a "
            "subsample of the orderings"
        )
    if problems is not None and len(set(problems)) < len(problems):
        several = counted(len(set(problems)), "problem")
        found.append(
            f"{len(problems)} rankings are of {several} with several seeds: a problem counts once"
        )
    if weights is not None:
        found.append(
            f"instances have weights, from {short(weights.min())} to {short(weights.max())}: "
            f"{counted(len(weights), 'instance')} {noun(len(weights), 'counts', 'count')} as "
            f"{short(weights.sum())}"
        )
    return tuple(found)


def on_repetition(weight: float) -> tuple[str, ...]:
    """A sentence on evidence that counts for less than its face value."""
    if weight == 1:
        return ()
    return (
        "rankings of one instance at neighbouring times repeat each other: each is counted as "
        f"{small(weight)} of an independent one",
    )


def _overlap(sets: ChoiceSets | Coverage, names: Sequence[str]) -> list[str]:
    compared = sets.met
    groups = _connected(compared)
    if len(groups) > 1:
        apart = " | ".join(", ".join(names[i] for i in group) for group in groups)
        return [
            f"no ranking connects these groups of algorithms: {apart}; comparisons across groups "
            "come from the prior alone"
        ]
    if not compared.all():
        a, b = np.argwhere(~compared)[0]
        pairs = counted(int((~compared).sum()) // 2, "pair")
        return [
            f"{pairs} of algorithms never ranked together, compared through others only (first: "
            f"{names[a]} and {names[b]})"
        ]
    return []


def _connected(compared: np.ndarray) -> list[list[int]]:
    """Groups of algorithms that are connected by comparisons."""
    reached = compared
    for _ in range(len(compared).bit_length()):
        reached = (reached.astype(np.int64) @ reached) > 0
    return [
        list(group)
        for group in dict.fromkeys(tuple(np.flatnonzero(row).tolist()) for row in reached)
    ]
