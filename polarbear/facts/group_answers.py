"""What holds on the problems of each group: the posterior, and the likely best by budget.

Problems of other groups enter with the weight that held-out duels gave them, so that a group of few
problems does not claim what all others contradict.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from polarbear.facts.evidence import Evidence, cached_posterior
from polarbear.facts.feature_groups import Grouping, grouped, problem_groups
from polarbear.facts.features import features
from polarbear.facts.trajectory_features import is_of_trajectory, trajectory_feature
from polarbear.inference import ModelOptions, Posterior
from polarbear.inference.posterior_tables import Inferred
from polarbear.inference.strongest_rival import p_best_at_each_time
from polarbear.racing.recommendation import Advice, Grade, advise
from polarbear.records import Facts, Record, json_values
from polarbear.settings.decision_levels import DEFAULT_EPSILON
from polarbear.store import StoreOnDisk
from polarbear.wording import counted, joined, short


@dataclass(frozen=True, eq=False)
class GroupAnswer:
    """The answer for one group.

    ``problems`` is the number of its problems, ``problems_weighted`` this number with those of
    other groups, each of which counts as its weight.
    """

    label: str
    problems: int
    problems_weighted: float
    posterior: Posterior
    advice: Advice

    @property
    def likely_best(self) -> str:
        """The likely best algorithms by budget: powell up to 30, random from 60 on."""
        axis = self.posterior.axis
        words = [
            f"{joined(span.algorithms, 'or')} {span.budgets(axis)}" for span in self.advice.spans
        ]
        return "; ".join(words)

    @property
    def counted_problems(self) -> str:
        """The number of problems, and as how many all problems count: 12, counts as 31.2."""
        if round(self.problems_weighted, 1) == self.problems:
            return str(self.problems)
        return f"{self.problems}, with others {short(round(self.problems_weighted, 1))}"

    def summary(self) -> Facts:
        """The group without the numbers of its posterior."""
        return {
            "group": self.label,
            "problems": self.problems,
            "problems_weighted": self.problems_weighted,
            "spans": json_values(self.advice.spans),
        }

    @property
    def is_early(self) -> bool:
        """Whether its problems say too little for a recommendation."""
        return self.advice.grade == Grade.EARLY


@dataclass(frozen=True, eq=False, repr=False)
class GroupAnswers(Record):
    """The answers for all groups by a feature; the keys are those of `infer --by --json`.

    ``borrowed_weight`` is the weight that a problem has in the answers for other groups.
    """

    by: str
    borrowed_weight: float
    problems: int
    groups: tuple[GroupAnswer, ...]

    def one_line(self) -> str:
        return (
            f"by {self.by}: {counted(len(self.groups), 'group')} of "
            f"{counted(self.problems, 'problem')}; {self.borrowing}"
        )

    @property
    def borrowing(self) -> str:
        """What problems of other groups count, and what follows."""
        if len(self.groups) == 1:
            return "there is nothing to compare it with"
        if self.borrowed_weight == 1:
            return "held-out duels show no difference between groups, so all problems count in each"
        if self.borrowed_weight == 0:
            return "in each group only its own problems count"
        return f"a problem of another group counts as {short(self.borrowed_weight)}"

    def table(self) -> tuple[list[str], list[list[str]]]:
        """Titles, and a row for each group."""
        titles = [self.by, "problems#", "likely best"]
        rows = []
        for group in self.groups:
            words = group.likely_best
            if group.is_early:
                words = f"too early to say ({words})"
            rows.append([group.label, group.counted_problems, words])
        return titles, rows

    def rows(self) -> list[Facts]:
        titles, rows = self.table()
        return [dict(zip(titles, row, strict=True)) for row in rows]

    def summary(self) -> Facts:
        """The groups without the numbers of their posteriors."""
        return {
            "by": self.by,
            "borrowed_weight": self.borrowed_weight,
            "problems": self.problems,
            "groups": [group.summary() for group in self.groups],
        }

    def inferred(
        self,
        times: Sequence[int] | None = None,
        pairs: bool = False,
        epsilon: float = DEFAULT_EPSILON,
    ) -> dict[str, Inferred]:
        """The facts of each group's posterior, as `Posterior.facts` gives them."""
        return {group.label: group.posterior.facts(times, pairs, epsilon) for group in self.groups}

    def to_dict(
        self,
        times: Sequence[int] | None = None,
        pairs: bool = False,
        epsilon: float = DEFAULT_EPSILON,
    ) -> Facts:
        """The facts that `polarbear infer --by --json` prints."""
        inferred = self.inferred(times, pairs, epsilon)
        groups = [{**group.summary(), **inferred[group.label].to_dict()} for group in self.groups]
        return {**self.summary(), "groups": groups}


def grouping_by(store: StoreOnDisk, by: str) -> Grouping:
    """The instances of a store in groups by a feature, also by one of trajectories."""
    if is_of_trajectory(by):
        return grouped(trajectory_feature(store, by), by)
    return grouped(features(store), by)


def group_answers(
    store: StoreOnDisk,
    evidence: Evidence,
    grouping: Grouping,
    options: ModelOptions,
    seed: int,
    candidates: Sequence[str] | None = None,
) -> GroupAnswers:
    """The answer for each group that has problems; nothing is stored.

    ``candidates`` are the algorithms that may be recommended, by default all.
    """
    groups = problem_groups(evidence, grouping, options.concentration)
    answers = []
    for index, group in enumerate(groups.grouping.groups):
        weights = groups.problem_weights(index)
        n_weighted = sum(weights.values())
        posterior = cached_posterior(store, evidence.weighted(weights), options, seed)
        names = [name for name in posterior.algorithms if candidates is None or name in candidates]
        items = [posterior.algorithms.index(name) for name in names]
        answers.append(
            GroupAnswer(
                label=group.label,
                problems=groups.sizes[index],
                problems_weighted=n_weighted,
                posterior=replace(posterior, key="", instances=groups.sizes[index]),
                advice=advise(
                    names,
                    posterior.times,
                    p_best_at_each_time(posterior, items),
                    problems=int(n_weighted),
                ),
            )
        )
    return GroupAnswers(grouping.feature, groups.borrowed, sum(groups.sizes), tuple(answers))
