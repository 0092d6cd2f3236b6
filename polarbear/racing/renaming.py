"""A round of a race with another name for one algorithm."""

from __future__ import annotations

from dataclasses import replace

from polarbear.inference.named_fit import NamedFit
from polarbear.racing.record import Decisions, RoundRecord, Threat
from polarbear.racing.state import Elimination, State


def renamed(record: RoundRecord, old: str, new: str) -> RoundRecord:
    """The same round with a new name for one algorithm."""

    def name(one: str) -> str:
        return new if one == old else one

    def elimination(one: Elimination) -> Elimination:
        return one._replace(algorithm=name(one.algorithm), by=name(one.by))

    def pairs(many: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
        return tuple((name(a), name(b)) for a, b in many)

    def state(one: State) -> State:
        return replace(
            one,
            algorithms=tuple(map(name, one.algorithms)),
            eliminated=tuple(map(elimination, one.eliminated)),
            joining=one.joining and name(one.joining),
        )

    def decisions(one: Decisions) -> Decisions:
        return one._replace(
            eliminated=tuple(map(elimination, one.eliminated)),
            settled_pairs=pairs(one.settled_pairs),
            reopened=pairs(one.reopened),
            caught_up=one.caught_up and name(one.caught_up),
            withheld=pairs(one.withheld),
            cycles=tuple(tuple(map(name, cycle)) for cycle in one.cycles),
            reinstated=tuple(map(name, one.reinstated)),
        )

    def fit(one: NamedFit) -> NamedFit:
        worst = tuple(m._replace(a=name(m.a), b=m.b and name(m.b)) for m in one.worst)
        return one._replace(worst=worst)

    return record._replace(
        state=state(record.state),
        decisions=decisions(record.decisions),
        ran_to={name(one): t for one, t in record.ran_to.items()},
        evaluations={name(one): spent for one, spent in record.evaluations.items()},
        spent=record.spent and {name(one): spent for one, spent in record.spent.items()},
        threats={
            name(one): Threat(name(threat.by), threat.probability)
            for one, threat in record.threats.items()
        },
        fit=record.fit and fit(record.fit),
    )
