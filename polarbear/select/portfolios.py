"""Which k algorithms to run in parallel: multisets of the candidates, their theta summed.

theta_S(t) = sum of theta_A(t) over the slots, so only portfolios of the same size are comparable.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement, pairwise
from math import comb

import numpy as np

from polarbear.errors import SelectionError
from polarbear.numerics.threads import in_threads
from polarbear.preferences import Valuation
from polarbear.select.criteria import GAMMA, Criteria, Risk, judge

EXHAUSTIVE_LIMIT = 6000  # more portfolios than this are searched, not enumerated
SEARCH_LIMIT = 2000  # a search stops after so many
MOST_SLOTS = 256
ROUNDING = 1e-12
_DRAWS_A_TASK = 256  # keeps the sums of one task in the processor's cache; no result depends on it

Slots = tuple[int, ...]  # the algorithms in the slots, in increasing order


@dataclass(frozen=True)
class Portfolios:
    """Portfolios of one size and what each has to say for itself, the best first.

    ``exhaustive`` says whether these are all there are; otherwise the probability of being best
    and the regret are against those that were looked at.
    """

    slots: tuple[Slots, ...]
    criteria: Criteria
    exhaustive: bool
    possible: int
    covering: bool = False  # valued by how often they have the winner, not by sums of ratings


def best_portfolios(
    theta: np.ndarray,
    valuation: Valuation,
    size: int,
    risk: Risk,
    gamma: float = GAMMA,
    limit: int = EXHAUSTIVE_LIMIT,
) -> Portfolios:
    """Rank portfolios of theta[draw, time, candidate]: all of them, or those a search meets."""
    if size < 1:
        raise SelectionError(f"a portfolio needs at least one slot, found {size}")
    if size > MOST_SLOTS:
        raise SelectionError(f"a portfolio has at most {MOST_SLOTS} slots, found {size}")
    n = theta.shape[2]
    possible = comb(n + size - 1, size)
    pool = _Pool(theta, valuation)
    if possible <= limit:
        pool.add(combinations_with_replacement(range(n), size))
    else:
        _search(pool, n, size, risk, gamma)
    criteria = pool.judge(gamma)
    order = criteria.order(risk)
    ranked = Criteria(
        *(getattr(criteria, name)[order] for name in ("p2bb", "mean", "quantile", "regret"))
    )
    slots = tuple(pool.slots[i] for i in order)
    return Portfolios(slots, ranked, possible <= limit, possible)


class _Pool:
    """Portfolios met so far, with their values in every draw."""

    def __init__(self, theta: np.ndarray, valuation: Valuation) -> None:
        self.theta, self.valuation = theta, valuation
        self.slots: list[Slots] = []
        self.known: set[Slots] = set()
        self.values = np.empty((theta.shape[0], 0))
        # A linear preference values a sum as the sum of values: V of each algorithm is enough.
        self.single = valuation.values(theta) if valuation.weights is not None else None

    def add(self, slots: Iterable[Slots]) -> None:
        new = sorted(set(slots) - self.known)
        if new:
            self.slots += new
            self.known |= set(new)
            self.values = np.concatenate([self.values, self.values_of(new)], axis=1)

    def values_of(self, slots: Sequence[Slots]) -> np.ndarray:
        if self.single is not None:
            counts = np.array([np.bincount(s, minlength=self.theta.shape[2]) for s in slots])
            return np.asarray(self.single @ counts.T)
        return summed_values(self.theta, self.valuation, slots)

    def judge(self, gamma: float) -> Criteria:
        best = self.values.max(axis=1)
        # Portfolios whose sums differ only by rounding tie.
        return judge(self.values, gamma, best - ROUNDING * np.abs(best))


def summed_values(theta: np.ndarray, valuation: Valuation, slots: Sequence[Slots]) -> np.ndarray:
    """V[draw, portfolio], each from the sum of its slots' theta.

    Portfolios that begin alike share that part of their sum, so it pays to give them sorted.
    """
    size = len(slots[0])
    shared = [0, *(_shared(one, other) for one, other in pairwise(slots))]
    values = np.empty((theta.shape[0], len(slots)))

    def run(first: int) -> None:
        some = slice(first, first + _DRAWS_A_TASK)
        curves = np.ascontiguousarray(theta[some].transpose(2, 1, 0), dtype=np.float32)
        sums = np.empty((size, *curves.shape[1:]), dtype=np.float32)
        for position, (items, kept) in enumerate(zip(slots, shared, strict=True)):
            for depth in range(kept, size):
                if depth == 0:
                    sums[0] = curves[items[0]]
                else:
                    np.add(sums[depth - 1], curves[items[depth]], out=sums[depth])
            values[some, position] = valuation.values(sums[-1].T[:, :, None])[:, 0]

    in_threads(run, range(0, theta.shape[0], _DRAWS_A_TASK))
    return values


def _shared(one: Slots, other: Slots) -> int:
    """How many slots two portfolios have in common from the start."""
    return next((k for k, (a, b) in enumerate(zip(one, other, strict=True)) if a != b), len(one))


def _search(pool: _Pool, n: int, size: int, risk: Risk, gamma: float) -> None:
    """Greedy construction from every start, then exchanges of one slot or two until none helps.

    With many slots it starts from the best algorithm only. Where the criterion compares with the
    others (p2bb, regret), each round compares with all that were met so far, so it goes on until
    the leader has no neighbour that was not looked at.
    """
    alone: Risk = "quantile" if risk == "quantile" else "mean"  # means something for a part, too
    starts = judge(pool.values_of([(i,) for i in range(n)]), gamma).order(alone)
    for start in starts if n * n * size <= SEARCH_LIMIT else starts[:1]:
        chosen: Slots = (start,)
        while len(chosen) < size:
            longer = [tuple(sorted((*chosen, item))) for item in range(n)]
            chosen = longer[judge(pool.values_of(longer), gamma).best(alone)]
        pool.add([chosen])
    pool.add((item,) * size for item in range(n))
    while len(pool.slots) < SEARCH_LIMIT:
        leader = pool.slots[pool.judge(gamma).best(risk)]
        near = neighbours(leader, n)
        fresh = set(near) - pool.known
        if not fresh:
            fresh = {far for one in near for far in neighbours(one, n)} - pool.known
        if not fresh:
            return
        pool.add(sorted(fresh)[: SEARCH_LIMIT - len(pool.slots)])


def neighbours(slots: Slots, n: int) -> list[Slots]:
    """Every portfolio that differs in one slot."""
    found = {
        tuple(sorted((*slots[:place], item, *slots[place + 1 :])))
        for place in range(len(slots))
        for item in range(n)
    }
    return sorted(found - {slots})
