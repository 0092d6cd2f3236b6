"""One choice: a preference and a risk profile applied to a posterior, and its statement."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from polarbear.errors import SelectionError
from polarbear.inference.strongest_rival import is_best
from polarbear.racing.recommendation import MIN_PROBLEMS
from polarbear.records import Record, optional_key
from polarbear.selection.basic_preferences import At, Final, WorstCase
from polarbear.selection.criteria import (
    RISKS,
    Criteria,
    Risk,
    Value,
    draws_of_values,
    strongest_rival,
)
from polarbear.selection.expected_regret import InformationValue, value_of_information
from polarbear.selection.posterior_source import Basis, Contest
from polarbear.selection.preference import Context, Preference, Valuation
from polarbear.selection.sweeps import SweepTable
from polarbear.settings.decision_levels import DEFAULT_QUANTILE_LEVEL
from polarbear.wording import counted, percent, probability, small

FEW_PROBLEMS = "only {problems} to compare it on"
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
# How a value combines the times of a preference.
AT_THE_BUDGET = "at this budget"
OVER_BUDGETS = "on average over these budgets"
AT_ITS_WORST = "at its worst time"
# Parts of the statement of a choice, which the report's page uses as well.
EARLY = "too early to say; "
RESTS = " on {problems}"
BEATS = "; beats {rival}, its strongest rival, on {share} of problems {where}"
REGRET = "; expected regret {regret}, or {other_regret} with {other}"
CRITERIA = {
    "p2bb": "probability of being best",
    "mean": "expected value",
    "quantile": "lower quantile",
    "regret": "expected regret",
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

    ``rival`` is its strongest rival, ``problems`` the number of problems that the two share.
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
    the addition of one more slot, on the problems that all candidates ran on.
    """

    choice: str
    criterion: Risk
    preference: str
    preference_words: str
    statement: str
    value: Value
    too_early: str | None
    gamma: float
    ranking: tuple[JudgedAlgorithm, ...]
    disagreements: tuple[OtherChoice, ...]
    candidates: tuple[str, ...]
    left_out: tuple[str, ...]
    left_out_because: str | None
    posterior: PosteriorUsed
    notes: tuple[str, ...]
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
    ROWS = "ranking"

    def one_line(self) -> str:
        return self.statement


