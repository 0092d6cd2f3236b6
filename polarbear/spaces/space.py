"""A space of configurations, as one typed record: parameters, conditions, forbidden clauses."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Any

import numpy as np

from polarbear.settings.options import describe, unknown
from polarbear.spaces.expressions import Condition, Value, Values, are_equal

__all__ = ["Condition", "Parameter", "ParameterKind", "Space", "Value", "Values"]
MAX_DRAWS = 1_000  # of a configuration until one is not forbidden
SIGNIFICANT_DIGITS = 6  # of a drawn real number


class ParameterKind(StrEnum):
    """The kind of a parameter's values."""

    REAL = "real"
    INTEGER = "integer"
    CATEGORICAL = "categorical"
    ORDERED = "ordered"


@dataclass(frozen=True)
class Parameter:
    """One parameter: numbers between ``low`` and ``high``, or one of ``values``.

    It is used where its ``condition`` holds. ``switch`` is how a program receives it. ``decimals``
    is the number of decimals of real numbers, where the space limits it.
    """

    name: str
    kind: ParameterKind
    low: float = 0.0
    high: float = 0.0
    values: tuple[Value, ...] = ()
    is_log: bool = False
    default: Value | None = None
    condition: Condition | None = None
    switch: str | None = None
    decimals: int | None = None

    @property
    def is_numeric(self) -> bool:
        return self.kind in (ParameterKind.REAL, ParameterKind.INTEGER)

    @property
    def scaled_bounds(self) -> tuple[float, float]:
        """The bounds on the scale on which values are drawn; integers get their whole cells."""
        half = 0.5 if self.kind is ParameterKind.INTEGER else 0.0
        low = self.low - half
        high = self.high + half
        if not self.is_log:
            return low, high
        # The cell of 1 is as wide as that of the integers next to it.
        return math.log(low), math.log(high)

    def to_scale(self, value: Value) -> float:
        """A numeric value on the scale on which values are drawn."""
        return math.log(float(value)) if self.is_log else float(value)

    def from_scale(self, position: float) -> Value:
        """The value at a position of the scale."""
        number = math.exp(position) if self.is_log else position
        if self.kind is ParameterKind.INTEGER:
            return int(min(max(round(number), self.low), self.high))
        if self.decimals is not None:
            number = round(number, self.decimals)
        else:
            number = float(f"{number:.{SIGNIFICANT_DIGITS}g}")
        return float(min(max(number, self.low), self.high))

    def draw(self, rng: np.random.Generator) -> Value:
        """A value drawn uniformly on its scale."""
        if not self.is_numeric:
            return self.values[int(rng.integers(len(self.values)))]
        return self.from_scale(float(rng.uniform(*self.scaled_bounds)))

    def position_of(self, value: Value) -> int:
        """The position of one of the ``values``; a ValueError if it is none."""
        for position, member in enumerate(self.values):
            if are_equal(member, value):
                return position
        raise ValueError(self._refusal(value))

    def checked(self, value: object) -> Value:
        """The value in its own type; a ValueError if the parameter cannot have it."""
        if not isinstance(value, bool | int | float | str):
            raise ValueError(self._refusal(value))
        if not self.is_numeric:
            return self.values[self.position_of(value)]
        try:
            number = float(value)
        except (ValueError, OverflowError):
            raise ValueError(self._refusal(value)) from None
        is_whole = self.kind is ParameterKind.REAL or number.is_integer()
        if isinstance(value, bool) or not self.low <= number <= self.high or not is_whole:
            raise ValueError(self._refusal(value))
        return int(number) if self.kind is ParameterKind.INTEGER else number

    def _refusal(self, value: object) -> str:
        return f"'{self.name}' is {self.domain}, found {describe(value)}"

    @property
    def domain(self) -> str:
        """The possible values, in words."""
        if self.is_numeric:
            article = "an" if self.kind is ParameterKind.INTEGER else "a"
            return f"{article} {self.kind} from {self.low:g} to {self.high:g}"
        return f"one of {', '.join(map(str, self.values))}"

    def to_plain(self) -> dict[str, Any]:
        """The parameter as JSON, as a proposer receives it."""
        plain: dict[str, Any] = {"name": self.name, "type": self.kind.value}
        if self.is_numeric:
            convert = int if self.kind is ParameterKind.INTEGER else float
            plain |= {"low": convert(self.low), "high": convert(self.high), "log": self.is_log}
        else:
            plain["values"] = list(self.values)
        plain["default"] = self.default
        plain["if"] = None if self.condition is None else self.condition.text
        return plain


