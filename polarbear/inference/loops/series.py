"""R-hat and effective sample sizes of rows of draws, by the definitions ArviZ follows.

Vehtari, Gelman, Simpson, Carpenter, Buerkner (2021): split chains, rank-normalised values, Geyer's
initial monotone sequence. Autocovariances are summed lag by lag: good chains need only a few.
"""

from __future__ import annotations

import math

import numpy as np

from polarbear.numerics.bits import count_bits, float_to_bits
from polarbear.numerics.compiling import inlined, kernel

NONE, ONE = np.uint64(0), np.uint64(1)
WORD, HALF_WORD = 64, 32  # bits
LARGEST = np.iinfo(np.int64).max


@kernel
def half_words(values, place_bits, out):
    """Fill out with what nearly sorts each row: a number's first bits, then its place in the row.

    Bits that all numbers of a row have in common are left out.
    """
    size = values.shape[1]
    room = HALF_WORD - place_bits
    for m in range(values.shape[0]):
        low = high = _ordered(values[m, 0])
        for k in range(size):
            number = _ordered(values[m, k])
            low, high = min(low, number), max(high, number)
        shift = NONE
        while (np.uint64(high - low) >> shift) >> np.uint64(room):
            shift += ONE
        for k in range(size):
            first = np.uint64(_ordered(values[m, k]) - low) >> shift
            out[m, k] = (first << np.uint64(place_bits)) | np.uint64(k)


@inlined
def _ordered(x):
    """A whole number that is as large among its kind as x is among numbers."""
    bits = float_to_bits(x)
    return bits ^ ((bits >> 63) & LARGEST)


@kernel
def settle_orders(values, keys, places, out):
    """Fill out with what sorts each row, from keys that nearly do.

    A place stands in those bits of a key that are set in ``places``.
    """
    size = values.shape[1]
    for m in range(values.shape[0]):
        for k in range(size):
            at = np.int64(keys[m, k] & places)
            value = values[m, at]
            before = k
            while before > 0 and values[m, out[m, before - 1]] > value:
                out[m, before] = out[m, before - 1]
                before -= 1
            out[m, before] = at


@kernel
def folded_orders(values, orders, medians, folded, out):
    """Fill folded with distances from each row's median, and out with what sorts them.

    The values in their order lie on both sides of the median, nearer and nearer to it: two rows
    that are sorted already, and only have to be merged.
    """
    size = values.shape[1]
    for m in range(values.shape[0]):
        for i in range(size):
            folded[m, i] = abs(values[m, i] - medians[m])
        low, high = size // 2 - 1, size // 2
        for k in range(size):
            if high == size or (
                low >= 0 and folded[m, orders[m, low]] <= folded[m, orders[m, high]]
            ):
                out[m, k] = orders[m, low]
                low -= 1
            else:
                out[m, k] = orders[m, high]
                high += 1


@kernel
def normal_scores(values, orders, quantiles, out):
    """Normal scores of each row; orders sort the values, equal ones share their ranks' mean.

    quantiles[a + b] is the score of the mean of ranks a and b, counted from zero.
    """
    size = np.uint64(values.shape[1])
    for m in range(values.shape[0]):
        first = NONE  # of those that are equal to the last one looked at
        value = values[m, np.uint64(orders[m, NONE])]
        for k in range(size):
            at = np.uint64(orders[m, k])
            out[m, at] = quantiles[k + k]
            if values[m, at] != value:
                _share_ranks(orders[m], first, k, quantiles, out[m])
                first, value = k, values[m, at]
        _share_ranks(orders[m], first, size, quantiles, out[m])


@inlined
def _share_ranks(order, first, end, quantiles, out):
    if first + ONE < end:
        for k in range(first, end):
            out[np.uint64(order[k])] = quantiles[first + end - ONE]


