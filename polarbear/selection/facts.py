"""Choices as records: their fields are the keys of `polarbear select --json`."""

from __future__ import annotations

from dataclasses import dataclass, replace

from polarbear.plain import Record, asked, html_table
from polarbear.selection.choice import OtherChoice, Selection
from polarbear.selection.criteria import Risk, Value
from polarbear.selection.expected_regret import InformationValue, value_of_information
from polarbear.selection.portfolio_cover import PortfolioCover, Portfolios
from polarbear.selection.posterior_source import Contest
from polarbear.selection.sweeps import SweepTable
from polarbear.wording import P_BEST, short

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
    """The choice, its ranking and its evidence."""
    basis, posterior = made.basis, made.basis.posterior
    rivals = [made.rival(item) for item in range(len(made.shown))]
    error = made.p2bb_error()
    return Answer(
        choice=made.name(made.choice),
        criterion=made.risk,
        preference=made.preference.text,
        preference_words=made.words,
        statement=made.statement(),
        value=made.value,
        too_early=made.too_early(),
        gamma=made.gamma,
        ranking=tuple(
            JudgedAlgorithm(
                made.name(item),
                *made.criteria.of(item),
                p2bb_error=float(error[item]),
                competes=made.competes[item],
                rival=None if (rival := rivals[item]) is None else basis.algorithms[rival],
                problems=made.problems[item],
            )
            for item in made.order
        ),
        disagreements=made.disagreements(),
        candidates=tuple(basis.algorithms[i] for i in contest.candidates),
        left_out=tuple(basis.algorithms[i] for i in contest.left_out),
        left_out_because=contest.reason if contest.left_out else None,
        posterior=PosteriorUsed(
            key=basis.key,
            from_=basis.source,
            model=posterior.model,
            engine=posterior.engine,
            method=posterior.method,
            draws=posterior.n_draws,
            instances=basis.instances,
            passed=posterior.usable,
        ),
        notes=tuple(made.notes()),
    )


def with_portfolios(given: Answer, found: Portfolios, cover: PortfolioCover) -> Answer:
    """The answer with the best portfolio of its candidates, and the next ones.

    How often it has the winner, and the addition of one more slot, come from the instances that all
    candidates ran on, for any choice of the portfolio.
    """
    best = tuple(sorted(set(found.slots[0])))
    has_winner = cover.has_winner(best)
    others = [i for i in range(len(given.candidates)) if i not in best]
    further = [cover.has_winner(tuple(sorted((*best, i)))) for i in others]
    rows = tuple(
        JudgedPortfolio(tuple(given.candidates[i] for i in slots), *found.criteria.of(row))
        for row, slots in enumerate(found.slots[:SHOWN_PORTFOLIOS])
    )
    return replace(
        given,
        portfolio=rows[0].portfolio,
        portfolio_ranking=rows,
        portfolios_possible=found.possible,
        portfolios_looked_at=len(found.slots),
        portfolio_search="exhaustive" if found.exhaustive else "greedy, then local search",
        portfolio_values=cover.meaning,
        portfolio_has_winner=has_winner,
        next_slot_adds=max(further, default=has_winner) - has_winner,
    )


def with_information(given: Answer, made: Selection) -> Answer:
    """The answer with the possible gain of further rounds."""
    items = list(made.candidates)
    found = value_of_information(made.values[:, items], [made.name(item) for item in items])
    return replace(given, value_of_information=found)
