"""The least that a race can cost: the cost of a rule that knows the true win probabilities.

A rule that tells two hypotheses apart with at most a share d of errors on either side needs, on
average, at least kl(d, 1 - d) / D instances, D being the information that one instance gives
against the nearest truth in which the decision would be wrong (Wald 1945; Kaufmann, Cappe and
Garivier 2016). Here d = 1 - alpha, and an instance is one duel at a time:

- 'a beats b at t' could be wrong if a won as often as b: with shares w, l of wins and losses,
  D = w log(2w / (w + l)) + l log(2l / (w + l)); ties carry nothing;
- 'a and b are alike at t' could be wrong if a won 0.5 + epsilon of the duels, or 0.5 - epsilon;
- 'a is as good as b at least' could be wrong if a won 0.5 - epsilon of them.

An eliminated algorithm must be shown to be worse at every time, than the algorithm for which that
is cheapest. Of two members one must be shown to be better at some time, and the other to be as good
at least at some time, where that is cheapest; under crossing resolution they must be shown to cross
(or to be alike) at some time, under strict resolution to have some relation at every time. Runs end
where nothing is left to be shown, each algorithm pays only for the dearest of its pairs, and
instances need not come in batches. So no rule that judges each time by the duels at that time, with
errors below d on either side of each decision, can do with less on average. A rule that knows how
smooth curves are, or a rule whose errors are d only on average over truths, sometimes can.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np


@dataclass(frozen=True)
class Duels:
    """Shares of instances on which a beats b in truth: won[time, a, b]; the rest are ties."""

    won: np.ndarray

    @property
    def better(self) -> np.ndarray:
        """Whether a beats b at every time: bool[a, b]."""
        return np.asarray((self.won > self.won.swapaxes(1, 2)).all(axis=0))

    @property
    def pareto(self) -> list[int]:
        return [int(i) for i in np.flatnonzero(~self.better.any(axis=0))]


def duels_in(values: np.ndarray) -> Duels:
    """The duels of a whole population, values[instance, algorithm, time]."""
    n, n_times = values.shape[1:]
    won = np.zeros((n_times, n, n))
    for a in range(n):
        for b in range(n):
            won[:, a, b] = (values[:, a] < values[:, b]).mean(axis=0)
    return Duels(won)


def needed(alpha: float) -> float:
    """kl(d, 1 - d), the information that a decision takes."""
    return float((2 * alpha - 1) * np.log(alpha / (1 - alpha)))


def _information(p: np.ndarray, q: np.ndarray | float) -> np.ndarray:
    """Relative entropy of a coin p against a coin q."""
    with np.errstate(divide="ignore", invalid="ignore"):
        of_heads = np.where(p > 0, p * np.log(p / q), 0.0)
        of_tails = np.where(p < 1, (1 - p) * np.log((1 - p) / (1 - np.asarray(q))), 0.0)
    return np.asarray(of_heads + of_tails)


def to_show_better(duels: Duels, alpha: float) -> np.ndarray:
    """Instances it takes to show that a beats b at t, infinite where it does not: [time, a, b]."""
    won = duels.won
    lost = duels.won.swapaxes(1, 2)
    decided = won + lost
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(decided > 0, won / decided, 0.5)
        instances = needed(alpha) / (decided * _information(share, 0.5))
    return np.where(won > lost, instances, np.inf)


def to_show_alike(duels: Duels, alpha: float, epsilon: float) -> np.ndarray:
    """Instances it takes to show that a and b are alike at t, infinite where they are not."""
    share = duels.won + (1 - duels.won - duels.won.swapaxes(1, 2)) / 2
    nearest = np.minimum(_information(share, 0.5 + epsilon), _information(share, 0.5 - epsilon))
    with np.errstate(divide="ignore"):
        return np.where(np.abs(share - 0.5) < epsilon, needed(alpha) / nearest, np.inf)


def to_show_as_good(duels: Duels, alpha: float, epsilon: float) -> np.ndarray:
    """Instances it takes to show that a is as good as b at least, infinite where it is not."""
    share = duels.won + (1 - duels.won - duels.won.swapaxes(1, 2)) / 2
    with np.errstate(divide="ignore"):
        instances = needed(alpha) / _information(share, 0.5 - epsilon)
    return np.where(share > 0.5 - epsilon, instances, np.inf)


def spent_on(instances: np.ndarray, cost: np.ndarray) -> float:
    """The cost of one algorithm's runs if time t is needed on instances[t] instances.

    The k-th run goes up to the last time that is still needed on k instances.
    """
    most = np.maximum.accumulate(instances[::-1])[::-1]  # needed at t or later
    longest = np.diff(np.concatenate([[0.0], cost]))
    return float((most * longest).sum())


def _for_all_times(
    ways: Sequence[tuple[np.ndarray, np.ndarray]], cost: np.ndarray
) -> tuple[float, float]:
    """The cheapest pair of times that settles a pair: instances, and one algorithm's cost.

    Each way is a pair of relations to be shown, each at one time: instances[time].
    """
    best = (np.inf, np.inf)
    for first_relation, second_relation in ways:
        # Axis 0 is the time at which the first relation is shown, axis 1 that of the second.
        first = first_relation[:, None]
        second = second_relation[None, :]
        n_both = np.minimum(first, second)
        n_instances = np.maximum(first, second)
        cost_of_both = np.maximum(cost[:, None], cost[None, :])
        cost_of_longer = np.where(first >= second, cost[:, None], cost[None, :])
        finite = np.isfinite(n_instances)
        if finite.any():
            n_single = np.where(finite, n_instances - np.where(finite, n_both, 0), 0)
            spent = n_both * cost_of_both + n_single * cost_of_longer
            spent = np.where(finite, spent, np.inf)
            cheapest = int(spent.argmin())
            best = min(best, (float(spent.flat[cheapest]), float(n_instances.flat[cheapest])))
    return best[1], best[0]


@dataclass(frozen=True)
class Bound:
    """The instances that the hardest decision takes, and the least cost of all runs together."""

    instances: float
    spent: float
    pareto: tuple[int, ...]


def bound(
    duels: Duels, cost: np.ndarray, alpha: float, epsilon: float, resolution: str = "membership"
) -> Bound:
    """The least that a race to the truth's Pareto set takes; infinite where a pair is exactly even.

    ``cost[time]`` is what a run up to that time costs.
    """
    better = to_show_better(duels, alpha)
    alike = to_show_alike(duels, alpha, epsilon)
    as_good = to_show_as_good(duels, alpha, epsilon)
    members = duels.pareto
    n = duels.won.shape[1]
    beaten = duels.better
    out = {
        a: [
            (better[:, b, a].max(), spent_on(better[:, b, a], cost))
            for b in range(n)
            if beaten[b, a]
        ]
        for a in range(n)
        if a not in members
    }
    # The instances and the cost of the dearest pair of each algorithm.
    dearest = {a: min(prices, key=_cost_of) for a, prices in out.items()}
    for a, b in combinations(members, 2):
        a_better = better[:, a, b]
        b_better = better[:, b, a]
        is_alike = alike[:, a, b]
        if resolution == "strict":
            least = np.minimum(np.minimum(a_better, b_better), is_alike)
            price = (float(least.max()), spent_on(least, cost))
        elif resolution == "crossing":
            ways = [(a_better, b_better), (a_better, is_alike), (b_better, is_alike)]
            price = _for_all_times(ways, cost)
        else:
            ways = [(a_better, as_good[:, b, a]), (b_better, as_good[:, a, b])]
            price = _for_all_times(ways, cost)
        for member in (a, b):
            dearest[member] = max(dearest.get(member, (0.0, 0.0)), price, key=_cost_of)
    if len(members) == 1 and out:
        # The last eliminated algorithm was eliminated by the only member.
        duels_won = [better[:, members[0], a] for a in out if beaten[members[0], a]]
        prices = [(float(needs.max()), spent_on(needs, cost)) for needs in duels_won]
        dearest[members[0]] = min(prices, key=_cost_of)
    return Bound(
        max(instances for instances, _ in dearest.values()),
        sum(spent for _, spent in dearest.values()),
        tuple(members),
    )


def _cost_of(price: tuple[float, float]) -> float:
    return price[1]
