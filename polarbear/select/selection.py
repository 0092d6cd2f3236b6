"""One choice: a preference and a risk profile applied to a posterior."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from polarbear.errors import SelectionError
from polarbear.preferences import Context, Preference, Valuation
from polarbear.select.basis import Basis, Contest
from polarbear.select.criteria import GAMMA, RISKS, Criteria, Risk, judge, wins

EACH_TIME = (
    "the {model} model knows each time for itself, so a preference over several times looks surer "
    "than it is"
)


@dataclass(frozen=True)
class Disagreement:
    """A criterion that prefers another algorithm, and what the choice costs by that criterion."""

    criterion: Risk
    prefers: int
    cost: float


@dataclass(frozen=True)
class Selection:
    """The choice, and every criterion of every algorithm shown.

    ``shown`` are algorithms by their place in the posterior; ``criteria``, ``values[draw, item]``,
    ``competes``, ``order`` and ``choice`` speak of places in ``shown``.
    """

    basis: Basis
    preference: Preference
    valuation: Valuation
    words: str
    risk: Risk
    gamma: float
    shown: tuple[int, ...]
    competes: tuple[bool, ...]
    values: np.ndarray
    criteria: Criteria
    order: tuple[int, ...]
    choice: int

    def name(self, item: int) -> str:
        return self.basis.algorithms[self.shown[item]]

    @property
    def candidates(self) -> tuple[int, ...]:
        """Items that compete, from best to worst."""
        return tuple(item for item in self.order if self.competes[item])

    @property
    def runner_up(self) -> int | None:
        others = self.candidates[1:]
        return others[0] if others else None

    def disagreements(self) -> list[Disagreement]:
        """Criteria under which another candidate is the better choice."""
        found = []
        for risk in RISKS:
            merit = self.criteria.merit(risk)
            best = max(self.candidates, key=lambda item: merit[item])
            if merit[best] > merit[self.choice]:
                found.append(Disagreement(risk, best, float(merit[best] - merit[self.choice])))
        return found

    def too_close(self) -> bool:
        """Whether choice and runner-up differ by less than two Monte-Carlo errors."""
        other = self.runner_up
        if other is None or self.risk == "quantile":
            return False
        columns = self.values[:, [self.choice, other]]
        if self.risk == "p2bb":
            columns = wins(self.values, self.values.max(axis=1))[:, [self.choice, other]]
        gap = columns[:, 0] - columns[:, 1]
        error = gap.std() / np.sqrt(self.basis.effective_draws)
        return bool(abs(gap.mean()) < 2 * error)

    def p2bb_error(self) -> np.ndarray:
        """Monte-Carlo errors of the probabilities of being best, at worst."""
        draws = self.basis.posterior.n_draws
        smoothed = (self.criteria.p2bb * draws + 0.5) / (draws + 1)
        return np.asarray(np.sqrt(smoothed * (1 - smoothed) / self.basis.effective_draws))

    def notes(self) -> list[str]:
        """What a reader should know before trusting the numbers."""
        made = [*self.basis.notes, *self.valuation.notes]
        weights = self.valuation.weights
        several = weights is None or np.count_nonzero(weights) > 1
        if several and not self.basis.posterior.joint and len(self.basis.times) > 1:
            made.append(EACH_TIME.format(model=self.basis.posterior.model))
        if self.too_close() and self.runner_up is not None:
            made.append(
                f"{self.name(self.choice)} and {self.name(self.runner_up)} differ by less than the "
                "draws can tell: either will do, or infer with more --draws"
            )
        first = self.order[0]
        if not self.competes[first]:
            made.append(f"{self.name(first)} comes first here, but does not compete")
        return made


def select(
    basis: Basis,
    contest: Contest,
    preference: Preference,
    context: Context,
    risk: Risk = "p2bb",
    gamma: float = GAMMA,
    everyone: bool = False,
) -> Selection:
    """Choose among those who compete; ``everyone`` shows the others beside them."""
    if not contest.candidates:
        raise SelectionError("nobody competes; name at least one algorithm")
    valuation = preference.on(context)
    shown = tuple(sorted(contest.candidates + (contest.left_out if everyone else ())))
    theta = basis.posterior.theta
    values = valuation.values(theta if len(shown) == theta.shape[2] else theta[:, :, list(shown)])
    criteria = judge(values, gamma)
    order = tuple(criteria.order(risk))
    competes = tuple(item in contest.candidates for item in shown)
    choice = next(item for item in order if competes[item])
    return Selection(
        basis,
        preference,
        valuation,
        preference.words(context),
        risk,
        gamma,
        shown,
        competes,
        values,
        criteria,
        order,
        choice,
    )
