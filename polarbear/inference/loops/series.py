"""R-hat and effective sample sizes of rows of draws, by the definitions ArviZ follows.

Vehtari, Gelman, Simpson, Carpenter, Buerkner (2021): split chains, rank-normalised values, Geyer's
initial monotone sequence. Autocovariances are summed lag by lag: good chains need only a few.
"""

from __future__ import annotations

import math

from polarbear.numerics.compiling import kernel


@kernel
def normal_scores(values, orders, quantiles, out):
    """Normal scores of each row; orders sort the values, equal ones share their ranks' mean.

    quantiles[a + b] is the score of the mean of ranks a and b, counted from zero.
    """
    size = values.shape[1]
    for m in range(values.shape[0]):
        first = 0
        while first < size:
            last = first
            value = values[m, orders[m, first]]
            while last + 1 < size and values[m, orders[m, last + 1]] == value:
                last += 1
            for k in range(first, last + 1):
                out[m, orders[m, k]] = quantiles[first + last]
            first = last + 1


@kernel
def mixing(rows, chains, out):
    """out[row] = (R-hat, effective sample size) of rows[row, chain * draw], which it overwrites.

    Chains are cut in halves; with an odd number of draws the middle one is left out.
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
        variance /= size
        between = spread_of_means / (halves - 1)
        within = variance * draws / (draws - 1)
        total = variance + between
        out[m, 0] = math.sqrt(total / within) if within > 0.0 else math.inf

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
        if even > 0.0 or pair >= 0.0:
            time += even
        out[m, 1] = size / max(time, 1.0 / math.log10(size))