@dataclass(frozen=True)
class Selection:
    """The choice, and every criterion of every algorithm shown.

    ``shown`` are indices of algorithms in the posterior, those of the contest first; ``criteria``,
    ``order`` and ``choice`` are about positions in ``shown``.
    """

    basis: Basis
    contest: Contest
    preference: Preference
    valuation: Valuation
    words: str
    risk: Risk
    value: Value
    shown: tuple[int, ...]
    criteria: Criteria
    order: tuple[int, ...]

    @property
    def competing(self) -> int:
        """The number of items that compete, which come first."""
        return len(self.contest.candidates)

    def name(self, item: int) -> str:
        return self.basis.algorithms[self.shown[item]]

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
        given = self.contest.candidates, self.valuation
        return tuple(strongest_rival(self.basis.posterior, one, *given) for one in self.shown)

    @cached_property
    def problems(self) -> tuple[int | None, ...]:
        """For each item, the lowest number of problems at a time of the preference that it shares
        with its strongest rival."""
        weights, posterior = self.valuation.weights, self.basis.posterior
        used = slice(None) if weights is None else weights > 0
        shared = [
            None if rival is None else posterior.problems_shared(item, rival)
            for item, rival in zip(self.shown, self.rivals, strict=True)
        ]
        return tuple(None if counts is None else int(counts[used].min()) for counts in shared)

    def too_early(self) -> str | None:
        """Why the evidence is too small to recommend the choice, if it is."""
        problems = self.problems[self.choice]
        if self.runner_up is None:
            return None
        if problems is not None and problems < MIN_PROBLEMS:
            return FEW_PROBLEMS.format(problems=counted(problems, "problem"))
        is_chance = self.criteria.p2bb[self.choice] <= 1 / self.competing
        return NO_BETTER_THAN_CHANCE if is_chance else None

    def disagreements(self) -> tuple[OtherChoice, ...]:
        """Criteria under which another candidate is the better choice."""
        found = []
        for risk in RISKS:
            merit = self.criteria.merit(risk)
            best = max(self.candidates, key=lambda item: merit[item])
            if merit[best] > merit[self.choice]:
                other, cost = self.name(best), float(merit[best] - merit[self.choice])
                words = (
                    f"by {CRITERIA[risk]} the choice would be {other}; "
                    f"{self.name(self.choice)} costs {small(cost)} of it"
                )
                found.append(OtherChoice(risk, other, cost, words))
        return tuple(found)

    def too_close(self) -> bool:
        """Whether choice and runner-up differ by less than two Monte-Carlo errors."""
        other = self.runner_up
        if other is None or self.risk == "quantile":
            return False
        columns = self.criteria.values[:, [self.choice, other]]
        if self.risk == "p2bb":
            columns = is_best(self.criteria.values[:, list(self.candidates)])[:, :2]
        gap = columns[:, 0] - columns[:, 1]
        error = gap.std() / np.sqrt(self.basis.effective_draws)
        return bool(abs(gap.mean()) < 2 * error)

    def p2bb_error(self) -> np.ndarray:
        """Monte-Carlo errors of the probabilities of being best, at worst."""
        draws = self.basis.posterior.draws
        smoothed = (self.criteria.p2bb * draws + 0.5) / (draws + 1)
        return np.asarray(np.sqrt(smoothed * (1 - smoothed) / self.basis.effective_draws))

    def notes(self) -> list[str]:
        """Limits of the evidence that a reader should know."""
        made = [*self.basis.notes, *self.valuation.notes]
        weights = self.valuation.weights
        several = weights is None or np.count_nonzero(weights) > 1
        if several and not self.basis.posterior.joint and len(self.basis.times) > 1:
            made.append(EACH_TIME.format(model=self.basis.posterior.model))
        early, (choice, *others) = self.too_early(), map(self.name, self.candidates)
        if early:
            made.append(TOO_EARLY.format(name=choice, reason=early))
        if self.too_close():
            made.append(TOO_CLOSE.format(first=choice, second=others[0]))
        if self.order[0] != self.choice:
            made.append(f"{self.name(self.order[0])} comes first here, but does not compete")
        return made

    def statement(self) -> str:
        """The choice, its probability, its evidence, and the cost of the runner-up."""
        criteria, name, other = self.criteria, self.name(self.choice), self.runner_up
        if other is None:
            return f"{name}: no other algorithm competes"
        problems = self.problems[self.choice]
        rests = "" if problems is None else RESTS.format(problems=counted(problems, "problem"))
        sure = f"P(best) = {probability(criteria.p2bb[self.choice])}"
        how = f"{name}: {sure}{rests}{self._value_words()}"
        if self.too_early():
            how = f"{EARLY}{how} so far"
        return how + REGRET.format(
            regret=small(criteria.regret[self.choice]),
            other_regret=small(criteria.regret[other]),
            other=self.name(other),
        )

    def information(self) -> InformationValue:
        """The possible gain of further rounds."""
        items = list(self.candidates)
        return value_of_information(
            self.criteria.values[:, items], [self.name(item) for item in items]
        )

    def answer(self) -> Answer:
        """The choice, its ranking and its evidence, as records for JSON."""
        basis, posterior, error = self.basis, self.basis.posterior, self.p2bb_error()
        names = posterior.algorithms
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
                    p2bb_error=float(error[item]),
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
                from_=basis.source,
                model=posterior.model,
                engine=posterior.engine,
                method=posterior.method,
                draws=posterior.draws,
                instances=posterior.instances,
                passed=posterior.usable,
            ),
            notes=tuple(self.notes()),
        )

    def _value_words(self) -> str:
        """The mean value of the choice in words; none if a value need not be a share."""
        if isinstance(self.preference, At | Final):
            taken = AT_THE_BUDGET
        elif isinstance(self.preference, WorstCase):
            taken = AT_ITS_WORST
        elif self.valuation.weights is not None:
            taken = OVER_BUDGETS
        else:
            return ""
        mean = float(self.criteria.mean[self.choice])
        if self.value == "duels":
            rival = self.rivals[self.choice]
            assert rival is not None
            beaten = self.basis.algorithms[rival]
            return BEATS.format(rival=beaten, share=percent(mean), where=taken)
        if self.value == "firsts":
            field = "among the Pareto set " if self.basis.firsts_among_candidates else ""
            return f"; first {field}on {percent(mean)} of problems {taken}"
        return f"; mean rating {small(mean)} {taken}"


def select(
    basis: Basis,
    contest: Contest,
    preference: Preference,
    context: Context,
    risk: Risk = "p2bb",
    gamma: float = DEFAULT_QUANTILE_LEVEL,
    show_all: bool = False,
    value: Value = "duels",
) -> Selection:
    """Choose among the algorithms that compete; ``show_all`` shows the others as well.

    The criteria of the others compare them with those that compete.
    """
    if not contest.candidates:
        raise SelectionError("no algorithm competes; name at least one")
    valuation, posterior, rivals = preference.on(context), basis.posterior, contest.candidates
    shown = (*rivals, *(contest.left_out if show_all else ()))
    values = draws_of_values(posterior, shown, valuation, value, rivals)
    criteria = Criteria(values, gamma, len(rivals))
    return Selection(
        basis=basis,
        contest=contest,
        preference=preference,
        valuation=valuation,
        words=preference.words(context),
        risk=risk,
        value=value,
        shown=shown,
        criteria=criteria,
        order=tuple(criteria.order(risk).tolist()),
    )
