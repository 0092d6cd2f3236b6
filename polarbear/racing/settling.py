"""The settling rule: which relations of a pair are settled, by the resolution of a race.

A time is settled where a relation is shown there. Unless the resolution is strict, all times of a
pair are settled as soon as one of its two algorithms is better at some time and the other one is,
at some time, better or as good.

`decide` asks for pairs by the probabilities of a round, `forecast` for one pair in many simulated
futures.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from polarbear.racing.rules import Resolution
from polarbear.racing.state import ABOVE, ALIKE, BELOW, CROSSING, OPEN


class ShownRelations(NamedTuple):
    """Which relations of pairs (a, b) are shown: boolean arrays of one shape.

    That a is no worse than b means that it is better, or at most epsilon below even.
    """

    above: np.ndarray
    below: np.ndarray
    alike: np.ndarray
    a_no_worse: np.ndarray
    b_no_worse: np.ndarray

    def at_some_time(self) -> ShownRelations:
        """The relations that are shown at some time; time is the last axis."""
        return ShownRelations(*(np.asarray(relation.any(axis=-1)) for relation in self))

    def united(self, other: ShownRelations) -> ShownRelations:
        """The relations that are shown by these or by the other ones."""
        return ShownRelations(*(a | b for a, b in zip(self, other, strict=True)))


def settled_relations(
    resolution: Resolution, relations: ShownRelations, earlier: ShownRelations | None = None
) -> np.ndarray:
    """The code of each pair at each time, OPEN where it is not settled: int8[..., time].

    ``relations`` are those of one round; their last axis is time. ``earlier`` are those that
    earlier rounds have shown at some time, without that axis: they count, too, where times of a
    pair settle its other times.
    """
    codes = np.full(relations.above.shape, OPEN, dtype=np.int8)
    codes[relations.alike] = ALIKE
    codes[relations.above] = ABOVE  # dominance comes before equivalence
    codes[relations.below] = BELOW
    at_some_time = relations.at_some_time()
    if earlier is not None:
        at_some_time = at_some_time.united(earlier)
    is_whole = _are_settled_as_a_whole(resolution, at_some_time)
    codes[(codes == OPEN) & is_whole[..., np.newaxis]] = CROSSING
    return codes


def _are_settled_as_a_whole(resolution: Resolution, at_some_time: ShownRelations) -> np.ndarray:
    """Whether times at which nothing is shown are settled by the other times of their pair."""
    above, below, alike, a_no_worse, b_no_worse = at_some_time
    if resolution == "strict":
        return np.zeros_like(above)
    if resolution == "crossing":
        a_as_good = above | alike
        b_as_good = below | alike
    else:
        a_as_good = a_no_worse
        b_as_good = b_no_worse
    return np.asarray((above & b_as_good) | (below & a_as_good))
