"""The runs of one pair of versions: duels, failures, and times to the same value."""

import json
import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from polarbear.config.configuration import Config
from polarbear.driver.collect import stored_runs
from polarbear.errors import ConfigError
from polarbear.facts.evidence import ranked
from polarbear.facts.run_details import repeating
from polarbear.facts.time_factors import RunTimes, TimeFactor
from polarbear.rankings import GridValues
from polarbear.rankings.front_duels import DRAW, LOSS, NOT_MET
from polarbear.rankings.ranking import side_by_side
from polarbear.settings.contract import decided_at
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
    old = _parts_of(baseline, names)
    new = _parts_of(candidate, names)
    if not old or old.keys() != new.keys():
        raise ConfigError(
            f"a gate compares the algorithm '{baseline}' with '{candidate}', or each "
            f"'{baseline}/...' with its counterpart '{candidate}/...'; the configuration has "
            f"{joined(names)}"
        )
    return [Pair(old[part], new[part]) for part in old]


def _parts_of(version: str, names: Sequence[str]) -> dict[str, str]:
    """The names of the algorithms of a version, by the rest of each name."""
    return {
        name.removeprefix(version): name for name in names if f"{name}/".startswith(f"{version}/")
    }


def same_code(first: str, other: str) -> bool:
    """Whether two fingerprints have the same files and options, whatever their folders."""

    def content(fingerprint: str) -> tuple[object, ...]:
        facts = json.loads(fingerprint)
        options = re.sub(r"[^\s\"':=]*/", "", json.dumps(facts["options"], sort_keys=True))
        return options, sorted((facts["files"] or {}).values()), facts["packages"]

    return content(first) == content(other)


@dataclass(frozen=True)
class FailedRun:
    """A run of the candidate that failed where that of the baseline did not."""

    instance: str
    status: str
    message: str


