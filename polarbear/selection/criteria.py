"""Values of algorithms for a preference in each draw, and four criteria that summarise them."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import NamedTuple, TypeVar

import numpy as np

from polarbear.errors import SelectionError
from polarbear.inference import Posterior
from polarbear.inference.strongest_rival import p_best, rival_values
from polarbear.rankings.ranking import NO_TOTAL_ORDER
from polarbear.selection.criterion_names import Risk, ValueKind
from polarbear.selection.preference import Valuation
from polarbear.settings.decision_levels import DEFAULT_QUANTILE_LEVEL
from polarbear.settings.options import unknown

Name = TypeVar("Name", bound=StrEnum)


class ExactCriteria(NamedTuple):
    """What is known of two items without draws: P(best) and the expected value, [..., item].

    ``has_error`` says where P(best) still has a Monte-Carlo error: between two times of the grid.
    """

    p2bb: np.ndarray
    mean: np.ndarray
    has_error: np.ndarray


@dataclass(frozen=True)
class Criteria:
    """Four criteria of values[draw, ..., item], for each item on the last axis.

    If only the first ``competing`` items compete, the others are compared with these. ``exact`` is
    about two competing items.
    """

    values: np.ndarray
    gamma: float = DEFAULT_QUANTILE_LEVEL
    competing: int | None = None
    exact: ExactCriteria | None = None

    def __post_init__(self) -> None:
        if not 0 < self.gamma < 1:
            raise SelectionError(
                f"the quantile level gamma must lie in (0, 1), found {self.gamma:g}"
            )

    @cached_property
    def _highest(self) -> np.ndarray:
        return np.asarray(self.values[..., : self.competing].max(axis=-1))

    @cached_property
    def p2bb(self) -> np.ndarray:
        """The probability of being best; of an item that does not compete, of being no worse."""
        probabilities = (self.values >= self._highest[..., None]).mean(axis=0)
        if self.exact is not None:
            probabilities[..., : self.competing] = self.exact.p2bb
        else:
            probabilities[..., : self.competing] = p_best(self.values[..., : self.competing])
        return np.asarray(probabilities)

    @cached_property
    def mean(self) -> np.ndarray:
        """The expected value."""
        means = self._mean_of_draws.copy()
        if self.exact is not None:
            means[..., : self.competing] = self.exact.mean
        return means

    @cached_property
    def _mean_of_draws(self) -> np.ndarray:
        return np.asarray(self.values.mean(axis=0, dtype=np.float64))

    @property
    def has_exact_p2bb(self) -> bool:
        """Whether P(best) of the competing items has no Monte-Carlo error."""
        return self.exact is not None and not self.exact.has_error.any()

    @cached_property
    def quantile(self) -> np.ndarray:
        """The value that is exceeded with probability 1 - gamma."""
        values = self.values.astype(np.float64, copy=False)
        return np.asarray(np.quantile(values, self.gamma, axis=0))

    @cached_property
    def regret(self) -> np.ndarray:
        """The expected loss compared with the item that is best in each draw."""
        highest = self._highest.mean(axis=0, dtype=np.float64)
        # Errors of the same draws cancel.
        return np.asarray(np.maximum(highest[..., None] - self._mean_of_draws, 0.0))

    def merit(self, risk: Risk) -> np.ndarray:
        """The criterion, with the sign for which more is better."""
        if risk == Risk.REGRET:
            return -self.regret
        return np.asarray(getattr(self, risk))

    def order(self, risk: Risk) -> np.ndarray:
        """Items from best to worst; the mean decides between equals, then the given order."""
        return np.lexsort((-self.mean, -self.merit(risk)))

    def best(self, risk: Risk) -> int:
        return int(self.order(risk)[0])

    def of(self, item: int) -> tuple[float, float, float, float]:
        """P2BB, mean, lower quantile and expected regret of one item."""
        return (
            float(self.p2bb[item]),
            float(self.mean[item]),
            float(self.quantile[item]),
            float(self.regret[item]),
        )


def check_risk(name: str) -> Risk:
    """The criterion of a name."""
    return _member(Risk, name, "risk profile")


def check_value(name: str, posterior: Posterior) -> ValueKind:
    """The kind of value of a name; an error if the posterior does not have it."""
    value = _member(ValueKind, name, "value")
    if value == ValueKind.DUELS:  # the package of its model need not be installed
        return value
    if not posterior.options.plackett_luce and not posterior.has_firsts:
        raise SelectionError(f"there is no value '{value}': {NO_TOTAL_ORDER}; use 'duels'")
    available = ValueKind.THETA if posterior.options.plackett_luce else ValueKind.FIRSTS
    if value != available:
        raise SelectionError(
            f"the {posterior.model} model has no value '{value}': use 'duels' or '{available}'"
        )
    return value


def _member(names: type[Name], name: str, kind: str) -> Name:
    """The member of an enumeration; ``kind`` says in an error message what it enumerates."""
    try:
        return names(name)
    except ValueError:
        raise SelectionError(unknown(kind, name, list(names))) from None


def draws_of_values(
    posterior: Posterior,
    items: Sequence[int],
    valuation: Valuation,
    value: ValueKind,
    rivals: Sequence[int] | None = None,
) -> np.ndarray:
    """V[draw, item] of the items, by duels against the rivals: by default against each other."""
    if value == ValueKind.DUELS:
        return rival_values(posterior, items, valuation.of_curve, rivals)
    return valuation.values(posterior.theta[:, :, list(items)])


def criteria_of(
    posterior: Posterior,
    items: Sequence[int],
    valuation: Valuation,
    value: ValueKind,
    gamma: float = DEFAULT_QUANTILE_LEVEL,
    rivals: Sequence[int] | None = None,
) -> Criteria:
    """The criteria of the items, of which the ``rivals`` compete: by default all.

    Of two algorithms at one time, P(best) is the probability that `infer --pairs` shows.
    """
    values = draws_of_values(posterior, items, valuation, value, rivals)
    competing = list(items if rivals is None else rivals)
    exact = None
    if value == ValueKind.DUELS and len(competing) == 2:
        exact = _exact_criteria(posterior, competing, valuation, values)
    return Criteria(values, gamma, len(competing), exact)


def _exact_criteria(
    posterior: Posterior, pair: Sequence[int], valuation: Valuation, values: np.ndarray
) -> ExactCriteria | None:
    """The criteria of a pair by its duels, at one time; None where a mean has more than two.

    With two times, between which a budget may lie, P(best) of the draws is corrected by its
    Monte-Carlo error at these two.
    """
    weights = valuation.weights
    if posterior.exact_duels is None or weights is None:
        return None
    n_times = np.count_nonzero(weights, axis=-1)
    if (n_times > 2).any():
        return None
    p_better = posterior.p_better(*pair)
    error = posterior.beats(*pair).mean(axis=0) - p_better
    p_of_draws = p_best(values[..., :2])[..., 0]
    p_first = np.where(n_times == 1, weights @ p_better, p_of_draws - weights @ error)
    p_first = np.clip(p_first, 0, 1)
    mean_of_first = weights @ posterior.win_rate(*pair)
    return ExactCriteria(
        p2bb=np.stack([p_first, 1 - p_first], axis=-1),
        mean=np.stack([mean_of_first, 1 - mean_of_first], axis=-1),
        has_error=n_times > 1,
    )


def strongest_rival(
    posterior: Posterior, item: int, rivals: Sequence[int], valuation: Valuation
) -> int | None:
    """The rival against which an item has the lowest mean value."""

    def mean_value(rival: int) -> float:
        return float(valuation.of_curve(posterior.head_to_head(item, rival)).mean())

    return min((rival for rival in rivals if rival != item), key=mean_value, default=None)
