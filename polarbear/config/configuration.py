"""Reads one configuration file into one frozen object."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from pydantic import Field

from polarbear.algorithms import ADAPTERS, Algorithm
from polarbear.config.design_options import DesignOptions
from polarbear.config.design_spaces import Design, DesignSpace, configured_algorithms
from polarbear.config.execution import Execution
from polarbear.config.stored_settings import PlainConfig, Seeds, StoredSettings
from polarbear.errors import ConfigError
from polarbear.inference.model_options import ModelOptions
from polarbear.inference.models import joint_models
from polarbear.numerics.seeds import run_seed
from polarbear.problems import SUITES, Setting, Suite
from polarbear.problems.base import Trajectory
from polarbear.racing.rules import Rules
from polarbear.rankings.front_duels import DuelSettings
from polarbear.settings.contract import ContractTimes
from polarbear.settings.grid import EVALUATIONS, TIMED_AXES, Budget
from polarbear.settings.options import (
    KeyPath,
    Options,
    Source,
    describe,
    nearest,
    unknown,
    validate,
)
from polarbear.settings.registry import Registry
from polarbear.settings.yaml_lines import read_yaml
from polarbear.wording import counted, joined


@dataclass(frozen=True)
class Config:
    """All settings of a user, with all defaults.

    ``spaces`` are those of algorithms that have one, by their names; ``designs`` say which
    algorithms are configurations of them.
    """

    seed: int
    algorithms: tuple[Algorithm, ...]
    instances: Suite
    budget: Budget
    execution: Execution
    race: Rules
    inference: ModelOptions
    folder: str = "."
    seeds: Seeds = "separate"
    trajectory: Trajectory = "best"
    spaces: Mapping[str, DesignSpace] = field(default_factory=dict)
    designs: Mapping[str, Design] = field(default_factory=dict)
    design: DesignOptions = field(default_factory=DesignOptions)

    def run_seed(
        self,
        algorithm: Algorithm,
        instance: str,
        known_as: str | None = None,
        budget: float | None = None,
    ) -> int:
        """The seed of an algorithm on an instance; ``known_as`` is its earlier name.

        The runs of a contract algorithm differ in their ``budget``, and each has a seed of its own,
        unless all algorithms share one.
        """
        if self.seeds == "common" or algorithm.common_seed:
            return run_seed(self.seed, instance, None)
        name = known_as or algorithm.name
        if algorithm.contract is None or budget is None:
            return run_seed(self.seed, instance, name)
        return run_seed(self.seed, instance, name, contract=f"{budget:.15g}")

    @cached_property
    def contracts(self) -> ContractTimes:
        """The contract times of each contract algorithm."""
        return {
            algorithm.name: algorithm.contract.times(self.budget.times)
            for algorithm in self.algorithms
            if algorithm.contract is not None
        }

    @property
    def runs_on_an_instance(self) -> int:
        """The number of runs of all algorithms."""
        return sum(len(self.budgets_of(algorithm.name)) for algorithm in self.algorithms)

    def budgets_of(self, algorithm: str, until: float | None = None) -> tuple[float, ...]:
        """The budgets of the runs that an algorithm makes on an instance, up to a time."""
        end = self.budget.limit if until is None else until
        if algorithm not in self.contracts:
            return (end,)
        times = self.contracts[algorithm]
        return tuple(times[times <= end].tolist())

    @property
    def duels(self) -> DuelSettings:
        """How duels of fronts are decided, with several objectives."""
        return DuelSettings.of(self.race.duel, self.race.reference, self.instances.maximise)

    @property
    def setting(self) -> Setting:
        names = tuple(algorithm.name for algorithm in self.algorithms)
        return Setting(self.seed, self.budget, self.folder, names, self.trajectory)

    def plain(self) -> PlainConfig:
        """The configuration as stored: complete, as plain data."""
        return {
            "seed": self.seed,
            "seeds": self.seeds,
            "trajectory": self.trajectory,
            "algorithms": {
                algorithm.name: _plain(algorithm, exclude={"name"}) for algorithm in self.algorithms
            },
            "instances": _plain(self.instances),
            "budget": _plain(self.budget),
            "execution": _plain(self.execution),
            "race": _plain(self.race),
            "inference": _plain(self.inference),
        }

    def stored(self) -> StoredSettings:
        """The configuration as a store keeps it."""
        return StoredSettings.from_plain(self.plain())


class Configuration(Options):
    """A configuration: its keys are those of a file, its parts mappings or objects."""

    seed: int = Field(1, ge=0, lt=2**63, description="everything random derives from it")
    seeds: Seeds = Field(
        "separate",
        description="on an instance each algorithm has a different seed ('separate'), or all "
        "have the same ('common')",
    )
    algorithms: list[object] = Field(description="the algorithms to compare: name, use, options")
    instances: Any = Field(description="the suite problems are drawn from: suite, ...")
    budget: Budget = Field(description="the axis of time and the grid of times to compare at")
    trajectory: Trajectory = Field(
        "best",
        description="which value of a run counts at a time: the 'best' so far, or the 'last' one, "
        "which may be worse",
    )
    execution: Execution = Field(Execution(), description="workers and limits")
    race: Rules = Field(Rules(), description="when to eliminate and when to stop")
    inference: ModelOptions = Field(
        default_factory=ModelOptions,
        description="the model behind a race, and how its posterior is computed",
    )
    design: DesignOptions = Field(
        DesignOptions(), description="how `polarbear design` searches for algorithms"
    )


def load(path: Path, overrides: "Overrides | None" = None, **defaults: str) -> Config:
    """Read and check a configuration file, and apply the options of a call."""
    if not path.exists():
        raise ConfigError(f"there is no file {path}; `polarbear init {path}` writes one")
    data, source = read_yaml(path)
    if isinstance(data, Mapping):
        data = {**defaults, **data}
    config = parse(data, source, folder=os.fspath(path.resolve().parent))
    return overridden(config, overrides or Overrides())


@dataclass(frozen=True)
class Overrides:
    """Options of a call that replace those of the configuration; a scheduler implies dask."""

    seed: int | None = None
    workers: int | None = None
    engine: str | None = None
    scheduler: str | None = None
    mix_hosts: bool = False
    check: bool | None = None
    early: int | None = None


def overridden(config: Config, overrides: Overrides) -> Config:
    """The configuration with the options of a call."""
    seed = overrides.seed
    if seed is not None:
        if not 0 <= seed < 2**63:
            raise ConfigError(f"a seed is zero or more and below 2**63, found {seed}")
        config = replace(config, seed=seed)
    changes: dict[str, object] = {}
    for name in ("workers", "engine", "check", "early"):
        value = getattr(overrides, name)
        if value is not None:
            changes[name] = value
    if overrides.engine == "local":
        changes["scheduler"] = None
        changes["job_queue"] = None
    if overrides.scheduler is not None:
        changes["engine"] = overrides.engine or "dask"
        changes["scheduler"] = overrides.scheduler
        changes["job_queue"] = None
    if overrides.mix_hosts and changes.get("engine", config.execution.engine) == "dask":
        changes["processors"] = "mixed"
    if not changes:
        return config
    options = {**config.execution.model_dump(), **changes}
    return replace(config, execution=validate(Execution, options, Source("execution")))


def parse(data: object, source: Source, folder: str = ".") -> Config:
    """Check a configuration given as a mapping."""
    top = validate(Configuration, data, source)
    suite = _plug_in(SUITES, "suite", top.instances, source, ("instances",))
    if not top.algorithms:
        raise source.error(("algorithms",), "the list is empty; name at least one algorithm")
    entries: list[tuple[int, Algorithm]] = []
    designs: dict[str, Design] = {}
    spaces: dict[str, DesignSpace] = {}
    for position, entry in enumerate(top.algorithms):
        path = ("algorithms", position)
        algorithm: Algorithm = _plug_in(ADAPTERS, "use", entry, source, path)
        if algorithm.space is None and algorithm.given is None:
            variants = _variants(algorithm, source, path, folder)
        else:
            configured = configured_algorithms(algorithm, folder, source, path)
            variants = configured.algorithms
            designs |= configured.designs
            spaces[algorithm.name] = configured.design_space
        entries += [(position, variant) for variant in variants]
    _check_fit(entries, suite, top.budget, source)
    _check_race(top, source)
    if suite.objectives > 1:
        _check_objectives(entries, suite, top, source)
    return Config(
        top.seed,
        tuple(algorithm for _, algorithm in entries),
        suite,
        top.budget,
        top.execution,
        top.race.under(top.inference.temporal),
        top.inference,
        folder,
        top.seeds,
        top.trajectory,
        spaces,
        designs,
        top.design,
    )


def _variants(
    algorithm: Algorithm, source: Source, path: KeyPath, folder: str
) -> tuple[Algorithm, ...]:
    try:
        return algorithm.variants(folder)
    except ValueError as error:
        raise source.error((*path, "configurations"), str(error)) from None


def _plug_in(registry: Registry[Any], key: str, data: object, source: Source, path: KeyPath) -> Any:
    if not isinstance(data, Mapping):
        raise source.error(path, f"expected a mapping with the key '{key}', found {describe(data)}")
    if key not in data:
        misspelt = nearest(key, map(str, data))
        if misspelt:
            raise source.error((*path, misspelt), unknown("key", misspelt, [key]))
        names = ", ".join(sorted(registry))
        raise source.error(path, f"the key '{key}' is missing; it is one of: {names}")
    name = data[key]
    if not isinstance(name, str) or name not in registry:
        raise source.error((*path, key), registry.refusal(str(name)))
    return validate(registry[name], data, source, path)


def _check_fit(
    algorithms: list[tuple[int, Algorithm]], suite: Suite, budget: Budget, source: Source
) -> None:
    """Refuse combinations that each part alone allows."""
    positions: dict[str, int] = {}
    for position, algorithm in algorithms:
        path = ("algorithms", position)
        if algorithm.name in positions:
            first = f"algorithms[{positions[algorithm.name]}]"
            raise source.error(
                (*path, "name"), f"'{algorithm.name}' is already the name of {first}"
            )
        positions[algorithm.name] = position
        label = algorithm.label
        for _, other in algorithms:
            if other is algorithm or label is None:
                continue
            if label in (other.name, other.label):
                raise source.error(
                    (*path, "label"), f"'{label}' is a name of '{other.name}'; choose another"
                )
        if suite.offers() not in algorithm.accepts:
            accepted = joined(sorted(kind.value for kind in algorithm.accepts), "or")
            raise source.error(
                path,
                f"'{algorithm.use}' takes problems of the kind {accepted}, "
                f"but the suite '{suite.suite}' gives {suite.offers().value}",
            )
        if budget.axis not in (EVALUATIONS, *TIMED_AXES) and not algorithm.reports_any_axis:
            listed = joined([f"'{axis}'" for axis in (EVALUATIONS, *TIMED_AXES)], "or")
            reporting = ", ".join(name for name, use in ADAPTERS.items() if use.reports_any_axis)
            raise source.error(
                ("budget", "axis"),
                f"'{algorithm.name}' ({algorithm.use}) cannot report t on '{budget.axis}'; "
                f"use {listed}, or an adapter that reports: {reporting}",
            )


def _check_objectives(
    algorithms: list[tuple[int, Algorithm]], suite: Suite, top: Configuration, source: Source
) -> None:
    """Refuse what needs one objective, or a total order of outcomes."""
    several = f"{suite.objectives} objectives"
    for position, algorithm in algorithms:
        path = ("algorithms", position)
        if not algorithm.accepts_objectives:
            able = ", ".join(name for name, use in ADAPTERS.items() if use.accepts_objectives)
            raise source.error(
                path, f"'{algorithm.use}' takes problems with one objective; for {several}: {able}"
            )
        if algorithm.contract is not None:
            raise source.error(
                (*path, "contract"),
                f"a run that plans for its budget has one final value; with {several} leave it out",
            )
    if top.trajectory == "last":
        raise source.error(
            ("trajectory",), f"'last' is for one objective; with {several} the archive counts"
        )
    if top.inference.plackett_luce:
        raise source.error(
            ("inference", "model"),
            f"'{top.inference.model}' needs a total order of outcomes, but with {several} some are "
            "incomparable; use 'empirical'",
        )
    reference = top.race.reference
    if reference is not None and len(reference) != suite.objectives:
        raise source.error(
            ("race", "reference"), f"expected {several}, found {counted(len(reference), 'number')}"
        )
    if top.race.tie_tolerance:
        raise source.error(
            ("race", "tie_tolerance"), f"a tolerance is for one value; {several} are compared as is"
        )


def _check_race(top: Configuration, source: Source) -> None:
    if top.race.elimination == "joint" and not top.inference.joint:
        raise source.error(
            ("race", "elimination"),
            f"joint elimination needs the correlation of times, but the model "
            f"'{top.inference.model}' treats them as independent; choose another under "
            f"'inference' ({', '.join(joint_models())}), or 'elimination: pointwise'",
        )
    if top.race.guarantee == "anytime" and top.instances.get("weights"):
        raise source.error(
            ("race", "guarantee"),
            "the bets of 'anytime' are fair only if every instance counts once, but "
            "'instances' has weights; leave out the weights, or the guarantee",
        )


def _plain(options: Options, exclude: set[str] | None = None) -> dict[str, Any]:
    return options.model_dump(mode="json", by_alias=True, exclude=exclude)
