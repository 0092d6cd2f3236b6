"""Effective sample sizes and R-hat of series[chain * draw], by the definitions ArviZ follows.

Vehtari, Gelman, Simpson, Carpenter, Buerkner (2021): split chains, rank-normalised values, Geyer's
initial monotone sequence. Autocovariances are summed lag by lag: good chains need only a few.
"""

from __future__ import annotations

import math

import numpy as np

from polarbear.compiling import inner, kernel


@inner
def effective_size(x, chains):
    """Effective sample size of x, whose chains are cut in halves."""
    a_chain = len(x) // chains
    draws = a_chain // 2
    n_halves = 2 * chains
    starts, means = np.empty(n_halves, np.int64), np.empty(n_halves)
    lowest, highest = np.inf, -np.inf
    variance = 0.0
    for h in range(n_halves):
        # with an odd number of draws the middle one is left out
        starts[h] = (h // 2) * a_chain + (h % 2) * (a_chain - draws)
        total = 0.0
        for i in range(starts[h], starts[h] + draws):
            total += x[i]
            lowest = min(lowest, x[i])
            highest = max(highest, x[i])
        means[h] = total / draws
        total = 0.0
        for i in range(starts[h], starts[h] + draws):
            total += (x[i] - means[h]) ** 2
        variance += total / draws / n_halves
    size = n_halves * draws
    if highest - lowest < 1e-300:
        return float(size)
    within = variance * draws / (draws - 1.0)
    total_variance = variance + _variance(means)
    return size / max(
        _autocorrelation_time(x, starts, means, draws, within, total_variance),
        1.0 / math.log10(size),
    )


@inner
def _correlation(x, starts, means, draws, lag, within, total_variance):
    covariance = 0.0
    for h in range(len(starts)):
        total = 0.0
        first = starts[h]
        for i in range(first, first + draws - lag):
            total += (x[i] - means[h]) * (x[i + lag] - means[h])
        covariance += total / draws / len(starts)
    return 1.0 - (within - covariance) / total_variance


@inner
def _autocorrelation_time(x, starts, means, draws, within, total_variance):
    rho = np.zeros(draws + 2)
    t = np.int64(1)
    even, odd = 1.0, _correlation(x, starts, means, draws, t, within, total_variance)
    rho[0], rho[1] = even, odd
    while t < draws - 3 and even + odd > 0.0:
        even = _correlation(x, starts, means, draws, t + 1, within, total_variance)
        odd = _correlation(x, starts, means, draws, t + 2, within, total_variance)
        if even + odd >= 0.0:
            rho[t + 1], rho[t + 2] = even, odd
        t += 2
    last = t - 2
    if even > 0.0:
        rho[last + 1] = even
    t = 1
    while t <= last - 2:
        if rho[t + 1] + rho[t + 2] > rho[t - 1] + rho[t]:
            rho[t + 1] = rho[t + 2] = (rho[t - 1] + rho[t]) / 2.0
        t += 2
    time = rho[last + 1] - 1.0
    for k in range(last + 1):
        time += 2.0 * rho[k]
    return time


@inner
def _variance(x):
    centre = 0.0
    for i in range(len(x)):
        centre += x[i] / len(x)
    total = 0.0
    for i in range(len(x)):
        total += (x[i] - centre) ** 2
    return total / (len(x) - 1.0)


@inner
def split_r_hat(x, chains):
    """Potential scale reduction of x, whose chains are cut in halves."""
    a_chain = len(x) // chains
    draws = a_chain // 2
    n_halves = 2 * chains
    means = np.empty(n_halves)
    within = 0.0
    for h in range(n_halves):
        first = (h // 2) * a_chain + (h % 2) * (a_chain - draws)
        total = 0.0
        for i in range(first, first + draws):
            total += x[i]
        means[h] = total / draws
        total = 0.0
        for i in range(first, first + draws):
            total += (x[i] - means[h]) ** 2
        within += total / (draws - 1.0) / n_halves
    between = draws * _variance(means)
    if within <= 0.0:
        return 1.0 if between <= 0.0 else np.inf
    return math.sqrt((between / within + draws - 1.0) / draws)


@inner
def _rank_normal(values, order, quantiles, out):
    """Normal scores; order sorts the values, equal ones share the mean of their ranks.

    quantiles[a + b] is the score of the mean of ranks a and b, counted from zero.
    """
    size = len(values)
    first = 0
    while first < size:
        last = first
        while last + 1 < size and values[order[last + 1]] == values[order[first]]:
            last += 1
        for k in range(first, last + 1):
            out[order[k]] = quantiles[first + last]
        first = last + 1


@inner
def _fold_order(values, order, centre, folded, out):
    """Distances from the centre, and what sorts them: a merge of the two sides' orders."""
    size = len(values)
    for i in range(size):
        folded[i] = abs(values[i] - centre)
    above = 0
    while above < size and values[order[above]] < centre:
        above += 1
    below = above - 1
    for k in range(size):
        take_below = above >= size
        if not take_below and below >= 0:
            take_below = folded[order[below]] <= folded[order[above]]
        if take_below:
            out[k] = order[below]
            below -= 1
        else:
            out[k] = order[above]
            above += 1


@inner
def _sorted_quantile(values, order, level):
    place = level * (len(values) - 1)
    k = min(int(place), len(values) - 2)
    low, high = values[order[k]], values[order[k + 1]]
    return low + (place - k) * (high - low)


@kernel
def convergence(series, orders, quantiles, chains, out):
    """out[parameter] = (R-hat, bulk ESS, tail ESS) of each row of series, sorted by orders."""
    size = series.shape[1]
    scores, folded = np.empty(size), np.empty(size)
    fold_order = np.empty(size, np.int64)
    for m in range(series.shape[0]):
        x, order = series[m], orders[m]
        _rank_normal(x, order, quantiles, scores)
        r_hat = split_r_hat(scores, chains)
        out[m, 1] = effective_size(scores, chains)
        _fold_order(x, order, _sorted_quantile(x, order, 0.5), folded, fold_order)
        _rank_normal(folded, fold_order, quantiles, scores)
        out[m, 0] = max(r_hat, split_r_hat(scores, chains))
        tail = np.inf
        for level in (0.05, 0.95):
            bound = _sorted_quantile(x, order, level)
            for i in range(size):
                scores[i] = 1.0 if x[i] <= bound else 0.0
            tail = min(tail, effective_size(scores, chains))
        out[m, 2] = tail


@kernel
def shares(flags, chains, share, error):
    """The share of draws that each row of flags marks, and its Monte-Carlo error.

    The error is not zero even where all draws or none are marked.
    """
    size = flags.shape[1]
    for m in range(flags.shape[0]):
        total = 0.0
        for r in range(size):
            total += flags[m, r]
        share[m] = total / size
        smoothed = (total + 0.5) / (size + 1.0)
        effective = effective_size(flags[m], chains)
        error[m] = math.sqrt(smoothed * (1.0 - smoothed) / effective)