@dataclass(frozen=True)
class Space:
    """Parameters, each after those that its condition names, and forbidden clauses."""

    parameters: tuple[Parameter, ...]
    forbidden: tuple[Condition, ...] = ()

    @classmethod
    def of(cls, parameters: Sequence[Parameter], forbidden: Sequence[Condition] = ()) -> Space:
        """A space whose parameters are ordered by their conditions; a ValueError says its flaw."""
        names = [parameter.name for parameter in parameters]
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"the parameter '{name}' is defined twice")
        if not names:
            raise ValueError("the space has no parameter")
        conditions = [*forbidden, *(p.condition for p in parameters if p.condition is not None)]
        for condition in conditions:
            for name in sorted(condition.names):
                if name not in names:
                    problem = unknown("parameter", name, names)
                    raise ValueError(f"the condition '{condition.text}': {problem}")
        return cls(tuple(_ordered(parameters)), tuple(forbidden))

    @cached_property
    def by_name(self) -> Mapping[str, Parameter]:
        return {parameter.name: parameter for parameter in self.parameters}

    def draw(
        self,
        rng: np.random.Generator,
        draw_value: Callable[[Parameter], Value] | None = None,
    ) -> dict[str, Value]:
        """A configuration that no clause forbids.

        ``draw_value`` draws the value of a parameter that is used, by default uniformly.
        """
        for _ in range(MAX_DRAWS):
            values = self.draw_any(rng, draw_value)
            if not self.forbidden_by(values):
                return values
        raise ValueError(f"each of {MAX_DRAWS:,} draws is forbidden")

    def draw_any(
        self,
        rng: np.random.Generator,
        draw_value: Callable[[Parameter], Value] | None = None,
    ) -> dict[str, Value]:
        """A configuration that may be forbidden."""
        values: dict[str, Value] = {}
        for parameter in self.parameters:
            if parameter.condition is None or parameter.condition.holds(values):
                value = parameter.draw(rng) if draw_value is None else draw_value(parameter)
                values[parameter.name] = value
        return values

    def count_forbidden(self, rng: np.random.Generator, draws: int) -> int:
        """The number of forbidden ones among uniform draws."""
        return sum(bool(self.forbidden_by(self.draw_any(rng))) for _ in range(draws))

    def forbidden_by(self, values: Values) -> str:
        """The first clause that forbids a configuration, or an empty string."""
        for clause in self.forbidden:
            if clause.holds(values):
                return clause.text
        return ""

    def checked(self, values: Mapping[str, object]) -> dict[str, Value]:
        """A configuration in the order of the parameters; a ValueError says why it is invalid.

        Parameters that are used and have no value get their defaults. Those without a default stay
        away: the algorithm itself knows what it does then.
        """
        for name in values:
            if name not in self.by_name:
                raise ValueError(unknown("parameter", str(name), self.by_name))
        checked: dict[str, Value] = {}
        for parameter in self.parameters:
            is_used = parameter.condition is None or parameter.condition.holds(checked)
            is_given = values.get(parameter.name) is not None
            if is_given and not is_used:
                assert parameter.condition is not None
                raise ValueError(
                    f"'{parameter.name}' is used only if {parameter.condition.text}, which does "
                    "not hold"
                )
            if is_given:
                checked[parameter.name] = parameter.checked(values[parameter.name])
            elif is_used and parameter.default is not None:
                checked[parameter.name] = parameter.default
        clause = self.forbidden_by(checked)
        if clause:
            raise ValueError(f"it is forbidden by '{clause}'")
        return checked

    def defaults(self) -> dict[str, Value]:
        """The default values of the parameters that are used by default."""
        return self.checked({})

    def to_plain(self) -> dict[str, Any]:
        """The space as JSON, as a proposer receives it."""
        return {
            "parameters": [parameter.to_plain() for parameter in self.parameters],
            "forbidden": [clause.text for clause in self.forbidden],
        }


def _ordered(parameters: Sequence[Parameter]) -> Iterator[Parameter]:
    """The parameters, each after those that its condition names."""
    waiting = list(parameters)
    placed: set[str] = set()
    while waiting:
        ready = [p for p in waiting if p.condition is None or p.condition.names <= placed]
        if not ready:
            cycle = ", ".join(p.name for p in waiting)
            raise ValueError(f"the conditions of these parameters depend on each other: {cycle}")
        yield ready[0]
        placed.add(ready[0].name)
        waiting.remove(ready[0])
