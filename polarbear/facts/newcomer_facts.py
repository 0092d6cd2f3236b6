"""What the duels of a newcomer with the members of a set say: where it leads, where it loses.

The newcomer is the last algorithm of the evidence. Its gain is estimated on problems that it was
not selected on: the best of many newcomers looks better than it is on those that selected it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np
import scipy  # loads `scipy.special` at its first use

from polarbear.facts.evidence import Evidence
from polarbear.facts.time_factors import RunTimes, TimeFactor
from polarbear.inference.empirical.pair_probabilities import p_better, win_rate
from polarbear.racing.recommendation import LIKELY
from polarbear.rankings.duels import duels_of, index_of_pair
from polarbear.store.runs import StoredRun

MIN_CONFIRMING_PROBLEMS = 10  # below which no gain is stated
INTERVAL = 0.95  # probability that the interval of a gain contains the true one


@dataclass(frozen=True)
class Lead:
    """Neighbouring times at which a newcomer is likely better than each member."""

    from_: float
    to: float
    win_rate: float
    rival: str


@dataclass(frozen=True)
class Loss:
    """Neighbouring times at which a member is likely better than a newcomer, and by how much.

    ``times_as_long`` is the factor of budget in which the newcomer reaches the member's values.
    """

    from_: float
    to: float
    win_rate: float
    rival: str
    times_as_long: TimeFactor


@dataclass(frozen=True)
class Gain:
    """The win rate of a new member against its strongest rival, where it leads most.

    It is that on ``problems`` that the member was not selected on, with its 95 % interval.
    """

    from_: float
    to: float
    rival: str
    problems: int
    win_rate: float
    low: float
    high: float


@dataclass(frozen=True)
class CrashGroup:
    """Runs of a newcomer that failed with the same message, and the instances of the first ones."""

    message: str
    runs: int
    instances: tuple[str, ...]


@dataclass(frozen=True)
class NewcomerRates:
    """The record of a newcomer against each member: win rates and P(better), [time, member]."""

    members: tuple[str, ...]
    times: np.ndarray
    win_rates: np.ndarray
    p_better: np.ndarray

    @classmethod
    def of(cls, evidence: Evidence, concentration: float) -> NewcomerRates:
        """By the neutral posterior of all estimates; ``concentration`` is that of its prior."""
        names = evidence.grid.algorithms
        newcomer = len(names) - 1
        record = evidence.duels.record()
        rivals = range(newcomer)
        rates = [win_rate(record, newcomer, rival, concentration) for rival in rivals]
        better = [p_better(record, newcomer, rival, concentration) for rival in rivals]
        return cls(
            members=names[:-1],
            times=evidence.grid.times,
            win_rates=np.stack(rates, axis=1),
            p_better=np.stack(better, axis=1),
        )

    @property
    def lowest_mean(self) -> float:
        """The lowest expected win rate against a member, over all times."""
        return float(self.win_rates.mean(axis=0).min())

    def leads(self) -> tuple[Lead, ...]:
        is_ahead = np.asarray((self.p_better >= LIKELY).all(axis=1))
        leads = []
        for inside in _stretches(is_ahead.tolist()):
            if is_ahead[inside[0]]:
                rival = int(self.win_rates[inside].mean(axis=0).argmin())
                leads.append(
                    Lead(
                        from_=float(self.times[inside[0]]),
                        to=float(self.times[inside[-1]]),
                        win_rate=float(self.win_rates[inside, rival].mean()),
                        rival=self.members[rival],
                    )
                )
        return tuple(leads)

    def losses(self, newcomer: str, run_times: RunTimes) -> tuple[Loss, ...]:
        """Where some member is likely better, each time with the strongest one."""
        newcomer_is_worse = np.asarray((1 - self.p_better >= LIKELY).any(axis=1))
        strongest = self.win_rates.argmin(axis=1)
        rival_at = np.where(newcomer_is_worse, strongest, -1)
        losses = []
        for inside in _stretches(rival_at.tolist()):
            rival = int(rival_at[inside[0]])
            if rival < 0:
                continue
            is_inside = np.zeros(len(self.times), dtype=bool)
            is_inside[inside] = True
            losses.append(
                Loss(
                    from_=float(self.times[inside[0]]),
                    to=float(self.times[inside[-1]]),
                    win_rate=float(self.win_rates[inside, rival].mean()),
                    rival=self.members[rival],
                    times_as_long=run_times.at_times(newcomer, self.members[rival], is_inside),
                )
            )
        return tuple(losses)

    def best_span(self) -> tuple[np.ndarray, int]:
        """The times at which it leads most, and the strongest rival there.

        They are the neighbours of the time with the highest win rate against the strongest rival
        that keep at least half of the lead.
        """
        lowest = self.win_rates.min(axis=1)
        peak = int(lowest.argmax())
        enough = (0.5 + lowest[peak]) / 2
        first = peak
        while first > 0 and lowest[first - 1] >= enough:
            first -= 1
        last = peak
        while last + 1 < len(lowest) and lowest[last + 1] >= enough:
            last += 1
        inside = np.arange(first, last + 1)
        return inside, int(self.win_rates[inside].mean(axis=0).argmin())


def gain_of(selected: NewcomerRates, confirmation: Evidence) -> Gain | None:
    """The gain of a member, on problems that it was not selected on; None where they are too few.

    Times and rival are those of the selection, so that the estimate has no bias.
    """
    inside, rival = selected.best_span()
    shares = _shares_won(confirmation, rival, inside)
    n = len(shares)
    if n < MIN_CONFIRMING_PROBLEMS:
        return None
    mean = float(shares.mean())
    quantile = float(scipy.special.stdtrit(n - 1, (1 + INTERVAL) / 2))
    margin = quantile * float(shares.std(ddof=1)) / np.sqrt(n)
    return Gain(
        from_=float(selected.times[inside[0]]),
        to=float(selected.times[inside[-1]]),
        rival=selected.members[rival],
        problems=n,
        win_rate=mean,
        low=max(0.0, mean - margin),
        high=min(1.0, mean + margin),
    )


def _shares_won(evidence: Evidence, rival: int, inside: np.ndarray) -> np.ndarray:
    """The share of these times at which the newcomer beats a rival, on each problem of both."""
    positions = evidence.positions[:, [rival, -1]][:, :, inside]
    results = None
    if evidence.results is not None:
        n_algorithms = evidence.positions.shape[1]
        pair = index_of_pair(rival, n_algorithms - 1, n_algorithms)
        results = evidence.results[:, [pair]][:, :, inside]
    duels = duels_of(np.ascontiguousarray(positions), evidence.problem_names, results=results)
    shares = []
    for block in duels.blocks():
        score_of_rival, met = duels.pair_scores(block)
        is_complete = met.all(axis=1)
        shares.append(1 - score_of_rival[is_complete].mean(axis=1, dtype=np.float64))
    return np.concatenate(shares) if shares else np.empty(0)


def crashes_of(runs: Iterable[StoredRun]) -> tuple[CrashGroup, ...]:
    """The failed runs of a newcomer by their message, the most frequent first."""
    failed_runs = [run for run in runs if run.status.failed]
    counts = Counter(run.message for run in failed_runs)
    return tuple(
        CrashGroup(
            message=message,
            runs=count,
            instances=tuple(run.instance for run in failed_runs if run.message == message)[:3],
        )
        for message, count in counts.most_common()
    )


def _stretches(labels: Sequence[object]) -> list[list[int]]:
    """The indices of neighbours with equal labels."""
    indices = range(len(labels))
    return [list(group) for _, group in groupby(indices, key=lambda index: labels[index])]