@kernel
def mixing(rows, chains, sized, out):
    """out[row] = (R-hat, effective sample size) of rows[row, chain * draw], which it overwrites.

    The size is that of the first ``sized`` rows alone; of others it is left as it was. Chains are
    cut in halves; with an odd number of draws the middle one is left out.
    """
    a_chain = rows.shape[1] // chains
    draws = a_chain // 2
    halves = 2 * chains
    size = halves * draws
    for m in range(rows.shape[0]):
        x = rows[m]
        low = x[0]
        high = x[0]
        variance = 0.0
        mean_of_means = 0.0
        spread_of_means = 0.0
        for h in range(halves):
            first = (h // 2) * a_chain + (h % 2) * (a_chain - draws)
            mean = 0.0
            for i in range(first, first + draws):
                mean += x[i]
                low = min(low, x[i])
                high = max(high, x[i])
            mean /= draws
            for i in range(first, first + draws):
                x[i] -= mean
                variance += x[i] * x[i]
            change = mean - mean_of_means
            mean_of_means += change / (h + 1)
            spread_of_means += change * (mean - mean_of_means)
        if high - low < 1e-300:
            out[m, 0] = 1.0
            out[m, 1] = size
            continue
        within, total = _variances(variance / size, spread_of_means, halves, draws)
        out[m, 0] = math.sqrt(total / within) if within > 0.0 else math.inf
        if m >= sized:
            continue

        # pairs of autocorrelations, while their sums are positive, each no larger than the last
        lag = 1
        even = 1.0
        pair = 0.0
        smallest = math.inf
        time = -1.0
        while True:
            covariance = 0.0
            for h in range(halves):
                first = (h // 2) * a_chain + (h % 2) * (a_chain - draws)
                for i in range(first, first + draws - lag):
                    covariance += x[i] * x[i + lag]
            correlation = 1.0 - (within - covariance / size) / total
            if lag % 2 == 0:
                even = correlation
            else:
                pair = even + correlation
                if pair <= 0.0 or lag >= draws - 3:
                    break
                smallest = min(smallest, pair)
                time += 2.0 * smallest
            lag += 1
        out[m, 1] = _effective(size, time, even, pair)


@inlined
def _variances(variance, spread_of_means, halves, draws):
    """Within half-chains, and of all draws together."""
    return variance * draws / (draws - 1), variance + spread_of_means / (halves - 1)


@inlined
def _effective(size, time, even, pair):
    """The effective sample size, from the sums of pairs and the last of them."""
    if even > 0.0 or pair >= 0.0:
        time += even
    return size / max(time, 1.0 / math.log10(size))


@kernel
def flags_mixing(words, draws, out):
    """The effective sample size of rows of flags, words[row, half, word], ``draws`` bits a half.

    The same as that of zeros and ones by `mixing`, from counted bits alone.
    """
    n_rows, halves, n_words = words.shape
    size = halves * draws
    share, first, last = np.empty(halves), np.empty(halves), np.empty(halves)
    for m in range(n_rows):
        mean_of_means = 0.0
        spread_of_means = 0.0
        variance = 0.0
        for h in range(halves):
            count = NONE
            for w in range(n_words):
                count += count_bits(words[m, h, w])
            first[h] = last[h] = count  # of all draws but the last so many, and but the first
            mean = count / draws
            share[h] = mean
            variance += count * (1.0 - mean)
            change = mean - mean_of_means
            mean_of_means += change / (h + 1)
            spread_of_means += change * (mean - mean_of_means)
        if variance + spread_of_means == 0.0:
            out[m] = size
            continue
        within, total = _variances(variance / size, spread_of_means, halves, draws)
        lag = 1
        even = 1.0
        pair = 0.0
        smallest = math.inf
        time = -1.0
        while True:
            covariance = 0.0
            for h in range(halves):
                bits = words[m, h]
                first[h] -= _bit(bits, draws - lag)
                last[h] -= _bit(bits, lag - 1)
                both = _both(bits, lag)
                mean = share[h]
                covariance += both - mean * (first[h] + last[h]) + (draws - lag) * mean * mean
            correlation = 1.0 - (within - covariance / size) / total
            if lag % 2 == 0:
                even = correlation
            else:
                pair = even + correlation
                if pair <= 0.0 or lag >= draws - 3:
                    break
                smallest = min(smallest, pair)
                time += 2.0 * smallest
            lag += 1
        out[m] = _effective(size, time, even, pair)


@inlined
def _bit(bits, i):
    return (bits[i // WORD] >> np.uint64(i % WORD)) & ONE


@inlined
def _both(bits, lag):
    """How often a bit and the one ``lag`` after it are set; there are zeros after the last."""
    whole, part = lag // WORD, np.uint64(lag % WORD)
    count = NONE
    for w in range(len(bits) - whole):
        later = bits[w + whole] >> part
        if part > 0 and w + whole + 1 < len(bits):
            later |= bits[w + whole + 1] << (np.uint64(WORD) - part)
        count += count_bits(bits[w] & later)
    return count
