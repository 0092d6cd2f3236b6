"""The state of a race between rounds, and the checkpoint of a round.

Nothing in a checkpoint depends on the speed of the round: the same race leaves the same bytes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import combinations
from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np
from pydantic import InstanceOf, PlainValidator, TypeAdapter

from polarbear.errors import RaceError
from polarbear.inference.fit import NamedFit
from polarbear.racing.choice_questions import ChoiceQuestion, OpenChoice, OutForPurpose
from polarbear.racing.race_settings import RaceSettings
from polarbear.racing.rules import Rules
from polarbear.records import json_values
from polarbear.settings.contract import ContractTimes, decided_at

# The settled relation of a pair (a, b) at a time, and its letter in a checkpoint.
OPEN, ABOVE, BELOW, ALIKE, CROSSING, OUT = range(6)
LETTERS = ".><=x-"
MIRROR = np.array([OPEN, BELOW, ABOVE, ALIKE, CROSSING, OUT], dtype=np.int8)  # codes as b sees them


def _known_fields(fields: Mapping[str, object]) -> dict[str, object]:
    """The fields that are known, so that rounds of other versions are written as they were."""
    return {name: value for name, value in fields.items() if value is not None}


class Elimination(NamedTuple):
    """An elimination: which algorithm, by which other one, when, and with what probability.

    ``probability`` is P(dominated), the neutral estimate. ``sceptical`` and ``wealth`` are the
    evidence that decided: the probability under the sceptical prior (of a Plackett-Luce model under
    its own), at the time at which it was lowest or at all times jointly, and the betting wealth at
    the time at which it was lowest. Rounds of other versions may lack them.
    """

    algorithm: str
    by: str
    round: int
    instances: int
    probability: float
    sceptical: float | None = None
    wealth: float | None = None

    def to_plain(self) -> dict[str, object]:
        return _known_fields(self._asdict())


@dataclass(frozen=True)
class State:
    """The state of a race: everything that it keeps from one round to the next.

    ``settled[pair, time]`` has the pairs in the order of ``pairs``. ``joining`` is an algorithm
    that runs on instances the others have seen, so far on the first ``caught_up`` of them. The last
    newcomer ``entered`` after that round. ``initial`` is the number of algorithms at the start.
    ``choices`` are the questions about the choice of an algorithm. ``contracts`` has the contract
    times of each algorithm that makes one run for each of several budgets.
    """

    algorithms: tuple[str, ...]
    times: tuple[float, ...]
    batch: int
    settled: Annotated[np.ndarray, PlainValidator(lambda rows: np.array(rows, dtype=np.int8))]
    round: int = 0
    instances: int = 0
    eliminated: tuple[Elimination, ...] = ()
    joining: str | None = None
    caught_up: int = 0
    entered: int = 0
    untrusted: int = 0
    initial: int = 0
    choices: tuple[ChoiceQuestion, ...] = ()
    contracts: Mapping[str, tuple[float, ...]] = field(default_factory=dict)

    @property
    def pairs(self) -> list[tuple[str, str]]:
        return list(combinations(self.algorithms, 2))

    @property
    def candidates(self) -> tuple[str, ...]:
        """Algorithms that are not eliminated: the anytime Pareto set as far as it is known."""
        eliminated = {elimination.algorithm for elimination in self.eliminated}
        return tuple(name for name in self.algorithms if name not in eliminated)

    @property
    def is_for_preferences(self) -> bool:
        """Whether the race asks only for the choice for preferences, and not for the set."""
        return any(question.preference is not None for question in self.choices)

    @property
    def open_choices(self) -> tuple[OpenChoice, ...]:
        return tuple(choice for question in self.choices for choice in question.open)

    @property
    def seen(self) -> int:
        """The instances of earlier rounds, or those that the newcomer has caught up on."""
        return self.caught_up if self.joining else self.instances

    @property
    def open_pairs(self) -> list[tuple[str, str]]:
        """Pairs that are not settled at some time."""
        has_open = (self.settled == OPEN).any(axis=1)
        return [pair for pair, is_open in zip(self.pairs, has_open, strict=True) if is_open]

    @property
    def unresolved(self) -> tuple[str, ...]:
        """Candidates with an open pair."""
        names = {name for pair in self.open_pairs for name in pair}
        return tuple(name for name in self.algorithms if name in names)

    @property
    def share_settled(self) -> float:
        """The share of settled pairs: the paper's proportion of resolved algorithm pairs."""
        return float((self.settled != OPEN).all(axis=1).mean())

    @property
    def decided_at(self) -> np.ndarray | None:
        """The index of the time that decides each pair at each time: int[time, pair].

        A pair with contract algorithms is decided at the times at which each of them ends a run,
        and stays as it is until the next of these. None where all pairs are decided at all times.
        """
        if not self.contracts:
            return None
        times = np.array(self.times)
        ends_a_run = np.array(
            [np.isin(times, self.contracts.get(name, times)) for name in self.algorithms]
        )
        a, b = np.triu_indices(len(self.algorithms), 1)
        return decided_at(ends_a_run[a] & ends_a_run[b]).T

    def budget_at(self, name: str, time: float) -> float:
        """The budget of the run that counts at a time: the last contract time by then."""
        if name not in self.contracts:
            return time
        return max(budget for budget in self.contracts[name] if budget <= time)

    def relation(self, a: str, b: str) -> np.ndarray:
        """The settled relation of two algorithms at each time, as seen from the first."""
        if self.algorithms.index(a) < self.algorithms.index(b):
            return np.asarray(self.settled[self.pairs.index((a, b))])
        return np.asarray(MIRROR[self.settled[self.pairs.index((b, a))]])

    def in_order(self, names: Sequence[str]) -> State:
        """The same state with its algorithms in the order of these names."""
        order = [name for name in names if name in self.algorithms]
        order += [name for name in self.algorithms if name not in names]
        settled = np.stack([self.relation(*pair) for pair in combinations(order, 2)])
        eliminated = sorted(
            self.eliminated,
            key=lambda elimination: (elimination.round, order.index(elimination.algorithm)),
        )
        return replace(self, algorithms=tuple(order), settled=settled, eliminated=tuple(eliminated))

    def to_plain(self) -> dict[str, Any]:
        """The state as its checkpoint stores it."""
        plain = {
            "algorithms": self.algorithms,
            "times": self.times,
            "round": self.round,
            "instances": self.instances,
            "batch": self.batch,
            "candidates": self.candidates,
            "eliminated": self.eliminated,
            "joining": self.joining,
            "caught_up": self.caught_up,
            "entered": self.entered,
            "untrusted": self.untrusted,
            "initial": self.initial,
            "pairs": [
                {"a": a, "b": b, "settled": "".join(LETTERS[code] for code in row)}
                for (a, b), row in zip(self.pairs, self.settled, strict=True)
            ],
        }
        if self.choices:
            plain["choices"] = self.choices
        if self.contracts:
            plain["contracts"] = self.contracts
        return dict(json_values(plain))

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> State:
        """A state from its checkpoint; a ValueError, KeyError or TypeError says what is wrong."""
        rows = [[LETTERS.index(letter) for letter in pair["settled"]] for pair in plain["pairs"]]
        state: State = _state_reader().validate_python({**plain, "settled": rows})
        shape = (len(state.pairs), len(state.times))
        mentioned = {name for out in state.eliminated for name in (out.algorithm, out.by)}
        mentioned.update(state.contracts)
        if state.joining:
            mentioned.add(state.joining)
        for question in state.choices:
            mentioned.update(question.as_good_as)
            mentioned.update(name for choice in question.open for name in choice.algorithms)
            mentioned.update(name for out in question.out for name in (out.algorithm, out.by))
        if state.settled.shape != shape or not mentioned <= {*state.algorithms}:
            raise ValueError("its pairs, times and algorithms do not fit together")
        return state


