"""Finds out whether an algorithm plans for its budget, by runs with several budgets.

All runs on a problem have the same seed. An algorithm that does not plan makes the same trajectory
with any budget, as far as the budget goes. Where its runs repeat themselves, three problems show
that exactly. Otherwise, as on the seconds axis, the values of many problems are compared: at the
end of the smaller budget, is a run better, or worse, that was given just this budget?
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import comb, inf

from polarbear.config.configuration import Config
from polarbear.driver.check import failure_reason, run_failed
from polarbear.driver.collect import InstanceStream
from polarbear.errors import AlgorithmError, ConfigError
from polarbear.execution.outcome import Executor, Outcome, Task
from polarbear.problems.base import Instance, Kind
from polarbear.rankings.outcomes import is_better
from polarbear.records import Record
from polarbear.settings.contract import Contract
from polarbear.settings.options import unknown
from polarbear.store.runs import StoredRun
from polarbear.wording import counted, joined, timed

N_REPEATED = 3  # problems that show whether runs repeat themselves
# Problems whose values are compared where they do not, as long as no difference is found.
N_COMPARED = (40, 80, 160)
N_COMPARED_TIMED = N_COMPARED[:1]  # runs that are timed take long
LEVEL = 0.01  # P(a difference is found where there is none)
BUDGETS = Contract(points=4)
N_BUDGETS = 3  # the last of these times, since little happens before the first one


class Finding(StrEnum):
    """What the runs show."""

    PLANS = "plans for its budget"
    INTERRUPTIBLE = "does not depend on its budget"
    NO_DIFFERENCE = "shows no difference"


@dataclass(frozen=True)
class BudgetComparison:
    """Runs with a smaller budget against those with the whole one, at the end of the smaller.

    ``same`` counts the problems on which both make the same trajectory until then; ``better``,
    ``worse`` and ``ties`` those on which the run with the smaller budget has such a value. ``p`` is
    that of a sign test.
    """

    budget: float
    problems: int
    same: int
    better: int
    worse: int
    ties: int
    p: float


@dataclass(frozen=True, repr=False)
class ContractCheck(Record):
    """The result of `check --contract`; fields are the keys of its JSON.

    ``repeats_itself`` says whether two runs with one seed and one budget were the same.
    """

    algorithm: str
    finding: Finding
    plans: bool
    repeats_itself: bool
    axis: str
    budget: float
    problems: int
    runs: int
    budgets: tuple[BudgetComparison, ...]
    recommendation: str
    ROWS = "budgets"

    def one_line(self) -> str:
        runs = counted(self.runs, "run")
        problems = counted(self.problems, "problem")
        return f"{self.algorithm} {self.finding.value} ({runs} on {problems})"

    def remarks(self) -> list[str]:
        return [self.recommendation]


def check_contract(config: Config, name: str, pool: Executor) -> ContractCheck:
    """Run an algorithm with several budgets, and report whether the budget matters."""
    by_name = {algorithm.name: algorithm for algorithm in config.algorithms}
    if name not in by_name:
        raise ConfigError(f"--contract: {unknown('algorithm', name, by_name)}")
    budgets = BUDGETS.times(config.budget.times)[-N_BUDGETS:].tolist()
    if len(budgets) < 2:
        raise ConfigError(
            "--contract compares runs with several budgets, and the grid has one time only; add "
            "some under 'budget'"
        )
    if config.instances.offers() is Kind.SCORES:
        raise ConfigError(
            f"--contract needs problems; the suite '{config.instances.suite}' draws scores"
        )
    trial = _Trial(config, name, tuple(budgets))
    stream = InstanceStream(config)
    is_timed = config.budget.is_timed
    trial.run(stream.first(_at_most(N_REPEATED, stream.size)), pool, twice=not is_timed)
    repeats_itself = not is_timed and trial.repeats_itself
    looks = N_COMPARED_TIMED if is_timed else N_COMPARED
    comparisons: tuple[BudgetComparison, ...] = ()
    finding = Finding.NO_DIFFERENCE
    for n_problems in looks:
        if not repeats_itself:
            n_before = len(trial.instances)
            further = stream.first(_at_most(n_problems, stream.size))[n_before:]
            trial.run(further, pool, twice=False)
        comparisons = tuple(trial.compared(budget) for budget in budgets[:-1])
        finding = _finding(comparisons, repeats_itself, LEVEL / len(looks))
        if repeats_itself or finding is Finding.PLANS:
            break
    return ContractCheck(
        algorithm=name,
        finding=finding,
        plans=finding is Finding.PLANS,
        repeats_itself=repeats_itself,
        axis=config.budget.axis,
        budget=config.budget.limit,
        problems=len(trial.instances),
        runs=trial.n_runs,
        budgets=comparisons,
        recommendation=_recommendation(config, name, finding, comparisons),
    )


def _at_most(count: int, size: int | None) -> int:
    """The number of problems to use of a suite that may be finite."""
    return count if size is None else min(count, size)


class _Trial:
    """The runs of one algorithm on some problems, with each of the budgets."""

    def __init__(self, config: Config, name: str, budgets: Sequence[float]) -> None:
        algorithm = next(entry for entry in config.algorithms if entry.name == name)
        self._config = config
        self._as_given = algorithm
        # A contract tells each run its own budget.
        self._algorithm = algorithm.model_copy(update={"contract": BUDGETS})
        self._budgets = budgets
        self._outcomes: dict[tuple[str, float], Outcome] = {}
        self._repeated: dict[str, Outcome] = {}
        self.instances: list[Instance] = []
        self.n_runs = 0

    def run(self, instances: Sequence[Instance], pool: Executor, twice: bool) -> None:
        """Make the runs on further problems, those with the whole budget also ``twice``."""
        tasks = []
        for instance in instances:
            seed = self._config.run_seed(self._as_given, instance.id)
            own = [Task(self._algorithm, instance, seed, budget) for budget in self._budgets]
            tasks += own
            if twice:
                tasks.append(Task(self._algorithm, instance, seed, self._budgets[-1], attempt=2))
        for outcome in pool.run(tasks):
            run = StoredRun.of(outcome, workers=1)
            if run_failed(run):
                raise AlgorithmError(
                    f"'{run.algorithm}' failed on {run.instance}: {failure_reason(run)}"
                )
            if outcome.task.attempt == 2:
                self._repeated[run.instance] = outcome
            else:
                self._outcomes[run.instance, run.budget] = outcome
        self.instances += instances
        self.n_runs += len(tasks)

    @property
    def repeats_itself(self) -> bool:
        """Whether two runs with the whole budget had the same trajectory on each problem."""
        whole = self._budgets[-1]
        return all(
            _is_same(self._outcomes[instance, whole], second, whole)
            for instance, second in self._repeated.items()
        )

    def compared(self, budget: float) -> BudgetComparison:
        """Runs with a smaller budget compared with those with the whole one."""
        counts = {"same": 0, "better": 0, "worse": 0, "ties": 0}
        for instance in self.instances:
            own = self._outcomes[instance.id, budget]
            whole = self._outcomes[instance.id, self._budgets[-1]]
            counts["same"] += _is_same(own, whole, budget)
            own_end = _violation_and_value(own, budget)
            end_of_whole = _violation_and_value(whole, budget)
            if own_end == end_of_whole:
                counts["ties"] += 1
            else:
                counts["better" if is_better(*own_end, *end_of_whole) else "worse"] += 1
        return BudgetComparison(
            budget=budget,
            problems=len(self.instances),
            **counts,
            p=sign_test(counts["better"], counts["worse"]),
        )


def _is_same(run: Outcome, other: Outcome, until: float) -> bool:
    """Whether two runs have the same trajectory up to a time."""
    return run.improvements.up_to(until).points() == other.improvements.up_to(until).points()


def _violation_and_value(run: Outcome, t: float) -> tuple[float, float]:
    """The best outcome of a run at a time; infinite before the first."""
    points = run.improvements.up_to(t).points()
    return points[-1][1:] if points else (inf, inf)


def sign_test(better: int, worse: int) -> float:
    """P(a split at least as uneven) if better and worse are equally likely."""
    n = better + worse
    n_splits = sum(comb(n, k) for k in range(min(better, worse) + 1))
    return min(1.0, 2 * n_splits / float(2**n))


def _finding(
    comparisons: Sequence[BudgetComparison], repeats_itself: bool, level: float
) -> Finding:
    if repeats_itself:
        is_same = all(comparison.same == comparison.problems for comparison in comparisons)
        return Finding.INTERRUPTIBLE if is_same else Finding.PLANS
    is_different = any(comparison.p * len(comparisons) < level for comparison in comparisons)
    return Finding.PLANS if is_different else Finding.NO_DIFFERENCE


def _recommendation(
    config: Config, name: str, finding: Finding, comparisons: Sequence[BudgetComparison]
) -> str:
    """What to write into the configuration, and why."""
    axis = config.budget.axis
    configured = config.contracts.get(name) is not None
    if finding is Finding.PLANS:
        splits = [
            f"{comparison.better} better, {comparison.worse} worse of {comparison.problems} at "
            f"{timed(comparison.budget, axis)}"
            for comparison in comparisons
        ]
        effect = f"a run that is given less, against one that is given all: {joined(splits)}"
        if configured:
            return f"keep `contract`; {effect}"
        return f"write `contract: true` for '{name}'; {effect}"
    if finding is Finding.INTERRUPTIBLE:
        remedy = f"write `contract: false` for '{name}'"
        return f"{remedy}: one run to the end serves all times"
    n_problems = comparisons[0].problems
    return (
        f"leave out `contract` for '{name}': the values of runs that do not repeat themselves show "
        f"no difference on {counted(n_problems, 'problem')}, which rules out large ones only"
    )
