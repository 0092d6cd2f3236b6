"""Which sets of many algorithms count alike at a time, and which of them are whole rankings."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from polarbear.inference.loops.likelihood import SetSums


class Alike(NamedTuple):
    """Local numbers of sets at each time t: spans[t, 0] .. spans[t, 1] are what rankings of
    everybody without ties left over, n - 1 each, and count usual[t, 0] each; those from there to
    spans[t, 2] count usual[t, 1].

    Beyond that sets odd[k] count more[k], for k from odd_offsets[t] to odd_offsets[t + 1].
    """

    usual: np.ndarray
    spans: np.ndarray
    odd_offsets: np.ndarray
    odd: np.ndarray
    more: np.ndarray

    def at(self, times: slice) -> Alike:
        """The same of some times."""
        ends = slice(times.start, times.stop + 1)
        usual, spans, odd_offsets = self.usual[times], self.spans[times], self.odd_offsets[ends]
        return self._replace(usual=usual, spans=spans, odd_offsets=odd_offsets)


def alike_of(sets: SetSums) -> Alike:
    """Of sets that are told by what they grew from, with the prior counted in: the set of all comes
    first, then rankings of everybody without ties, and what counts nothing fills the last places.
    """
    n_times, n = sets.wins.shape
    offsets = sets.offsets.tolist()
    usual, spans = np.zeros((n_times, 2)), np.empty((n_times, 3), dtype=np.uint64)
    odd, more = [], []
    for t, (first, last) in enumerate(pairwise(offsets)):
        beyond = sets.counts[first:last].copy()
        end = int(np.flatnonzero(beyond)[-1]) + 1
        whole = _end_of_rankings(sets.left[first : first + end], beyond[:end], n - 1)
        for k, part in enumerate((beyond[n - 1 : whole], beyond[whole:end])):
            if len(part):
                usual[t, k] = part[0] if k == 0 else np.median(part)
                part -= usual[t, k]
        odd.append(np.flatnonzero(beyond))
        more.append(beyond[odd[-1]])
        spans[t] = n - 1, whole, end
    odd_offsets = np.cumsum([0, *map(len, odd)]).astype(np.uint64)
    every_odd = np.concatenate(odd).astype(np.uint64)
    return Alike(usual, spans, odd_offsets, every_odd, np.concatenate(more))


def _end_of_rankings(grown_from: np.ndarray, counts: np.ndarray, length: int) -> int:
    """Where rankings end that come first and count alike.

    If a later set grew from one of theirs, none are taken for whole: its sum would be missing.
    """
    place = np.arange(len(grown_from))
    single = grown_from > place
    grown = np.where(place % length == 0, single, grown_from == place - 1)
    misfits = np.flatnonzero(~grown[length:] | (counts[length:] != counts[length : length + 1]))
    sets = int(misfits[0]) if len(misfits) else len(place) - length
    end = length + sets // length * length
    return length if (grown_from[end:] < end).any() else end
