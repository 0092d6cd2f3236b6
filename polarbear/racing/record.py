"""The checkpoint of a round: its state, its decisions, and what they are based on.

Nothing in it depends on the speed of the round, so the same race leaves the same bytes.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from polarbear.inference.named_fit import NamedFit
from polarbear.plain import plain as as_plain
from polarbear.racing.forecast_range import Forecast
from polarbear.racing.state import Elimination, State, from_plain, to_plain


class Decisions(NamedTuple):
    """The decisions of one round.

    ``newly_settled`` of ``open_before`` combinations of pair and time were settled. ``reopened``
    are pairs in which one was better at every time in different rounds, but never in one:
    their weakest time stays open. ``withheld`` are eliminations (algorithm, by) that the model
    asks for and the duels alone do not support. ``cycles`` are groups that dominate each other in
    a cycle, ``reinstated`` algorithms whose elimination a cycle has made doubtful.
    """

    eliminated: tuple[Elimination, ...] = ()
    settled_pairs: tuple[tuple[str, str], ...] = ()
    reopened: tuple[tuple[str, str], ...] = ()
    newly_settled: int = 0
    open_before: int = 0
    caught_up: str | None = None
    withheld: tuple[tuple[str, str], ...] = ()
    cycles: tuple[tuple[str, ...], ...] = ()
    reinstated: tuple[str, ...] = ()


class Threat(NamedTuple):
    """The algorithm that comes nearest to eliminating a candidate, and its probability."""

    by: str
    probability: float


class RoundRecord(NamedTuple):
    """One round of a race, as its checkpoint keeps it.

    ``ran_to`` is the time up to which each algorithm ran on each of the ``drawn`` instances.
    ``evaluations`` are those of each algorithm so far; ``spent`` is the same on another axis.
    ``posterior`` is the key of the posterior, which has this number of ``draws``; ``problems`` are
    reasons not to use it. ``rules`` and ``inference`` are settings of the configuration,
    ``settings`` those of its other parts that must not change (failures, weights).
    ``p_any_wrong`` is P(at least one elimination so far is wrong), ``fit`` the check of fit of a
    Plackett-Luce model. ``forecast`` is a range of further instances until the race ends,
    ``instances_to_go`` its median; both are None where they are unknown.
    """

    state: State
    decisions: Decisions
    drawn: int
    ran_to: Mapping[str, float]
    evaluations: Mapping[str, int]
    threats: Mapping[str, Threat]
    instances_to_go: int | None
    draws: int
    problems: tuple[str, ...]
    posterior: str
    rules: Mapping[str, Any]
    inference: Mapping[str, Any]
    p_any_wrong: float | None = None
    fit: NamedFit | None = None
    spent: Mapping[str, float] | None = None
    forecast: Forecast | None = None
    settings: Mapping[str, Any] = MappingProxyType({})

    @property
    def costs(self) -> Mapping[str, float]:
        """The time of each algorithm on the axis so far."""
        return self.evaluations if self.spent is None else self.spent

    @property
    def joint(self) -> bool:
        """Whether eliminations were joint over all times, not pointwise."""
        return bool(self.rules.get("elimination") == "joint")

    @property
    def newcomer(self) -> str | None:
        """The newcomer that was catching up in this round."""
        return self.decisions.caught_up or self.state.joining

    def to_plain(self) -> dict[str, Any]:
        """The record as JSON."""
        plain = {
            "state": to_plain(self.state),
            "decisions": as_plain(self.decisions),
            "drawn": self.drawn,
            "ran_to": dict(self.ran_to),
            "evaluations": dict(self.evaluations),
            "threats": {name: threat._asdict() for name, threat in self.threats.items()},
            "instances_to_go": self.instances_to_go,
            "draws": self.draws,
            "problems": list(self.problems),
            "posterior": self.posterior,
            "rules": dict(self.rules),
            "inference": dict(self.inference),
        }
        if self.p_any_wrong is not None:
            plain["p_any_wrong"] = self.p_any_wrong
            plain["fit"] = as_plain(self.fit)
        if self.spent is not None:
            plain["spent"] = dict(self.spent)
        if self.forecast is not None:
            plain["forecast"] = self.forecast.to_plain()
        if self.settings:
            plain["settings"] = dict(self.settings)
        return plain

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> RoundRecord:
        """A record from its JSON."""
        return cls(
            state=from_plain(plain["state"]),
            decisions=_decisions(plain["decisions"]),
            drawn=plain["drawn"],
            ran_to=plain["ran_to"],
            evaluations=plain["evaluations"],
            threats={name: Threat(**threat) for name, threat in plain["threats"].items()},
            instances_to_go=plain["instances_to_go"],
            draws=plain["draws"],
            problems=tuple(plain["problems"]),
            posterior=plain["posterior"],
            rules=plain["rules"],
            inference=plain["inference"],
            p_any_wrong=plain.get("p_any_wrong"),
            fit=NamedFit.from_plain(plain.get("fit")),
            spent=plain.get("spent"),
            forecast=Forecast.from_plain(plain.get("forecast")),
            settings=plain.get("settings", {}),
        )


def _decisions(plain: Mapping[str, Any]) -> Decisions:
    return Decisions(
        eliminated=tuple(Elimination(**entry) for entry in plain["eliminated"]),
        settled_pairs=tuple((a, b) for a, b in plain["settled_pairs"]),
        reopened=tuple((a, b) for a, b in plain["reopened"]),
        newly_settled=plain["newly_settled"],
        open_before=plain["open_before"],
        caught_up=plain["caught_up"],
        withheld=tuple((name, by) for name, by in plain["withheld"]),
        cycles=tuple(map(tuple, plain["cycles"])),
        reinstated=tuple(plain["reinstated"]),
    )
