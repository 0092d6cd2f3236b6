"""Reads a space that is written in a configuration."""

from collections.abc import Mapping
from typing import Self

from pydantic import Field, field_validator, model_validator

from polarbear.settings.options import KeyPath, Options, Source, validate
from polarbear.spaces.expressions import Condition, Value, parse_condition
from polarbear.spaces.irace_parameters import checked_bounds, checked_values
from polarbear.spaces.space import Parameter, ParameterKind, Space

FORBIDDEN = "forbidden"  # the only key that is not the name of a parameter


class ParameterOptions(Options):
    """One parameter of a space."""

    real: list[float] | None = Field(None, description="the lowest and the highest real number")
    integer: list[int] | None = Field(None, description="the lowest and the highest integer")
    categorical: list[bool | int | float | str] | None = Field(
        None, description="values without an order"
    )
    ordered: list[bool | int | float | str] | None = Field(None, description="values in an order")
    log: bool = Field(False, description="draw numbers on a logarithmic scale")
    default: bool | int | float | str | None = Field(None, description="the default value")
    if_: str | None = Field(None, alias="if", description="a condition under which it is used")
    switch: str | None = Field(
        None, description="how a program receives it: '--NAME ' by default; '--name=' joins both"
    )

    @field_validator("real", "integer")
    @classmethod
    def _two_bounds(cls, bounds: list[float] | None) -> list[float] | None:
        if bounds is not None and len(bounds) != 2:
            raise ValueError(f"expected two bounds, the lowest and the highest, found {bounds}")
        return bounds

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        n_kinds = sum(getattr(self, kind.value) is not None for kind in ParameterKind)
        if n_kinds != 1:
            kinds = ", ".join(ParameterKind)
            raise ValueError(f"expected one of the keys {kinds}, found {n_kinds} of them")
        return self

    @property
    def kind(self) -> ParameterKind:
        return next(kind for kind in ParameterKind if getattr(self, kind.value) is not None)

    def parameter(self, name: str) -> Parameter:
        """The parameter; a ValueError says what is wrong."""
        low = 0.0
        high = 0.0
        values: tuple[Value, ...] = ()
        domain = getattr(self, self.kind.value)
        if self.kind in (ParameterKind.REAL, ParameterKind.INTEGER):
            low, high = checked_bounds(domain, self.kind, self.log)
        else:
            values = checked_values(domain, self.log)
        parameter = Parameter(
            name=name,
            kind=self.kind,
            low=low,
            high=high,
            values=values,
            is_log=self.log,
            default=self.default,
            condition=None if self.if_ is None else parse_condition(self.if_),
            switch=self.switch,
        )
        if self.default is not None:
            parameter.checked(self.default)
        return parameter


def read_inline_space(data: Mapping[str, object], source: Source, path: KeyPath) -> Space:
    """The space that a mapping describes; errors have the line of the key."""
    parameters = []
    for name, description in data.items():
        if name == FORBIDDEN:
            continue
        options = validate(ParameterOptions, description, source, (*path, name))
        try:
            parameters.append(options.parameter(name))
        except ValueError as error:
            raise source.error((*path, name), str(error)) from None
    try:
        return Space.of(parameters, _clauses(data.get(FORBIDDEN, [])))
    except ValueError as error:
        raise source.error(path, str(error)) from None


def _clauses(texts: object) -> list[Condition]:
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise ValueError(f"'{FORBIDDEN}' is a list of conditions, such as [\"a == 'x' and b > 3\"]")
    return [parse_condition(text) for text in texts]
