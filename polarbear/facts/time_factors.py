"""How many times as long one algorithm of a store needs to reach the values of another."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np

from polarbear.execution.outcome import STOPPED
from polarbear.numerics.arrays import Floats
from polarbear.rankings import Improvements
from polarbear.rankings.outcomes import ordinals
from polarbear.rankings.times_as_long import TimesAsLong, Trajectories, factors, summary
from polarbear.store import StoreOnDisk
from polarbear.wording import factor


@dataclass(frozen=True)
class TimeFactor:
    """The factor of budget that an ``algorithm`` needs to reach the values of another, in a span.

    ``median`` is None where it is only known to exceed ``low``, or where there are no ``problems``.
    """

    algorithm: str
    against: str
    from_: float
    to: float
    problems: int
    median: float | None
    low: float | None
    high: float | None

    @property
    def is_known(self) -> bool:
        """Whether a median or a bound of it is known."""
        return self.median is not None or self.low is not None

    @property
    def is_faster(self) -> bool:
        """Whether the algorithm is known to take no longer than the other one in the median.

        Noise raises the factor of both directions, so one above 1 does not yet say that the
        algorithm is slower.
        """
        return self.median is not None and self.median <= 1

    @property
    def number(self) -> str:
        """The median, or its bound: 1.6, more than 3; a dash where nothing is known."""
        if self.median is not None:
            return factor(self.median)
        return "-" if self.low is None else f"more than {factor(self.low)}"

    @property
    def cell(self) -> str:
        """The number in a table, where a bound is a sign: 1.6, > 3."""
        return self.number.replace("more than", ">")

    @property
    def interval(self) -> str:
        """The 95 % interval: 1.3 to 2.1; empty where it is unknown."""
        if self.median is None or self.low is None:
            return ""
        if self.high is None:
            return f"{factor(self.low)} or more"
        return f"{factor(self.low)} to {factor(self.high)}"

    def words(self, axis: str, against: str | None = None) -> str:
        """The factor in a clause: reaches A's values in 0.4 times the evaluations (0.3 to 0.6).

        It is empty where nothing is known. ``against`` replaces the name of the other algorithm.
        """
        if not self.is_known:
            return ""
        in_brackets = f" ({self.interval})" if self.interval else ""
        reference = against or self.against
        return f"reaches {reference}'s values in {self.number} times the {axis}{in_brackets}"


class RunTimes:
    """The trajectories of some algorithms of a store, for factors of any two and any span.

    Instances with imported rankings have no values, and therefore no factors. Nor have archives of
    several objectives: a front is not a value that another run reaches at one time, since a run can
    come to dominate some of its points and never others.
    """

    def __init__(
        self,
        store: StoreOnDisk,
        algorithms: Sequence[str],
        times: Floats | None = None,
        instances: Sequence[str] | None = None,
    ) -> None:
        budget = store.settings.budget
        self.times = budget.times if times is None else times
        self._limit = budget.limit
        self._problems = store.problems()
        self._instances = None if instances is None else {*instances}
        self._runs: dict[str, dict[str, tuple[Improvements, float]]]
        self._runs = {name: {} for name in algorithms}
        without_values = {*store.rankings()["instance"]}
        has_values = store.n_objectives == 1
        for run, improvements in store.improvements(algorithms) if has_values else ():
            if run.instance in without_values:
                continue
            end = run.reached
            if run.status not in STOPPED:
                end = max(end, self._limit)
            self._runs[run.algorithm][run.instance] = (improvements, end)
        for instance in {name for runs in self._runs.values() for name in runs}:
            self._replace_by_ordinals(instance)

    def _replace_by_ordinals(self, instance: str) -> None:
        """Replace outcomes with violations by numbers in the same order, which factors depend on.

        The numbers are those of all runs on an instance together.
        """
        runs = [runs for runs in self._runs.values() if instance in runs]
        improvements = [runs_of_algorithm[instance][0] for runs_of_algorithm in runs]
        if all(of_run.violations is None for of_run in improvements):
            return
        values = np.concatenate([of_run.values for of_run in improvements])
        violations = np.concatenate([of_run.all_violations() for of_run in improvements])
        ends = np.cumsum([len(of_run.values) for of_run in improvements])
        numbers = np.split(ordinals(values, violations), ends[:-1])
        for runs_of_algorithm, of_run, own_numbers in zip(runs, improvements, numbers, strict=True):
            end = runs_of_algorithm[instance][1]
            runs_of_algorithm[instance] = (Improvements(of_run.times, own_numbers), end)

    def times_as_long(
        self, algorithm: str, against: str, span: tuple[float, float] | None = None
    ) -> TimeFactor:
        """The factor of an algorithm over the grid times of a span, by default over all."""
        first, last = span or (float(self.times[0]), float(self.times[-1]))
        is_inside = (self.times >= first) & (self.times <= last)
        return self.at_times(algorithm, against, is_inside)

    def at_times(self, algorithm: str, against: str, is_inside: np.ndarray) -> TimeFactor:
        """The factor of an algorithm at some times of the grid, given as a mask."""
        inside = self.times[is_inside]
        return TimeFactor(
            algorithm=algorithm,
            against=against,
            from_=float(inside[0]),
            to=float(inside[-1]),
            **asdict(self._summary(algorithm, against, inside)),
        )

    def _summary(self, algorithm: str, against: str, times: Floats) -> TimesAsLong:
        runs = self._runs[algorithm]
        reference_runs = self._runs[against]
        common = [name for name in runs if name in reference_runs]
        if self._instances is not None:
            common = [name for name in common if name in self._instances]
        problems = [self._problems.get(name, name) for name in common]
        if not common:
            return TimesAsLong(0, None, None, None)
        factors_at_times = factors(
            _trajectories(runs, common), _trajectories(reference_runs, common), times
        )
        return summary(factors_at_times.by_problem(problems))


def _trajectories(
    runs: dict[str, tuple[Improvements, float]], instances: Sequence[str]
) -> Trajectories:
    improvements = [runs[name][0] for name in instances]
    return Trajectories.of(
        [(of_run.times, of_run.values) for of_run in improvements],
        [runs[name][1] for name in instances],
    )
