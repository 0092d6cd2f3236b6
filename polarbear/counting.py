"""Compiled loops that rank values and count choice sets; `rankings` is their front."""

from __future__ import annotations

import numpy as np

from polarbear.compiling import inner, kernel

ABSENT = -1
MAX_EXACT_TIE = 12  # a wider tie has more than 4,095 terms and is subsampled
WIDE = -1.0  # the count that marks such a tie in a list of terms


@kernel
def rank_values(values, present, tolerance, positions):
    """Fill positions[instance, algorithm, time]; a value ties with the best of its block."""
    n_instances, n, n_times = values.shape
    order = np.empty(n, np.int64)
    for p in range(n_instances):
        for t in range(n_times):
            m = 0
            for a in range(n):
                if not present[p, a, t]:
                    positions[p, a, t] = ABSENT
                    continue
                k = m
                while k > 0 and values[p, order[k - 1], t] > values[p, a, t]:
                    order[k] = order[k - 1]
                    k -= 1
                order[k] = a
                m += 1
            position = -1
            first = 0.0
            for k in range(m):
                value = values[p, order[k], t]
                # the first comparison also holds for two infinities, whose difference is NaN
                if k == 0 or not (value == first or value - first <= tolerance):
                    position += 1
                    first = value
                positions[p, order[k], t] = position


@inner
def _exact_tie(items, k, rest, weight, masks, counts, m):
    """Terms of a tie averaged over its k! orderings: 1 / C(k, j) for each subset of size j."""
    for subset in range(1, 1 << k):
        mask = rest
        j = 0
        for a in range(k):
            if subset >> a & 1:
                mask |= np.int64(1) << items[a]
                j += 1
        if mask & (mask - 1) != 0:
            binomial = 1.0
            for a in range(j):
                binomial = binomial * (k - a) / (a + 1)
            masks[m] = mask
            counts[m] = weight / binomial
            m += 1
    return m


@inner
def _terms_of_ranking(place, weight, wins, masks, counts, items):
    """The terms of one ranking, place[n] with ABSENT; adds to wins, returns how many terms.

    A tie wider than MAX_EXACT_TIE gets two terms that are none, for `rankings` to replace: its
    items with count WIDE, then what is ranked below it.
    """
    n = len(place)
    remaining = np.int64(0)
    for a in range(n):
        if place[a] != ABSENT:
            remaining |= np.int64(1) << a
    m = 0
    position = 0
    while remaining & (remaining - 1) != 0:
        k = 0
        rest = remaining
        for a in range(n):
            if place[a] == position:
                items[k] = a
                k += 1
                rest &= ~(np.int64(1) << a)
        if k == 1:
            masks[m] = remaining
            counts[m] = weight
            m += 1
            wins[items[0]] += weight
        elif k > 1:
            won = weight if rest != 0 else weight * (1.0 - 1.0 / k)
            for a in range(k):
                wins[items[a]] += won
            if k <= MAX_EXACT_TIE:
                m = _exact_tie(items, k, rest, weight, masks, counts, m)
            else:
                masks[m], counts[m] = remaining ^ rest, WIDE
                masks[m + 1], counts[m + 1] = rest, weight
                m += 2
        remaining = rest
        position += 1
    return m


@kernel
def count_in_table(positions, weights, wins, rankings, table):
    """Add every ranking's terms to table[T, 2^n]: for n small enough that no tie is wide."""
    n_instances, n, n_times = positions.shape
    masks = np.empty(n + (1 << n), np.int64)
    counts = np.empty(n + (1 << n))
    items = np.empty(n, np.int64)
    for p in range(n_instances):
        for t in range(n_times):
            m = _terms_of_ranking(positions[p, :, t], weights[p], wins[t], masks, counts, items)
            rankings[t] += m > 0
            for j in range(m):
                table[t, masks[j]] += counts[j]


@kernel
def count_in_list(positions, weights, wins, rankings, times, masks, counts):
    """Append every ranking's terms to a list, which must be long enough for all of them."""
    n_instances, n, n_times = positions.shape
    items = np.empty(n, np.int64)
    total = 0
    for p in range(n_instances):
        for t in range(n_times):
            m = _terms_of_ranking(
                positions[p, :, t], weights[p], wins[t], masks[total:], counts[total:], items
            )
            rankings[t] += m > 0
            for j in range(total, total + m):
                times[j] = t
            total += m
    return total


@kernel
def bound_terms(positions):
    """An upper bound on the terms of each instance's rankings, to size the lists by."""
    n_instances, n, n_times = positions.shape
    bound = np.zeros(n_instances, np.int64)
    width = np.empty(n, np.int64)
    for p in range(n_instances):
        for t in range(n_times):
            for a in range(n):
                width[a] = 0
            for a in range(n):
                if positions[p, a, t] != ABSENT:
                    width[positions[p, a, t]] += 1
            for a in range(n):
                if width[a] > MAX_EXACT_TIE:
                    bound[p] += 2
                elif width[a] > 0:
                    bound[p] += (1 << width[a]) - 1
    return bound
