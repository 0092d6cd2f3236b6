"""The checkpoint of a round: its state, its decisions, and what they are based on.

Nothing in it depends on the speed of the round, so the same race leaves the same bytes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any, NamedTuple

from polarbear.inference.fit import NamedFit
from polarbear.plain import plain as as_plain
from polarbear.racing.forecast import Forecast
from polarbear.racing.state import Elimination, State


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
        parts = self._asdict()
        optional = ("p_any_wrong", "spent", "forecast", "settings")
        absent = {key for key in optional if parts[key] is None or parts[key] == {}}
        if "p_any_wrong" in absent:
            absent.add("fit")
        return {key: as_plain(part) for key, part in parts.items() if key not in absent}

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> RoundRecord:
        """A record from its JSON."""
        changed = {
            "state": State.from_plain(plain["state"]),
            "decisions": _decisions(plain["decisions"]),
            "threats": {name: Threat(**threat) for name, threat in plain["threats"].items()},
            "problems": tuple(plain["problems"]),
            "fit": NamedFit.from_plain(plain.get("fit")),
            "forecast": Forecast.from_plain(plain.get("forecast")),
        }
        return cls(**{**plain, **changed})

    def renamed(self, old: str, new: str) -> RoundRecord:
        """The same round with a new name for one algorithm."""
        fields = ("state", "decisions", "ran_to", "evaluations", "spent", "threats", "fit")
        return self._replace(**{key: _renamed(getattr(self, key), old, new) for key in fields})


def _decisions(plain: Mapping[str, Any]) -> Decisions:
    pairs = ("settled_pairs", "reopened", "withheld", "cycles")
    changed = {
        **{key: tuple(map(tuple, plain[key])) for key in pairs},
        "eliminated": tuple(Elimination(**entry) for entry in plain["eliminated"]),
        "reinstated": tuple(plain["reinstated"]),
    }
    return Decisions(**{**plain, **changed})


def _renamed(value: Any, old: str, new: str) -> Any:
    """A part of a record with a new name wherever it has the old one."""
    if isinstance(value, str):
        return new if value == old else value
    if isinstance(value, State):
        names = ("algorithms", "eliminated", "joining")
        return replace(value, **{key: _renamed(getattr(value, key), old, new) for key in names})
    if isinstance(value, Mapping):
        return {_renamed(key, old, new): _renamed(one, old, new) for key, one in value.items()}
    if isinstance(value, tuple):
        parts = [_renamed(one, old, new) for one in value]
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    return value
