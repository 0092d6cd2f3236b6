"""The configuration that a store keeps, as one frozen, typed object."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from functools import cached_property
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    PrivateAttr,
    model_validator,
)

from polarbear.config.execution import Failures
from polarbear.problems.base import Trajectory
from polarbear.racing.rules import RaceLimits, with_stored_guarantee
from polarbear.rankings.front_duels import DuelRule, DuelSettings
from polarbear.settings.contract import ContractTimes, OptionalContract
from polarbear.settings.grid import Budget
from polarbear.settings.names import checked_name
from polarbear.settings.options import describe

PlainConfig = dict[str, Any]  # a configuration as it is stored: values of JSON
Seeds = Literal["separate", "common"]


class StoredAlgorithm(BaseModel):
    """An algorithm of a store.

    ``options`` are all its options as they are stored, with ``use`` and ``label``. The adapter that
    ``use`` names need not be installed.
    """

    model_config = ConfigDict(frozen=True, defer_build=True)

    use: str | None = None
    label: str | None = None
    contract: OptionalContract = None
    options: dict[str, Any]

    @model_validator(mode="before")
    @classmethod
    def _from_plain(cls, plain: object) -> object:
        if not isinstance(plain, Mapping):
            return plain
        texts = {key: plain[key] for key in ("use", "label") if isinstance(plain.get(key), str)}
        return {**texts, "contract": plain.get("contract"), "options": plain}


TYPED_OPTIONS = ("suite", "maximise", "weights", "objectives")  # of a suite


class StoredSuite(BaseModel):
    """The suite that the problems of a store are drawn from.

    ``options`` are all options of the suite as they are stored. The suite need not be installed.
    """

    model_config = ConfigDict(frozen=True, defer_build=True)

    suite: str
    maximise: bool = False
    weights: dict[str, float] = {}
    objectives: int = 1
    options: dict[str, Any]

    @model_validator(mode="before")
    @classmethod
    def _from_plain(cls, plain: object) -> object:
        if not isinstance(plain, Mapping):
            return plain
        typed = {key: plain[key] for key in TYPED_OPTIONS if key in plain}
        return {**typed, "options": plain}


class StoredSettings(BaseModel):
    """The configuration of everything in a store.

    ``failures`` and ``limits`` are parts of ``execution`` and ``race``, which imported stores lack.
    Keys that another version or a plug-in wrote are kept in the plain form.
    """

    model_config = ConfigDict(frozen=True, defer_build=True)

    seed: int
    seeds: Seeds = "separate"
    trajectory: Trajectory = "best"
    algorithms: dict[Annotated[str, AfterValidator(checked_name)], StoredAlgorithm]
    instances: StoredSuite
    budget: Budget
    failures: Failures
    limits: RaceLimits
    duels: DuelSettings = DuelSettings()
    _plain: PlainConfig = PrivateAttr()

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Self:
        """The settings from their plain form; a ValueError says what is wrong."""
        own_keys = ("seed", "seeds", "trajectory", "algorithms", "instances", "budget")
        typed = {key: plain[key] for key in own_keys if key in plain}
        typed["failures"] = _part(_part(plain, "execution"), "failures")
        limits = _part(_part(plain, "race"), "limits")
        typed["limits"] = {key: limits[key] for key in RaceLimits.model_fields if key in limits}
        typed["duels"] = _duel_settings(plain)
        settings = cls.model_validate(typed)
        settings._plain = dict(plain)
        return settings

    @cached_property
    def contracts(self) -> ContractTimes:
        """The contract times of each contract algorithm."""
        return {
            name: algorithm.contract.times(self.budget.times)
            for name, algorithm in self.algorithms.items()
            if algorithm.contract is not None
        }

    def plain(self) -> PlainConfig:
        """A copy of the plain form, which holds all keys that were stored."""
        return copy.deepcopy(self._plain)

    def part(self, key: str) -> object:
        """One part of the plain form, such as ``inference``; None where the store lacks it."""
        return self._plain.get(key)

    def as_configuration(self) -> PlainConfig:
        """The settings as a configuration file has them, with a list of algorithms."""
        entries = [
            {"name": name, **algorithm.options} for name, algorithm in self.algorithms.items()
        ]
        configuration = {**self.plain(), "algorithms": entries}
        rules = configuration.get("race")
        if isinstance(rules, Mapping):
            configuration["race"] = with_stored_guarantee(rules)
        return configuration

    def with_algorithms(self, algorithms: Mapping[str, StoredAlgorithm]) -> Self:
        """The same settings with other algorithms."""
        options = {name: algorithm.options for name, algorithm in algorithms.items()}
        return self.from_plain({**self._plain, "algorithms": options})

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, StoredSettings):
            return NotImplemented
        return self._plain == other._plain

    __hash__ = None  # type: ignore[assignment]  # equal ones may be written in several ways


def _duel_settings(plain: Mapping[str, Any]) -> DuelSettings:
    """How duels of fronts are decided, by the parts `race` and `instances`."""
    rules = _part(plain, "race")
    maximise = _part(plain, "instances").get("maximise") is True
    rule = rules.get("duel", DuelRule.COVERAGE)
    return DuelSettings.of(DuelRule(rule), rules.get("reference"), maximise)


def _part(plain: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    """A part of a plain configuration, which is empty where it is absent."""
    part = plain.get(key) or {}
    if not isinstance(part, Mapping):
        raise ValueError(f"'{key}' is not a mapping, but {describe(part)}")
    return part


def _settings_of_file(plain: object) -> StoredSettings:
    if isinstance(plain, StoredSettings):
        return plain
    if not isinstance(plain, Mapping):
        raise ValueError(f"it is not a mapping, but {describe(plain)}")
    return StoredSettings.from_plain(plain)


SettingsOfFile = Annotated[StoredSettings, BeforeValidator(_settings_of_file)]
