"""Compiled loops that rank values and count choice sets; `rankings` is their front."""

from __future__ import annotations

import numpy as np

from polarbear.compiling import kernel

ABSENT = -1
MAX_EXACT_TIE = 12  # a wider tie has more than 4,095 terms and is subsampled
LATIN_SQUARES = 4  # how many, of the tie's own width, a subsample consists of


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


@kernel
def most_terms(n):
    """An upper bound on the terms one ranking of n contributes."""
    return n + (1 << min(n, MAX_EXACT_TIE)) + LATIN_SQUARES * n * n


@kernel
def _next_random(state):
    """One step of a counter-based mixer: 31 random bits, a function of the state alone."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    z = state[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.int64((z ^ (z >> np.uint64(31))) >> np.uint64(33))


@kernel
def _sampled_tie(items, k, rest, seed, masks, counts, m):
    """Terms of a wide tie over random Latin squares of orderings.

    Rotating each random ordering through all its shifts puts every item equally often in every
    place, so that the subsample favours nobody; and the same tie always gets the same orderings,
    so that counts of separate piles of rankings add up.
    """
    state = np.empty(1, np.uint64)
    block = np.int64(0)
    for a in range(k):
        block |= np.int64(1) << items[a]
    state[0] = np.uint64(seed) ^ (np.uint64(block) * np.uint64(0xD1342543DE82EF95))
    state[0] ^= np.uint64(rest) * np.uint64(0xAF251AF3B0F025B5)
    shuffled = items[:k].copy()
    weight = 1.0 / (LATIN_SQUARES * k)
    for _ in range(LATIN_SQUARES):
        for a in range(k - 1, 0, -1):
            b = _next_random(state) % (a + 1)
            shuffled[a], shuffled[b] = shuffled[b], shuffled[a]
        for shift in range(k):
            remaining = block | rest
            for a in range(k):
                if remaining & (remaining - 1) != 0:
                    masks[m] = remaining
                    counts[m] = weight
                    m += 1
                remaining &= ~(np.int64(1) << shuffled[(a + shift) % k])
    return m


@kernel
def _exact_tie(items, k, rest, masks, counts, m):
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
            counts[m] = 1.0 / binomial
            m += 1
    return m


@kernel
def terms_of_ranking(place, weight, seed, wins, masks, counts, items):
    """The terms of one ranking, place[n] with ABSENT; adds to wins, returns (terms, sampled)."""
    n = len(place)
    remaining = np.int64(0)
    for a in range(n):
        if place[a] != ABSENT:
            remaining |= np.int64(1) << a
    m = 0
    sampled = 0
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
            counts[m] = 1.0
            m += 1
            wins[items[0]] += weight
        elif k > 1:
            won = weight if rest != 0 else weight * (1.0 - 1.0 / k)
            for a in range(k):
                wins[items[a]] += won
            if k <= MAX_EXACT_TIE:
                m = _exact_tie(items, k, rest, masks, counts, m)
            else:
                m = _sampled_tie(items, k, rest, seed, masks, counts, m)
                sampled += 1
        remaining = rest
        position += 1
    for j in range(m):
        counts[j] *= weight
    return m, sampled


@kernel
def count_in_table(positions, weights, wins, rankings, table):
    """Add every ranking's terms to table[T, 2^n]: for n small enough that no tie is sampled."""
    n_instances, n, n_times = positions.shape
    masks = np.empty(most_terms(n), np.int64)
    counts = np.empty(most_terms(n))
    items = np.empty(n, np.int64)
    for p in range(n_instances):
        for t in range(n_times):
            place = positions[p, :, t]
            m, _ = terms_of_ranking(place, weights[p], 0, wins[t], masks, counts, items)
            rankings[t] += m > 0
            for j in range(m):
                table[t, masks[j]] += counts[j]


@kernel
def count_in_list(positions, weights, seed, wins, rankings, times, masks, counts):
    """Append every ranking's terms to a list, which must be long enough for all of them."""
    n_instances, n, n_times = positions.shape
    items = np.empty(n, np.int64)
    total = 0
    sampled = 0
    for p in range(n_instances):
        for t in range(n_times):
            place = positions[p, :, t]
            m, wide = terms_of_ranking(
                place, weights[p], seed, wins[t], masks[total:], counts[total:], items
            )
            rankings[t] += m > 0
            times[total : total + m] = t
            total += m
            sampled += wide
    return total, sampled


@kernel
def bound_terms(positions):
    """An upper bound on the terms of each instance's rankings, to size the lists by."""
    n_instances, n, n_times = positions.shape
    bound = np.zeros(n_instances, np.int64)
    width = np.empty(n, np.int64)
    for p in range(n_instances):
        for t in range(n_times):
            width[:] = 0
            for a in range(n):
                if positions[p, a, t] != ABSENT:
                    width[positions[p, a, t]] += 1
            for k in width:
                if k > MAX_EXACT_TIE:
                    bound[p] += LATIN_SQUARES * k * k
                elif k > 0:
                    bound[p] += (1 << k) - 1
    return bound