@dataclass(frozen=True)
class RaceForecast:
    """Further instances until a race ends: the range and its median.

    ``high`` and ``likely`` are None beyond the horizon of the forecast. ``an_instance`` is the
    highest cost of one on the axis, as pairs stand.
    """

    DERIVED: ClassVar[tuple[str, ...]] = ("spent_at_most",)  # added to plain data

    low: int
    likely: int | None
    high: int | None
    an_instance: float

    @property
    def spent_at_most(self) -> float | None:
        return None if self.high is None else self.high * self.an_instance


class Decisions(NamedTuple):
    """The decisions of one round.

    ``newly_settled`` of ``open_before`` combinations of pair and time were settled. ``reopened``
    are pairs in which one was shown to be better at every time, but not with the evidence that an
    elimination needs: the times that lack it stay open. ``withheld`` are eliminations (algorithm,
    by) that the model asks for and the duels alone do not support. ``cycles`` are groups that
    dominate each other in a cycle, ``reinstated`` algorithms whose elimination a cycle has made
    doubtful.
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
    """The algorithm that comes nearest to eliminating a candidate, and its evidence.

    Its numbers are those of an `Elimination`.
    """

    by: str
    probability: float
    sceptical: float | None = None
    wealth: float | None = None

    def to_plain(self) -> dict[str, object]:
        return _known_fields(self._asdict())


class RoundRecord(NamedTuple):
    """One round of a race, as its checkpoint keeps it.

    ``ran_to`` is the time up to which each algorithm ran on each of the ``drawn`` instances, which
    begin at ``first`` in the order of the suite; ``ran_at`` are the budgets of the runs of contract
    algorithms, None without one. ``runs`` is the number of problems so far on which
    each algorithm was run, also of those that no round asked for.
    ``evaluations`` are those of each algorithm so far; ``spent`` is the same on another axis.
    ``posterior`` is the key of the posterior, which has this number of ``draws``; ``problems`` are
    reasons not to use it. ``settings`` are those that must not change during the race.
    ``p_any_wrong`` is P(at least one elimination so far is wrong), ``fit`` the check of fit of a
    Plackett-Luce model. ``forecast`` is a range of further instances until the race ends,
    ``instances_to_go`` its median; both are None where they are unknown.
    """

    state: State
    decisions: Decisions
    first: int
    drawn: int
    ran_to: Mapping[str, float]
    evaluations: Mapping[str, int]
    threats: Mapping[str, Threat]
    instances_to_go: int | None
    draws: int
    problems: tuple[str, ...]
    posterior: str
    settings: InstanceOf[RaceSettings]
    p_any_wrong: float | None = None
    fit: NamedFit | None = None
    spent: Mapping[str, float] | None = None
    forecast: RaceForecast | None = None
    runs: Mapping[str, int] | None = None
    ran_at: Mapping[str, tuple[float, ...]] | None = None

    @property
    def costs(self) -> Mapping[str, float]:
        """The time of each algorithm on the axis so far."""
        return self.evaluations if self.spent is None else self.spent

    @property
    def plackett_luce(self) -> bool:
        """Whether its posterior is of a Plackett-Luce model."""
        return self.settings.inference.plackett_luce

    @property
    def joint(self) -> bool:
        """Whether eliminations were joint over all times, not pointwise."""
        return self.settings.rules.elimination == "joint"

    @property
    def newcomer(self) -> str | None:
        """The algorithm that was catching up in this round."""
        return self.decisions.caught_up or self.state.joining

    def to_plain(self) -> dict[str, Any]:
        """The record as JSON."""
        parts = self._asdict()
        stored_settings = parts.pop("settings").stored
        plain: dict[str, Any] = {}
        for key, part in parts.items():
            if part or key not in ("spent", "forecast", "runs", "ran_at"):
                plain[key] = json_values(part)
            if key == "posterior":
                plain["rules"] = stored_settings["rules"]
                plain["inference"] = stored_settings["inference"]
        if stored_settings["settings"]:
            plain["settings"] = stored_settings["settings"]
        return plain

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> RoundRecord:
        """A record from its JSON; a ValueError, KeyError or TypeError says what is wrong."""
        state = State.from_plain(plain["state"])
        settings = RaceSettings.from_stored(
            {
                "rules": plain["rules"],
                "inference": plain["inference"],
                "settings": plain.get("settings", {}),
            }
        )
        fields = {key: plain[key] for key in plain if key not in ("rules", "inference")}
        first = plain.get("first", max(0, state.instances - plain["drawn"]))
        typed = {**fields, "state": state, "settings": settings, "first": first}
        record: RoundRecord = _round_reader().validate_python(typed)
        per_algorithm = (
            record.ran_to,
            record.evaluations,
            record.threats,
            record.spent or {},
            record.runs or {},
            record.ran_at or {},
        )
        names = {name for mapping in per_algorithm for name in mapping}
        names |= {name for out in record.decisions.eliminated for name in out[:2]}
        names |= {threat.by for threat in record.threats.values()}
        if names - {*state.algorithms}:
            raise ValueError("it names an algorithm that is not in the race")
        return record

    def renamed(self, old: str, new: str) -> RoundRecord:
        """The same round with a new name for one algorithm."""
        fields = [
            "state",
            "decisions",
            "ran_to",
            "ran_at",
            "evaluations",
            "spent",
            "runs",
            "threats",
            "fit",
        ]
        return self._replace(**{key: _renamed(getattr(self, key), old, new) for key in fields})


@cache
def _state_reader() -> TypeAdapter[State]:
    return TypeAdapter(State)


@cache
def _round_reader() -> TypeAdapter[RoundRecord]:
    return TypeAdapter(RoundRecord)


def _renamed(value: Any, old: str, new: str) -> Any:
    """A part of a record, in which an algorithm has a new name wherever it had the old one."""
    if isinstance(value, str):
        return new if value == old else value
    if isinstance(value, State):
        names = ("algorithms", "eliminated", "joining", "choices", "contracts")
        return replace(value, **{key: _renamed(getattr(value, key), old, new) for key in names})
    if isinstance(value, ChoiceQuestion):
        keys = ("open", "out", "choice", "as_good_as")
        return replace(value, **{key: _renamed(getattr(value, key), old, new) for key in keys})
    if isinstance(value, OpenChoice):
        return replace(value, algorithms=_renamed(value.algorithms, old, new))
    if isinstance(value, OutForPurpose):
        return replace(
            value,
            algorithm=_renamed(value.algorithm, old, new),
            by=_renamed(value.by, old, new),
        )
    if isinstance(value, Mapping):
        return {_renamed(key, old, new): _renamed(part, old, new) for key, part in value.items()}
    if isinstance(value, tuple):
        parts = [_renamed(part, old, new) for part in value]
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    return value


def start(
    algorithms: Sequence[str],
    times: Sequence[float],
    rules: Rules,
    contracts: ContractTimes | None = None,
) -> State:
    """A race in which nothing is known; ``contracts`` may be those of further algorithms, too."""
    if len(algorithms) < 2:
        raise RaceError(
            f"a race needs at least two algorithms, found {len(algorithms)}; add another under "
            "'algorithms', or use `polarbear run` for one alone"
        )
    n = len(algorithms)
    return State(
        algorithms=tuple(algorithms),
        times=tuple(map(float, times)),
        batch=rules.batch.start,
        settled=np.full((n * (n - 1) // 2, len(times)), OPEN, dtype=np.int8),
        initial=n,
        contracts={
            name: tuple(times.tolist())
            for name, times in (contracts or {}).items()
            if name in algorithms
        },
    )
