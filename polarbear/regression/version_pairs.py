"""The runs of one pair of versions: duels, failures, and times to the same value."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from polarbear.config.configuration import Config
from polarbear.driver.collect import stored_runs
from polarbear.errors import ConfigError
from polarbear.facts.evidence import ranked
from polarbear.rankings import GridValues
from polarbear.store import StoreOnDisk
from polarbear.wording import joined

DETECTED = 1.645 + 1.282  # standard errors of a slowdown shown at 5 % in nine of ten gates


@dataclass(frozen=True)
class Pair:
    """The names of the algorithms that are two versions of one."""

    baseline: str
    candidate: str


def pairs_of(names: Sequence[str], baseline: str, candidate: str) -> list[Pair]:
    """The algorithms called BASELINE and CANDIDATE, or BASELINE/x and CANDIDATE/x for each x."""
    old, new = (
        {name.removeprefix(one): name for name in names if f"{name}/".startswith(f"{one}/")}
        for one in (baseline, candidate)
    )
    if not old or old.keys() != new.keys():
        raise ConfigError(
            f"a gate compares the algorithm '{baseline}' with '{candidate}', or each "
            f"'{baseline}/...' with its counterpart '{candidate}/...'; the configuration has "
            f"{joined(names)}"
        )
    return [Pair(old[part], new[part]) for part in old]


def same_code(one: str, other: str) -> bool:
    """Whether two fingerprints have the same files and options, whatever their folders."""

    def content(fingerprint: str) -> tuple[object, ...]:
        facts = json.loads(fingerprint)
        options = re.sub(r"[^\s\"':=]*/", "", json.dumps(facts["options"], sort_keys=True))
        return options, sorted((facts["files"] or {}).values()), facts["packages"]

    return content(one) == content(other)


@dataclass(frozen=True)
class FailedRun:
    """A run of the candidate that failed where that of the baseline did not."""

    instance: str
    status: str
    message: str


@dataclass(frozen=True)
class Lost:
    """An instance that the candidate loses, with the values of both at one time."""

    instance: str
    t: float
    baseline: float
    candidate: float


@dataclass(frozen=True)
class Slowdown:
    """Times of the candidate to reach the same value, relative to those of the baseline.

    ``noise`` is the standard deviation of the logarithm of this ratio between instances, and
    ``detectable`` the slowdown that these instances show in nine of ten gates: 0.1 is 10 %.
    """

    ratio: float
    noise: float
    detectable: float
    instances: int


class VersionDuels:
    """The duels of a pair on some instances; values are minimised."""

    def __init__(
        self, config: Config, store: StoreOnDisk, pair: Pair, instances: Sequence[str]
    ) -> None:
        self._store, self._pair = store, pair
        self.times = config.budget.times
        found = store.on_grid(self.times, [pair.candidate, pair.baseline])
        place = {name: row for row, name in enumerate(found.instances)}
        self.instances = [name for name in instances if name in place]
        values = found.values[[place[name] for name in self.instances]]
        problem = store.problems()
        problems = [problem.get(name, name) for name in self.instances]
        grid = GridValues(tuple(self.instances), found.algorithms, self.times, values)
        self.values = values
        duels = ranked(grid, config.budget.unit_times, config.race.tie_tolerance, problems).duels
        score, there = duels.pair_scores(slice(0, duels.n_problems))
        self.scores = np.where(there, score, np.nan)  # [problem, time]
        self._problems = problems

    def problems_by(self, instances: int) -> int:
        """The number of problems among the first instances."""
        return len(set(self._problems[:instances]))

    @property
    def identical(self) -> bool:
        """Whether all runs have the same values at all times."""
        return bool(np.array_equal(self.values[:, 0], self.values[:, 1], equal_nan=True))

    def failures(self) -> list[FailedRun]:
        """Failed runs of the candidate where the baseline's did not fail."""
        runs = stored_runs(self._store)
        found = []
        for name in self.instances:
            old = runs.get((self._pair.baseline, name))
            new = runs.get((self._pair.candidate, name))
            if old and new and new.status.failed and not old.status.failed:
                found.append(FailedRun(name, new.status.value, new.message.split("\n")[0]))
        return found

    def lost_most(self, span: tuple[int, int], most: int = 5) -> list[Lost]:
        """Instances with the largest loss within a span of times, the largest first."""
        here = slice(span[0], span[1] + 1)
        new, old = self.values[:, 0, here], self.values[:, 1, here]
        share = np.nanmean(np.where(new > old, 1.0, 0.0), axis=1)
        order = np.argsort(-share, kind="stable")[:most]
        sign = self._store.sign
        t, at_end = float(self.times[span[1]]), sign * self.values[..., span[1]]
        return [
            Lost(self.instances[row], t, float(at_end[row, 1]), float(at_end[row, 0]))
            for row in order
            if share[row] > 0
        ]

    def slowdown(self) -> Slowdown | None:
        """How long the candidate takes to the worse of the two last values, by instance."""
        runs: dict[tuple[str, str], tuple[np.ndarray, np.ndarray]] = {}
        for run, t, y in self._store.trajectories([self._pair.baseline, self._pair.candidate]):
            runs[run.algorithm, run.instance] = t, np.minimum.accumulate(y)
        ratios = []
        for name in self.instances:
            new = runs.get((self._pair.candidate, name))
            old = runs.get((self._pair.baseline, name))
            if new is None or old is None or not len(new[1]) or not len(old[1]):
                continue
            target = max(new[1][-1], old[1][-1])
            took = [t[np.flatnonzero(best <= target)[0]] for t, best in (new, old)]
            if min(took) > 0:
                ratios.append(np.log(took[0] / took[1]))
        if len(ratios) < 2:
            return None
        middle = np.median(ratios)
        noise = 1.4826 * float(np.median(np.abs(ratios - middle)))
        detectable = float(np.expm1(DETECTED * noise / np.sqrt(len(ratios))))
        return Slowdown(float(np.exp(middle)), noise, detectable, len(ratios))
