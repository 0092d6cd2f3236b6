"""One choice: a preference and a risk profile applied to a posterior, and its statement."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from polarbear.errors import SelectionError
from polarbear.facts.time_factors import RunTimes, TimeFactor
from polarbear.inference.strongest_rival import is_best
from polarbear.racing.recommendation import MIN_PROBLEMS
from polarbear.records import Record, optional_key
from polarbear.selection.criteria import Criteria, criteria_of, strongest_rival
from polarbear.selection.criterion_names import (
    DEFAULT_RISK,
    DEFAULT_VALUE,
    Risk,
    ValueKind,
)
from polarbear.selection.expected_regret import InformationValue, value_of_information
from polarbear.selection.posterior_source import Basis, Contest
from polarbear.selection.preference import Context, Preference, Valuation
from polarbear.selection.preference_purpose import p_equivalent_for
from polarbear.selection.sweeps import SweepTable
from polarbear.settings.decision_levels import DEFAULT_QUANTILE_LEVEL
from polarbear.store import StoreOnDisk
from polarbear.wording import counted, joined, percent, probability, same_values, small

FEW_PROBLEMS = "only {problems} to compare it on"
NO_PROBLEMS = "at some of these times no problem to compare it on"
NO_BETTER_THAN_CHANCE = "P(best) does not exceed that of a random choice"
TOO_EARLY = "too early to recommend {name}: {reason}"
TOO_CLOSE = (
    "{first} and {second} differ by less than the Monte-Carlo error: either will do, or infer with "
    "more --draws"
)
EACH_TIME = (
    "the {model} model treats times as independent, so a preference over several times looks more "
    "certain than it is"
)
# Parts of the statement of a choice, which the report's page uses as well.
EARLY = "too early to say; "
RESTS = " on {problems}"
BEATS = "; beats {rival}, its strongest rival, on {share} of problems {where}"
AS_GOOD_AS = "; as good as {others}"
REGRET = "; expected regret {regret}, or {other_regret} with {other}"
EITHER = ": either will do"  # after the words on algorithms that had the same values
TOGETHER = "; together their P(best) = {probability}"
CRITERIA = {
    Risk.P2BB: "probability of being best",
    Risk.MEAN: "expected value",
    Risk.QUANTILE: "lower quantile",
    Risk.REGRET: "expected regret",
}


@dataclass(frozen=True)
class OtherChoice:
    """A criterion that prefers another algorithm, and the cost of the choice by that criterion."""

    criterion: Risk
    prefers: str
    cost: float
    words: str


@dataclass(frozen=True)
class JudgedAlgorithm:
    """The criteria of an algorithm; ``p2bb_error`` is the Monte-Carlo error.

    ``rival`` is its strongest rival, ``problems`` the number of problems that the two share, and
    ``times_as_long`` the factor of budget in which it reaches the values of its rival.
    """

    algorithm: str
    p2bb: float
    mean: float
    quantile: float
    regret: float
    p2bb_error: float
    competes: bool
    rival: str | None
    problems: int | None
    times_as_long: TimeFactor | None = None


@dataclass(frozen=True)
class JudgedPortfolio:
    """The criteria of a portfolio: names, with repetition."""

    portfolio: tuple[str, ...]
    p2bb: float
    mean: float
    quantile: float
    regret: float


@dataclass(frozen=True)
class PosteriorUsed:
    """The posterior that a choice rests on."""

    key: str
    from_: str
    model: str
    engine: str
    method: str
    draws: int
    instances: int
    passed: bool


@dataclass(frozen=True, repr=False)
class Answer(Record):
    """The choice and its evidence; optional parts that were not requested are None.

    ``portfolio_has_winner`` is how often the best portfolio has the winner, and ``next_slot_adds``
    the addition of one more slot, on the problems that all candidates ran on. ``times_as_long`` is
    the factor of budget in which the choice reaches the values of its strongest rival.
    ``as_good_as`` are candidates that are equivalent to the choice by the rules of the race.
    ``same_values`` are the candidates that had the values of the choice in all problems.
    ``features`` are those of the instance that the choice is for, ``problems_weighted`` is the
    effective number of past problems, and ``feature_cost`` is charged on the axis.
    """

    choice: str
    criterion: Risk
    preference: str
    preference_words: str
    statement: str
    value: ValueKind
    too_early: str | None
    gamma: float
    ranking: tuple[JudgedAlgorithm, ...]
    disagreements: tuple[OtherChoice, ...]
    candidates: tuple[str, ...]
    left_out: tuple[str, ...]
    left_out_because: str | None
    posterior: PosteriorUsed
    notes: tuple[str, ...]
    axis: str
    same_values: tuple[str, ...] = ()
    times_as_long: TimeFactor | None = None
    as_good_as: tuple[str, ...] = ()
    portfolio: tuple[str, ...] | None = optional_key()
    portfolio_ranking: tuple[JudgedPortfolio, ...] | None = optional_key()
    portfolios_possible: int | None = optional_key()
    portfolios_looked_at: int | None = optional_key()
    portfolio_search: str | None = optional_key()
    portfolio_values: str | None = optional_key()
    portfolio_has_winner: float | None = optional_key()
    next_slot_adds: float | None = optional_key()
    value_of_information: InformationValue | None = optional_key()
    sweep: SweepTable | None = optional_key()
    features: dict[str, str | float] | None = optional_key()
    problems_weighted: float | None = optional_key()
    feature_cost: float | None = optional_key()
    ROWS = "ranking"

    def one_line(self) -> str:
        return self.statement


@dataclass(frozen=True)
class Selection:
    """The choice, and every criterion of every algorithm in the answer.

    ``members`` are indices of these algorithms in the posterior, those of the contest first;
    ``criteria``, ``order`` and ``choice`` are about positions in ``members``, called items.
    """

    basis: Basis
    contest: Contest
    preference: Preference
    valuation: Valuation
    words: str
    risk: Risk
    value: ValueKind
    members: tuple[int, ...]
    criteria: Criteria
    order: tuple[int, ...]

    @property
    def competing(self) -> int:
        """The number of items that compete, which come first."""
        return len(self.contest.candidates)

    def name(self, item: int) -> str:
        return self.basis.algorithms[self.members[item]]

    @property
    def candidates(self) -> tuple[int, ...]:
        """Items that compete, from best to worst."""
        return tuple(item for item in self.order if item < self.competing)

    @property
    def choice(self) -> int:
        return self.candidates[0]

    @property
    def runner_up(self) -> int | None:
        return self.candidates[1] if self.competing > 1 else None

    @cached_property
    def rivals(self) -> tuple[int | None, ...]:
        """For each item, its strongest rival as an index of the posterior."""
        return tuple(
            strongest_rival(self.basis.posterior, member, self.contest.candidates, self.valuation)
            for member in self.members
        )

    @cached_property
    def same_as_choice(self) -> tuple[tuple[int, ...], int]:
        """The candidates that had the values of the choice in all problems, and their number.

        Only times that have weight in the preference count.
        """
        posterior = self.basis.posterior
        names = [self.name(item) for item in range(self.competing)]
        same_on = None
        if posterior.duels is not None:
            same_on = posterior.duels.same_values(posterior.algorithms, names)
        if same_on is None:
            return (), 0
        weights = self.valuation.weights
        has_weight = slice(None) if weights is None else weights > 0
        problems = same_on[has_weight, self.choice].min(axis=0)
        same = tuple(np.flatnonzero(problems).tolist())
        return same, int(problems[list(same)].min()) if same else 0

    @cached_property
    def problems(self) -> tuple[int | None, ...]:
        """For each item, the number of problems that it shares with its strongest rival.

        It is the lowest number at any time that matters to the preference.
        """
        lowest_counts: list[int | None] = []
        for member, rival in zip(self.members, self.rivals, strict=True):
            if rival is None:
                lowest_counts.append(None)
                continue
            counts = self.basis.posterior.problems_shared(member, rival)
            lowest_counts.append(None if counts is None else self._lowest(counts))
        return tuple(lowest_counts)

    def too_early(self) -> str | None:
        """Why the evidence is too small to recommend the choice, if it is."""
        problems = self.problems[self.choice]
        if self.runner_up is None:
            return None
        if problems is not None and problems < MIN_PROBLEMS:
            few_problems = FEW_PROBLEMS.format(problems=counted(problems, "problem"))
            return few_problems if problems else NO_PROBLEMS
        same, _ = self.same_as_choice
        is_chance = self.criteria.p2bb[[self.choice, *same]].sum() <= 1 / self.competing
        return NO_BETTER_THAN_CHANCE if is_chance and not self.as_good_as else None

    @cached_property
    def as_good_as(self) -> tuple[str, ...]:
        """Candidates that are as good as the choice, by the epsilon and alpha of the race.

        Without a race there are none. They are compared by duels, as in a race for the preference.
        """
        rules = self.basis.rules
        if rules is None or self.value != ValueKind.DUELS:
            return ()
        posterior = self.basis.posterior
        choice = self.members[self.choice]
        equivalent_items = []
        for item in self.candidates[1:]:
            wins = posterior.head_to_head(choice, self.members[item])
            is_equivalent = p_equivalent_for(self.valuation, wins, rules.epsilon) >= rules.alpha
            if is_equivalent and self._share_enough_problems(self.choice, item):
                equivalent_items.append(item)
        return tuple(self.name(item) for item in equivalent_items)

    def _share_enough_problems(self, item: int, other: int) -> bool:
        """Whether two items share as many problems as a recommendation needs."""
        counts = self.basis.posterior.problems_shared(self.members[item], self.members[other])
        return counts is None or bool(self._lowest(counts) >= MIN_PROBLEMS)

    def _lowest(self, counts: np.ndarray) -> int:
        """The lowest number at any time that matters to the preference."""
        return int(counts[self.valuation.is_used(len(counts))].min())

    def disagreements(self) -> tuple[OtherChoice, ...]:
        """Criteria under which another candidate is the better choice."""
        other_choices = []
        for risk in Risk:
            merit = self.criteria.merit(risk)
            best = max(self.candidates, key=lambda item: merit[item])
            same, _ = self.same_as_choice
            if merit[best] > merit[self.choice] and best not in same:
                other = self.name(best)
                cost = float(merit[best] - merit[self.choice])
                words = (
                    f"by {CRITERIA[risk]} the choice would be {other}; "
                    f"{self.name(self.choice)} costs {small(cost)} of it"
                )
                other_choices.append(OtherChoice(risk, other, cost, words))
        return tuple(other_choices)

    def too_close(self) -> bool:
        """Whether choice and runner-up differ by less than two Monte-Carlo errors."""
        other = self.runner_up
        same, _ = self.same_as_choice
        if other is None or other in same:
            return False
        if self.risk == Risk.QUANTILE or self.criteria.has_exact_p2bb:
            return False
        columns = self.criteria.values[:, [self.choice, other]]
        if self.risk == Risk.P2BB:
            columns = is_best(self.criteria.values[:, list(self.candidates)])[:, :2]
        gap = columns[:, 0] - columns[:, 1]
        error = gap.std() / np.sqrt(self.basis.effective_draws)
        return bool(abs(gap.mean()) < 2 * error)

    def p2bb_error(self) -> np.ndarray:
        """An upper bound for the Monte-Carlo error of each probability of being best."""
        if self.criteria.has_exact_p2bb and len(self.members) == self.competing:
            return np.zeros(self.competing)
        draws = self.basis.posterior.draws
        smoothed = (self.criteria.p2bb * draws + 0.5) / (draws + 1)
        return np.asarray(np.sqrt(smoothed * (1 - smoothed) / self.basis.effective_draws))

    def notes(self) -> list[str]:
        """Limits of the evidence that a reader should know."""
        notes = [*self.basis.notes, *self.valuation.notes]
        weights = self.valuation.weights
        has_several_times = weights is None or np.count_nonzero(weights) > 1
        if has_several_times and not self.basis.posterior.joint and len(self.basis.times) > 1:
            notes.append(EACH_TIME.format(model=self.basis.posterior.model))
        choice = self.name(self.choice)
        reason = self.too_early()
        if reason:
            notes.append(TOO_EARLY.format(name=choice, reason=reason))
        if self.runner_up is not None and self.too_close():
            notes.append(TOO_CLOSE.format(first=choice, second=self.name(self.runner_up)))
        if self.order[0] != self.choice:
            notes.append(f"{self.name(self.order[0])} comes first here, but does not compete")
        return notes

    def statement(self) -> str:
        """The choice, its probability, its evidence, and the cost of the runner-up."""
        name = self.name(self.choice)
        if self.runner_up is None:
            return f"{name}: no other algorithm competes"
        if self.same_as_choice[0] and not self.too_early():
            return self._statement_of_same_values()
        evidence = ""
        problems = self.problems[self.choice]
        if problems:
            evidence = RESTS.format(problems=counted(problems, "problem"))
        p_best = probability(self.criteria.p2bb[self.choice])
        statement = f"{name}: P(best) = {p_best}{evidence}{self._value_words()}"
        if self.too_early():
            statement = f"{EARLY}{statement} so far"
        if self.as_good_as:
            statement = f"{statement}{AS_GOOD_AS.format(others=joined(self.as_good_as))}"
        regret = REGRET.format(
            regret=small(self.criteria.regret[self.choice]),
            other_regret=small(self.criteria.regret[self.runner_up]),
            other=self.name(self.runner_up),
        )
        return f"{statement}{regret}"

    def _statement_of_same_values(self) -> str:
        """Which algorithms had the values of the choice, and their P(best) together."""
        same, n_problems = self.same_as_choice
        items = sorted((self.choice, *same))
        statement = same_values([self.name(item) for item in items], n_problems)
        if len(items) == self.competing:
            return f"{statement}{EITHER}"
        p_best = probability(float(self.criteria.p2bb[items].sum()))
        return f"{statement}{TOGETHER.format(probability=p_best)}"

    def information(self) -> InformationValue:
        """The possible gain of further rounds."""
        items = list(self.candidates)
        return value_of_information(
            self.criteria.values[:, items],
            self.criteria.p2bb[items],
            [self.name(item) for item in items],
        )

    def answer(self) -> Answer:
        """The choice, its ranking and its evidence, as records for JSON."""
        posterior = self.basis.posterior
        names = posterior.algorithms
        p2bb_error = self.p2bb_error()
        rivals = [None if rival is None else names[rival] for rival in self.rivals]
        left_out = tuple(names[i] for i in self.contest.left_out)
        return Answer(
            choice=self.name(self.choice),
            criterion=self.risk,
            preference=self.preference.text,
            preference_words=self.words,
            statement=self.statement(),
            value=self.value,
            too_early=self.too_early(),
            gamma=self.criteria.gamma,
            ranking=tuple(
                JudgedAlgorithm(
                    self.name(item),
                    *self.criteria.of(item),
                    p2bb_error=float(p2bb_error[item]),
                    competes=item < self.competing,
                    rival=rivals[item],
                    problems=self.problems[item],
                )
                for item in self.order
            ),
            disagreements=self.disagreements(),
            candidates=tuple(names[i] for i in self.contest.candidates),
            left_out=left_out,
            left_out_because=self.contest.reason if left_out else None,
            posterior=PosteriorUsed(
                key=posterior.key,
                from_=self.basis.source,
                model=posterior.model,
                engine=posterior.engine,
                method=posterior.method,
                draws=posterior.draws,
                instances=posterior.instances,
                passed=posterior.usable,
            ),
            notes=tuple(self.notes()),
            axis=self.basis.axis,
            as_good_as=self.as_good_as,
            same_values=tuple(self.name(item) for item in self.same_as_choice[0]),
        )

    def with_times_as_long(self, answer: Answer, store: StoreOnDisk) -> Answer:
        """The answer with the factor of each algorithm against its strongest rival.

        It is about the times that matter to the preference.
        """
        is_used = self.valuation.is_used(len(self.basis.times))
        names = {row.algorithm for row in answer.ranking} | {
            row.rival for row in answer.ranking if row.rival is not None
        }
        run_times = RunTimes(store, sorted(names), self.basis.times)
        ranking = []
        for row in answer.ranking:
            factor = None
            if row.rival is not None:
                factor = run_times.at_times(row.algorithm, row.rival, is_used)
            ranking.append(replace(row, times_as_long=factor))
        of_choice = next(row.times_as_long for row in ranking if row.algorithm == answer.choice)
        return replace(answer, ranking=tuple(ranking), times_as_long=of_choice)

    def _value_words(self) -> str:
        """The mean value of the choice in words; empty if a value need not be a share."""
        times = self.preference.times_in_words(self.valuation)
        if times is None:
            return ""
        mean = float(self.criteria.mean[self.choice])
        if self.value == ValueKind.DUELS:
            rival = self.rivals[self.choice]
            assert rival is not None
            rival_name = self.basis.algorithms[rival]
            return BEATS.format(rival=rival_name, share=percent(mean), where=times)
        if self.value == ValueKind.FIRSTS:
            field = "among those not eliminated " if self.basis.firsts_among_candidates else ""
            return f"; first {field}on {percent(mean)} of problems {times}"
        return f"; mean rating {small(mean)} {times}"


def select(
    basis: Basis,
    contest: Contest,
    preference: Preference,
    context: Context,
    risk: Risk = DEFAULT_RISK,
    gamma: float = DEFAULT_QUANTILE_LEVEL,
    show_all: bool = False,
    value: ValueKind = DEFAULT_VALUE,
) -> Selection:
    """Choose among the algorithms that compete; ``show_all`` shows the others as well.

    The criteria of the others compare them with those that compete.
    """
    if not contest.candidates:
        raise SelectionError("no algorithm competes; name at least one")
    valuation = preference.on(context)
    rivals = contest.candidates
    members = (*rivals, *contest.left_out) if show_all else rivals
    criteria = criteria_of(basis.posterior, members, valuation, value, gamma, rivals)
    return Selection(
        basis=basis,
        contest=contest,
        preference=preference,
        valuation=valuation,
        words=preference.words(context),
        risk=risk,
        value=value,
        members=members,
        criteria=criteria,
        order=tuple(criteria.order(risk).tolist()),
    )
