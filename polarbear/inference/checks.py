"""Checks of the evidence: refuses what no model can use, and notes what limits a posterior."""

from collections.abc import Sequence

import numpy as np

from polarbear.errors import InferenceError
from polarbear.rankings.ranking import Coverage
from polarbear.wording import counted, noun, short, small


def check(coverage: Coverage) -> None:
    """Refuse rankings that compare nothing."""
    if len(coverage.met) < 2:
        raise InferenceError(
            "only one algorithm is ranked: there is nothing to compare it with; "
            "add at least a second one"
        )
    if not coverage.rankings.any():
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
    coverage: Coverage,
    names: Sequence[str],
    problems: Sequence[str] | None,
    weights: np.ndarray | None,
    sampled_ties: int,
) -> tuple[str, ...]:
    """Sentences about limits of the data."""
    sentences = []
    if coverage.rankings.max() == 1:
        sentences.append(
            "only one instance was ranked: the posterior contains little beyond the prior, and "
            "nothing about differences between instances"
        )
    gaps = np.flatnonzero(coverage.rankings == 0)
    if len(gaps):
        sentences.append(
            f"{len(gaps)} of {counted(len(coverage.rankings), 'timepoint')} without rankings "
            f"(first: timepoint {gaps[0] + 1}): theta there comes from the prior and, in a "
            "temporal model, from neighbouring times"
        )
    sentences.extend(_overlap(coverage.met, names))
    if sampled_ties:
        sentences.append(
            f"{counted(sampled_ties, 'tie')} too wide for the closed form: counted through a "
            "subsample of the orderings"
        )
    if problems is not None and len(set(problems)) < len(problems):
        n_problems = counted(len(set(problems)), "problem")
        sentences.append(
            f"{len(problems)} rankings are of {n_problems} with several seeds: a problem counts "
            "once"
        )
    if weights is not None:
        sentences.append(
            f"instances have weights, from {short(weights.min())} to {short(weights.max())}: "
            f"{counted(len(weights), 'instance')} {noun(len(weights), 'counts', 'count')} as "
            f"{short(weights.sum())}"
        )
    return tuple(sentences)


def on_repetition(weight: float) -> tuple[str, ...]:
    """A sentence that rankings count for less than one each; none where they count in full."""
    if weight == 1:
        return ()
    return (
        "rankings of one instance at neighbouring times repeat each other: each is counted as "
        f"{small(weight)} of an independent one",
    )


def _overlap(compared: np.ndarray, names: Sequence[str]) -> list[str]:
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