@dataclass(frozen=True)
class Lost:
    """An instance that the candidate loses, with the values of both when it last did so.

    With several objectives there is no single value. ``command`` repeats the stored run of the
    candidate.
    """

    instance: str
    t: float
    baseline: float | None
    candidate: float | None
    command: str


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
    """The duels of a pair on some instances; values are minimised.

    Versions with a contract are compared where both of them end a run, and keep these values until
    the next such time. ``scores`` are those of the test: where the candidate may take ``longer``,
    it has a longer time than the baseline. ``scores_at_equal_times`` are the others.
    """

    def __init__(
        self,
        config: Config,
        store: StoreOnDisk,
        pair: Pair,
        instances: Sequence[str],
        longer: float | None = None,
    ) -> None:
        self._store = store
        self._pair = pair
        self.times = config.budget.times
        grid_values = store.on_grid(self.times, [pair.candidate, pair.baseline])
        versions = (pair.candidate, pair.baseline)
        self.instances = [name for name in instances if name in grid_values.instances]
        ends_a_run = [
            np.isin(self.times, config.contracts.get(name, self.times)) for name in versions
        ]
        index = decided_at(np.logical_and(*ends_a_run))
        grid = grid_values.pick(self.instances, versions).with_outcomes_at(index)
        problem = store.problems()
        problems = [problem.get(name, name) for name in self.instances]
        self.grid = grid
        self._problems = problems
        self._config = config
        self.scores_at_equal_times = self._scores(grid)
        self.scores = self.scores_at_equal_times
        if longer is not None:
            earlier = store.on_grid(self.times / (1 + longer), [pair.baseline])
            of_candidate = grid.pick(self.instances, [pair.candidate])
            of_baseline = earlier.pick(self.instances, [pair.baseline]).with_outcomes_at(index)
            self.scores = self._scores(side_by_side(of_candidate, of_baseline, versions))

    def _scores(self, grid: GridValues) -> np.ndarray:
        """Scores of the candidate: [problem, time]."""
        unit_times = self._config.budget.unit_times
        tie_tolerance = self._config.race.tie_tolerance
        duels = ranked(
            grid, unit_times, tie_tolerance, self._problems, duels=self._config.duels
        ).duels
        score, is_known = duels.pair_scores(slice(0, duels.n_problems))
        return np.where(is_known, score, np.nan)

    def problems_by(self, instances: int) -> int:
        """The number of problems among the first instances."""
        return len(set(self._problems[:instances]))

    @property
    def identical(self) -> bool:
        """Whether all runs have the same values at all times."""
        results = self.grid.duel_results(self._config.duels)
        if results is not None:
            return bool(np.isin(results, [DRAW, NOT_MET]).all())
        columns = [self.grid.values, self.grid.violations]
        return all(
            np.array_equal(column[:, 0], column[:, 1], equal_nan=True)
            for column in columns
            if column is not None
        )

    def failures(self) -> list[FailedRun]:
        """Failed runs of the candidate where the baseline's did not fail."""
        runs = stored_runs(self._store)
        failed = []
        for key, new in runs.items():
            if key.algorithm != self._pair.candidate or not new.status.failed:
                continue
            old = runs.get(key._replace(algorithm=self._pair.baseline))
            if key.instance in self.instances and old and not old.status.failed:
                message = new.message.split("\n")[0]
                failed.append(FailedRun(key.instance, new.status.value, message))
        return sorted(failed, key=lambda run: self.instances.index(run.instance))

    def lost_most(self, span: tuple[int, int], most: int = 5) -> list[Lost]:
        """Instances with the largest loss within a span of times, the largest first."""
        within = slice(span[0], span[1] + 1)
        values = self.grid.feasible_values()
        new = values[:, 0, within]
        old = values[:, 1, within]
        is_compared = np.all(self.grid.present[:, :, within], axis=1)
        results = self.grid.duel_results(self._config.duels)
        if results is None:
            positions = self.grid.positions()
            is_lost = is_compared & (positions[:, 0, within] > positions[:, 1, within])
        else:
            is_lost = results[:, 0, within] == LOSS
        order = np.argsort(-is_lost.mean(axis=1), kind="stable")[:most]
        sign = self._store.sign
        lost = []
        for row in order:
            lost_times = np.flatnonzero(is_lost[row])
            if len(lost_times) == 0:
                break
            last = lost_times[-1]
            lost.append(
                Lost(
                    instance=self.instances[row],
                    t=float(self.times[span[0] + last]),
                    baseline=None if results is not None else float(sign * old[row, last]),
                    candidate=None if results is not None else float(sign * new[row, last]),
                    command=self._repeating(self.instances[row]),
                )
            )
        return lost

    def _repeating(self, instance: str) -> str:
        """The command that repeats the candidate's run on an instance."""
        on = shlex.quote(instance)
        return f"{repeating(self._store)} --on {on} --repeat {shlex.quote(self._pair.candidate)}"

    def times_as_long(
        self, span: tuple[int, int] | None
    ) -> tuple[tuple[TimeFactor, ...], tuple[TimeFactor, ...]]:
        """Factors of the candidate, and back: in a span or over all times, then in thirds."""
        pair = self._pair
        run_times = RunTimes(
            self._store, [pair.candidate, pair.baseline], self.times, self.instances
        )
        thirds = [part for part in np.array_split(np.arange(len(self.times)), 3) if len(part)]
        first_span = span or (0, len(self.times) - 1)
        spans = [first_span, *((int(part[0]), int(part[-1])) for part in thirds)]
        budgets = [(float(self.times[a]), float(self.times[b])) for a, b in spans]
        of_candidate = [
            run_times.times_as_long(pair.candidate, pair.baseline, budget) for budget in budgets
        ]
        of_baseline = [
            run_times.times_as_long(pair.baseline, pair.candidate, budget) for budget in budgets
        ]
        return tuple(of_candidate), tuple(of_baseline)

    def slowdown(self) -> Slowdown | None:
        """How long the candidate takes to the worse of the two last values, by instance.

        None with several objectives, where there is no such value.
        """
        if self.grid.fronts is not None:
            return None
        runs: dict[tuple[str, str], tuple[np.ndarray, np.ndarray]] = {}
        for run, t, y in self._store.trajectories([self._pair.baseline, self._pair.candidate]):
            runs[run.algorithm, run.instance] = (t, np.minimum.accumulate(y))
        ratios = []
        for name in self.instances:
            new = runs.get((self._pair.candidate, name))
            old = runs.get((self._pair.baseline, name))
            if new is None or old is None or not len(new[1]) or not len(old[1]):
                continue
            target = max(new[1][-1], old[1][-1])
            new_time = _first_time_at(target, *new)
            old_time = _first_time_at(target, *old)
            if new_time > 0 and old_time > 0:
                ratios.append(np.log(new_time / old_time))
        if len(ratios) < 2:
            return None
        middle = np.median(ratios)
        noise = 1.4826 * float(np.median(np.abs(ratios - middle)))
        detectable = float(np.expm1(DETECTED * noise / np.sqrt(len(ratios))))
        return Slowdown(float(np.exp(middle)), noise, detectable, len(ratios))


def _first_time_at(target: float, times: np.ndarray, best_so_far: np.ndarray) -> float:
    """The first time at which a run has reached the target."""
    return float(times[np.flatnonzero(best_so_far <= target)[0]])
