"""Who is rated above whom in each draw, in bits: a draw, a pair and a relation make one."""

from __future__ import annotations

import numpy as np

from polarbear.numerics.compiling import kernel

NONE, ONE, WORD = np.uint64(0), np.uint64(1), np.uint64(64)


@kernel
def compare_ratings(draws, ratio, chains, words, counts):
    """Compare all pairs a < b of draws[T, n, chain * draw].

    Fills words[T, relation, pair, half, word], as `series.flags_mixing` takes them, and
    counts[T, relation, pair] of all draws. Relations are: a is above b; they are alike, neither
    being above ``ratio`` times the other; b is not above it; a is not; a is below b, which is
    counted alone.
    """
    n_times, n, size = draws.shape
    a_chain = size // chains
    half = a_chain // 2
    n_words = words.shape[4]
    for t in range(n_times):
        pair = 0
        for a in range(n):
            for b in range(a + 1, n):
                one, two = draws[t, a], draws[t, b]
                above = below = alike = first_is = second_is = 0
                for k in range(size):
                    lower, higher = two[k] <= ratio * one[k], one[k] <= ratio * two[k]
                    above += one[k] > two[k]
                    below += one[k] < two[k]
                    alike += lower & higher
                    first_is += lower
                    second_is += higher
                counts[t, 0, pair], counts[t, 1, pair] = above, alike
                counts[t, 2, pair], counts[t, 3, pair] = first_is, second_is
                counts[t, 4, pair] = below
                for h in range(2 * chains):
                    begin = np.uint64((h // 2) * a_chain + (h % 2) * (a_chain - half))
                    for w in range(n_words):
                        at = begin + np.uint64(w) * WORD
                        bits = min(WORD, np.uint64(half) - np.uint64(w) * WORD)
                        is_above = is_lower = is_higher = NONE
                        for k in range(bits):
                            x, y = one[at + k], two[at + k]
                            is_above |= np.uint64(x > y) << k
                            is_lower |= np.uint64(y <= ratio * x) << k
                            is_higher |= np.uint64(x <= ratio * y) << k
                        words[t, 0, pair, h, w] = is_above
                        words[t, 1, pair, h, w] = is_lower & is_higher
                        words[t, 2, pair, h, w] = is_lower
                        words[t, 3, pair, h, w] = is_higher
                pair += 1
