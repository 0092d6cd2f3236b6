"""Who is best when, and how sure that is: stretches of time with one answer, or with several."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby

import numpy as np

from polarbear.report.material import Material, once
from polarbear.report.moment import draws_now, still_in
from polarbear.select.criteria import p2bb

LIKELY = 2 / 3  # P(best) from which on somebody is named alone
SURE = 0.9  # P(best) that it takes at half of the times to say "run", not "probably"


class Grade(StrEnum):
    """How much can be said: whom to run, whom probably, or nothing yet."""

    RUN = "run"
    PROBABLY = "probably"
    EARLY = "too early"


@dataclass(frozen=True)
class Stretch:
    """Neighbouring times with the same answer: one algorithm, or several that may be best."""

    algorithms: tuple[str, ...]
    start: float
    stop: float
    times: int

    @property
    def is_open(self) -> bool:
        return len(self.algorithms) > 1


@dataclass(frozen=True)
class Advice:
    """Stretches that leave out no time of the grid; ``sure`` is the share of times that are."""

    grade: Grade
    stretches: tuple[Stretch, ...]
    sure: float


@once
def p_best(material: Material) -> tuple[tuple[str, ...], np.ndarray]:
    """Who may be chosen, and P(best at t)[time, algorithm] among them; ties are shared."""
    basis = draws_now(material)
    assert basis is not None
    names = tuple(name for name in basis.algorithms if name in still_in(material))
    theta = basis.posterior.theta[:, :, [basis.algorithms.index(name) for name in names]]
    return names, np.stack([p2bb(theta[:, t]) for t in range(theta.shape[1])])


def advise(names: Sequence[str], times: np.ndarray, likely: np.ndarray) -> Advice:
    """What P(best)[time, algorithm] comes to.

    Where nobody is likely alone, those are named who together are.
    """
    lead = likely.max(axis=1)
    sure, alone = float((lead >= SURE).mean()), float((lead >= LIKELY).mean())
    grade = Grade.RUN if sure >= 0.5 else Grade.PROBABLY if alone >= 0.5 else Grade.EARLY
    answers = [_enough(chances) for chances in likely]
    made = []
    for _, run in groupby(range(len(times)), lambda t: answers[t] if len(answers[t]) == 1 else ()):
        places = list(run)
        together = {item for t in places for item in answers[t]}
        items = sorted(together, key=lambda item: -likely[places, item].sum())
        start, stop = float(times[places[0]]), float(times[places[-1]])
        made.append(Stretch(tuple(names[i] for i in items), start, stop, len(places)))
    return Advice(grade, tuple(made), sure)


def _enough(chances: np.ndarray) -> tuple[int, ...]:
    """The fewest of whom one is likely to be the best."""
    order = np.argsort(-chances, kind="stable")
    reached = np.cumsum(chances[order]) >= LIKELY - 1e-9  # rounding of sums
    return tuple(order[: int(reached.argmax()) + 1].tolist())


def leaders(names: Sequence[str], times: np.ndarray, merit: np.ndarray) -> list[Stretch]:
    """Stretches of whoever has the most of merit[time, algorithm], in the order of time."""
    made = []
    leader = merit.argmax(axis=1).tolist()
    for who, run in groupby(range(len(leader)), leader.__getitem__):
        places = list(run)
        start, stop = float(times[places[0]]), float(times[places[-1]])
        made.append(Stretch((names[who],), start, stop, len(places)))
    return made
