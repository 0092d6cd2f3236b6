"""Diagnostics of a posterior as a record, with the thresholds that it must pass."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from polarbear.wording import counted, percent_cell

MAX_R_HAT = 1.01
MIN_ESS = 400.0
MAX_PARETO_K = 0.7
MAX_MISSED = 0.02
MIN_E_BFMI = 0.3


@dataclass(frozen=True)
class Diagnostics:
    """The worst values over all of theta; ``pareto_k`` exists for approximate methods only.

    ``missed`` is the share of draws beyond the range of hyperparameters that was covered.
    ``deep_trees`` counts transitions that reached NUTS's greatest depth: they cost time but do not
    fail; ``e_bfmi`` is the lowest of any chain, for Stan's NUTS. ``r_hat_limit`` is above MAX_R_HAT
    where few draws of many well-mixed ratings exceed it by chance.
    """

    DERIVED: ClassVar[tuple[str, ...]] = ("passed", "problems")  # added to plain data

    r_hat: float
    ess_bulk: float
    ess_tail: float
    divergences: int
    pareto_k: float | None
    acceptance: float | None
    attempts: int
    missed: float = 0.0
    deep_trees: int = 0
    e_bfmi: float | None = None
    r_hat_limit: float = MAX_R_HAT

    @property
    def problems(self) -> tuple[str, ...]:
        """Each failed threshold in one sentence; empty for a posterior that can be used."""
        found = []
        if not self.r_hat < self.r_hat_limit:
            found.append(f"R-hat is {self.r_hat:.3f}, should be below {self.r_hat_limit:.4g}")
        for name, ess in (("bulk", self.ess_bulk), ("tail", self.ess_tail)):
            if not ess >= MIN_ESS:
                found.append(f"{name} ESS is {ess:.0f}, should be at least {MIN_ESS:.0f}")
        if self.divergences:
            found.append(f"{counted(self.divergences, 'transition')} diverged, should be none")
        if self.pareto_k is not None and not self.pareto_k < MAX_PARETO_K:
            found.append(
                f"Pareto-k of the approximation is {self.pareto_k:.2f}, "
                f"should be below {MAX_PARETO_K}"
            )
        if not self.missed < MAX_MISSED:
            found.append(
                f"{percent_cell(self.missed, 1)} of draws crowd at the edge of the "
                f"hyperparameters' range, should be below {percent_cell(MAX_MISSED)}"
            )
        if self.e_bfmi is not None and not self.e_bfmi > MIN_E_BFMI:
            found.append(f"E-BFMI is {self.e_bfmi:.2f}, should be above {MIN_E_BFMI}")
        return tuple(found)

    @property
    def passed(self) -> bool:
        return not self.problems

    @property
    def converged(self) -> bool:
        """Whether chains agree and cover the posterior, so that at most more draws are needed."""
        return self.r_hat < self.r_hat_limit and not self.divergences and self.missed < MAX_MISSED

    def doubts(self, convergence: np.ndarray) -> np.ndarray:
        """Which parameters exceed a limit, by their `convergence_of`."""
        r_hat, bulk, tail = convergence.T
        good = (r_hat < self.r_hat_limit) & (bulk >= MIN_ESS) & (tail >= MIN_ESS)
        return np.asarray(~good)
