"""Reads spaces of ConfigSpace: its JSON, and both PCS formats.

ConfigSpace parses and checks the file; its own plain form is translated.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from polarbear.errors import MissingExtraError
from polarbear.spaces.expressions import Condition, Value, parse_condition
from polarbear.spaces.irace_parameters import checked_values, value_of_text
from polarbear.spaces.space import Parameter, ParameterKind, Space

PCS = ".pcs"
ENDINGS = (".json", PCS)
COMPARISONS = {
    **{"EQ": "==", "NEQ": "!=", "LT": "<", "GT": ">", "EQUALS": "=="},
    **{"CLAUSE_LT": "<", "CLAUSE_LE": "<=", "CLAUSE_GT": ">", "CLAUSE_GE": ">="},
    **{"RELATION_LT": "<", "RELATION_LE": "<=", "RELATION_EQ": "=="},
    **{"RELATION_GT": ">", "RELATION_GE": ">="},
}
JUNCTIONS = {"AND": " & ", "OR": " | "}
Plain = Mapping[str, Any]


def read_configspace(path: Path) -> Space:
    """The space in a file of ConfigSpace; a ValueError says what is wrong."""
    package = _configspace()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            if path.suffix == PCS:
                plain = _read_pcs(path.read_text(encoding="utf-8").splitlines())
            else:
                plain = package.ConfigurationSpace.from_json(path).to_serialized_dict()
    except Exception as error:  # whatever ConfigSpace raises, the file is the cause
        first_line = str(error).partition("\n")[0] or type(error).__name__
        raise ValueError(f"ConfigSpace cannot read {path}: {first_line}") from None
    try:
        return _Translation(plain, texts_are_values=path.suffix == PCS).space()
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def _configspace() -> ModuleType:
    try:
        import ConfigSpace
    except ImportError:
        raise MissingExtraError("reading JSON and PCS", "ConfigSpace", "design") from None
    return ConfigSpace


def _read_pcs(lines: list[str]) -> Plain:
    """A space in the newer PCS format or, where that fails, in the older one."""
    from ConfigSpace.read_and_write import pcs, pcs_new

    try:
        newer: Plain = pcs_new.read(lines).to_serialized_dict()
    except Exception as error_of_newer:  # the parsers raise anything
        try:
            older: Plain = pcs.read(lines).to_serialized_dict()
        except Exception:
            raise error_of_newer from None
        return older
    return newer


class _Translation:
    """The plain form of a ConfigSpace, translated to a space."""

    def __init__(self, plain: Plain, texts_are_values: bool) -> None:
        self._plain = plain
        self._texts_are_values = texts_are_values
        self._ordinals: dict[str, list[Any]] = {
            item["name"]: item["sequence"]
            for item in plain["hyperparameters"]
            if item["type"] == "ordinal"
        }

    def space(self) -> Space:
        conditions: dict[str, list[str]] = {}
        for item in self._plain["conditions"]:
            conditions.setdefault(item["child"], []).append(self._text(item))
        parameters = [
            self._parameter(item, conditions.get(item["name"], []))
            for item in self._plain["hyperparameters"]
        ]
        return Space.of(
            parameters, [parse_condition(self._text(item)) for item in self._plain["forbiddens"]]
        )

    def _parameter(self, item: Plain, conditions: list[str]) -> Parameter:
        name = item["name"]
        condition: Condition | None = None
        if conditions:
            condition = parse_condition(" & ".join(f"({text})" for text in conditions))
        kind = item["type"]
        if kind in ("categorical", "ordinal", "constant"):
            key = {"categorical": "choices", "ordinal": "sequence"}.get(kind)
            values = [item["value"]] if key is None else item[key]
            ordered = ParameterKind.ORDERED if kind == "ordinal" else ParameterKind.CATEGORICAL
            default = values[0] if key is None else item["default_value"]
            return Parameter(
                name=name,
                kind=ordered,
                values=checked_values([self._value(value) for value in values]),
                default=self._value(default),
                condition=condition,
            )
        if not kind.endswith(("_int", "_float")) or item.get("lower") is None:
            raise ValueError(f"the parameter '{name}' of the type {kind} has no bounds")
        return Parameter(
            name=name,
            kind=ParameterKind.INTEGER if kind.endswith("_int") else ParameterKind.REAL,
            low=float(item["lower"]),
            high=float(item["upper"]),
            is_log=bool(item.get("log")),
            default=item["default_value"],
            condition=condition,
        )

    def _value(self, value: Any) -> Value:
        if isinstance(value, str):
            return value_of_text(value) if self._texts_are_values else value
        if isinstance(value, bool | int | float):
            return value
        raise ValueError(f"a value is a number or a text, found {value!r}")

    def _text(self, item: Plain) -> str:
        """A condition or a forbidden clause in the notation of R."""
        kind = item["type"]
        if kind in JUNCTIONS:
            parts = item["conditions"] if "conditions" in item else item["clauses"]
            return JUNCTIONS[kind].join(f"({self._text(part)})" for part in parts)
        if kind.startswith("RELATION"):
            return f"`{item['left']}` {COMPARISONS[kind]} `{item['right']}`"
        name = item["parent"] if "parent" in item else item["name"]
        if kind == "IN":
            members = ", ".join(map(_quoted, item["values"]))
            return f"`{name}` %in% c({members})"
        sign = COMPARISONS[kind]
        if name in self._ordinals and sign not in ("==", "!="):
            members = ", ".join(map(_quoted, self._ranked(name, sign, item["value"])))
            return f"`{name}` %in% c({members})"
        return f"`{name}` {sign} {_quoted(item['value'])}"

    def _ranked(self, name: str, sign: str, value: Any) -> list[Any]:
        """The values of an ordered parameter before or after one of them."""
        sequence = self._ordinals[name]
        position = sequence.index(value)
        if sign.startswith("<"):
            members = sequence[: position + sign.endswith("=")]
        else:
            members = sequence[position + (not sign.endswith("=")) :]
        if not members:
            raise ValueError(f"no value of '{name}' is {sign} {value}")
        return list(members)


def _quoted(value: object) -> str:
    """A value as a condition has it."""
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, int | float):
        return repr(value)
    text = str(value)
    return f"'{text}'" if '"' in text else f'"{text}"'
