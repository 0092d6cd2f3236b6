"""Choices as records: their fields are the keys of `polarbear select --json`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from polarbear.plain import Record, asked, html_table
from polarbear.select import words
from polarbear.select.information import ENOUGH, value_of_information
from polarbear.wording import P_BEST, short

if TYPE_CHECKING:
    from polarbear.select.criteria import Criteria, Risk
    from polarbear.select.portfolio_cover import PortfolioCover, Portfolios
    from polarbear.select.posterior_source import Basis, Contest
    from polarbear.select.selection import Selection
    from polarbear.select.sweeps import Sweep
    from polarbear.select.values import Value

SHOWN_PORTFOLIOS = 5


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
    """What each criterion says of a portfolio: names, with repetition."""

    portfolio: tuple[str, ...]
    p2bb: float
    mean: float
    quantile: float
    regret: float


@dataclass(frozen=True)
class OtherChoice:
    """A criterion that prefers another algorithm, and what the choice costs by it."""

    criterion: Risk
    prefers: str
    cost: float
    words: str


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


@dataclass(frozen=True)
class RivalGain:
    """Whom racing on might show to be better, and what that would gain."""

    algorithm: str
    p2bb: float
    gain: float


@dataclass(frozen=True)
class InformationValue:
    """What racing on could still gain."""

    gain: float
    share: float
    enough: float
    words: tuple[str, ...]
    rivals: tuple[RivalGain, ...]


@dataclass(frozen=True)
class SweptInterval:
    """Neighbouring positions of a sweep with the same choice."""

    from_: float
    to: float
    choice: str
    p2bb: float
    lowest_p2bb: float
    highest_p2bb: float
    regret: float


@dataclass(frozen=True)
class SweepTable:
    """Where each candidate is the choice; ``p2bb`` has its values at each position by name."""

    over: str
    intervals: tuple[SweptInterval, ...]
    positions: tuple[float, ...]
    choices: tuple[str, ...]
    p2bb: dict[str, tuple[float, ...]]


@dataclass(frozen=True, repr=False)
class Answer(Record):
    """The choice and everything beside it; what was not asked for is None."""

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
    portfolio: tuple[str, ...] | None = asked()
    portfolio_ranking: tuple[JudgedPortfolio, ...] | None = asked()
    portfolios_possible: int | None = asked()
    portfolios_looked_at: int | None = asked()
    portfolio_search: str | None = asked()
    portfolio_values: str | None = asked()
    portfolio_has_winner: float | None = asked()
    next_slot_adds: float | None = asked()
    value_of_information: InformationValue | None = asked()
    sweep: SweepTable | None = asked()

    def one_line(self) -> str:
        return self.statement

    def _repr_html_(self) -> str:
        columns = ["algorithm", P_BEST, "mean", f"quantile {short(self.gamma)}", "expected regret"]
        rows = [
            [
                row.algorithm if row.competes else f"({row.algorithm})",
                f"{row.p2bb:.3f}",
                *(f"{value:.4f}" for value in (row.mean, row.quantile, row.regret)),
            ]
            for row in self.ranking
        ]
        lines = [self.preference_words, *(f"note: {note}" for note in self.notes)]
        return html_table(self.statement, columns, rows, lines)


def answer(made: Selection, contest: Contest) -> Answer:
    """The choice, as people and scripts are told of it."""
    basis, error = made.basis, made.p2bb_error()
    return Answer(
        choice=made.name(made.choice),
        criterion=made.risk,
        preference=made.preference.text,
        preference_words=made.words,
        statement=words.statement(made),
        value=made.value,
        too_early=made.too_early(),
        gamma=made.gamma,
        ranking=tuple(
            JudgedAlgorithm(
                made.name(item),
                *_judged(made.criteria, item),
                p2bb_error=float(error[item]),
                competes=made.competes[item],
                rival=_rival(made, item),
                problems=made.problems[item],
            )
            for item in made.order
        ),
        disagreements=tuple(
            OtherChoice(
                found.criterion,
                made.name(found.prefers),
                found.cost,
                words.disagreement(made, found),
            )
            for found in made.disagreements()
        ),
        candidates=tuple(basis.algorithms[i] for i in contest.candidates),
        left_out=tuple(basis.algorithms[i] for i in contest.left_out),
        left_out_because=contest.reason if contest.left_out else None,
        posterior=_used(basis),
        notes=tuple(made.notes()),
    )


def _rival(made: Selection, item: int) -> str | None:
    rival = made.rival(item)
    return None if rival is None else made.basis.algorithms[rival]


def with_portfolios(told: Answer, found: Portfolios, cover: PortfolioCover) -> Answer:
    """The answer with the best portfolio of its candidates, and the next ones.

    How often it has the winner, and what one more slot would add to that, is taken from the
    instances that all candidates ran on, however the portfolio was chosen.
    """
    best = tuple(sorted(set(found.slots[0])))
    has_winner = cover.has_winner(best)
    others = [i for i in range(len(told.candidates)) if i not in best]
    further = [cover.has_winner(tuple(sorted((*best, i)))) for i in others]
    rows = tuple(
        JudgedPortfolio(
            tuple(told.candidates[i] for i in found.slots[row]), *_judged(found.criteria, row)
        )
        for row in range(min(SHOWN_PORTFOLIOS, len(found.slots)))
    )
    return replace(
        told,
        portfolio=rows[0].portfolio,
        portfolio_ranking=rows,
        portfolios_possible=found.possible,
        portfolios_looked_at=len(found.slots),
        portfolio_search="exhaustive" if found.exhaustive else "greedy, then local search",
        portfolio_values=cover.meaning,
        portfolio_has_winner=has_winner,
        next_slot_adds=max(further, default=has_winner) - has_winner,
    )


def with_information(told: Answer, made: Selection) -> Answer:
    """The answer with what racing on could still gain."""
    found = value_of_information(made.values[:, list(made.candidates)], 0)
    rivals = tuple(
        RivalGain(made.name(made.candidates[rival.item]), rival.p2bb, rival.gain)
        for rival in found.rivals
    )
    said = tuple(words.information(made, found))
    gained = InformationValue(found.gain, found.share, ENOUGH, said, rivals)
    return replace(told, value_of_information=gained)


def with_sweep(told: Answer, swept: Sweep) -> Answer:
    """The answer with the choice among its candidates as the budget varies."""
    names = told.candidates
    table = SweepTable(
        over=swept.variations.name,
        intervals=tuple(
            SweptInterval(
                one.start,
                one.stop,
                names[one.choice],
                one.p2bb,
                one.lowest_p2bb,
                one.highest_p2bb,
                one.regret,
            )
            for one in swept.intervals()
        ),
        positions=tuple(swept.variations.positions.tolist()),
        choices=tuple(names[i] for i in swept.choices),
        p2bb={name: tuple(swept.p2bb[:, i].tolist()) for i, name in enumerate(names)},
    )
    return replace(told, sweep=table)


def _judged(criteria: Criteria, row: int) -> tuple[float, float, float, float]:
    """P2BB, mean, lower quantile and expected regret of one row."""
    columns = (criteria.p2bb, criteria.mean, criteria.quantile, criteria.regret)
    p2bb, mean, quantile, regret = (float(column[row]) for column in columns)
    return p2bb, mean, quantile, regret


def _used(basis: Basis) -> PosteriorUsed:
    posterior = basis.posterior
    return PosteriorUsed(
        key=basis.key,
        from_=basis.source,
        model=posterior.model,
        engine=posterior.engine,
        method=posterior.method,
        draws=posterior.n_draws,
        instances=basis.instances,
        passed=posterior.usable,
    )
