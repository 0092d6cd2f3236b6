"""One configuration file to one frozen object, or an error that says which line to mend."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pydantic import Field

from polarbear.algorithms import ADAPTERS, Algorithm
from polarbear.errors import ConfigError
from polarbear.inference.models import joint_models
from polarbear.inference.options import ModelOptions
from polarbear.problems import SUITES, Setting, Suite
from polarbear.racing.rules import Rules
from polarbear.settings.grid import EVALUATIONS, SECONDS, Budget
from polarbear.settings.options import Options, Source, describe, nearest, unknown, validate
from polarbear.settings.registry import Registry
from polarbear.settings.yaml_lines import read_yaml
from polarbear.wording import joined

PlainConfig = dict[str, Any]  # a configuration as the store keeps it


class Execution(Options):
    """How runs are executed; nothing here changes a trajectory on the evaluation axis."""

    workers: int | None = Field(
        None, ge=1, le=1024, description="processes that run at once; by default one a core"
    )
    threads: int = Field(
        1, ge=1, le=1024, description="threads that numerical libraries may use inside one run"
    )
    seconds_per_run: float | None = Field(
        None,
        gt=0,
        description="a run is killed after so many seconds: by default a day, or, on the seconds "
        "axis, twice the budget and a minute",
    )
    memory_mib: int | None = Field(
        None,
        ge=1,
        description="a run is killed above so much memory: by default 80 % of the machine's, "
        "shared among the workers",
    )


@dataclass(frozen=True)
class Config:
    """Everything a user has set, with every default filled in."""

    seed: int
    algorithms: tuple[Algorithm, ...]
    instances: Suite
    budget: Budget
    execution: Execution
    race: Rules
    inference: ModelOptions
    folder: str = "."

    @property
    def setting(self) -> Setting:
        names = tuple(algorithm.name for algorithm in self.algorithms)
        return Setting(self.seed, self.budget, self.folder, names)

    def plain(self) -> PlainConfig:
        """The configuration as the store keeps it: plain, complete, and comparable."""
        return {
            "seed": self.seed,
            "algorithms": {a.name: _plain(a, exclude={"name"}) for a in self.algorithms},
            "instances": _plain(self.instances),
            "budget": _plain(self.budget),
            "execution": _plain(self.execution),
            "race": _plain(self.race),
            "inference": _plain(self.inference),
        }


class TopLevel(Options):
    """The keys at the outermost level of a configuration."""

    seed: int = Field(1, ge=0, lt=2**63, description="everything random derives from it")
    algorithms: list[Any] = Field(description="the algorithms to compare: name, use, options")
    instances: dict[str, Any] = Field(description="the suite problems are drawn from: suite, ...")
    budget: Budget = Field(description="the axis of time and the grid of times to compare at")
    execution: Execution = Field(Execution(), description="workers and limits")
    race: Rules = Field(Rules(), description="when to eliminate and when to stop")
    inference: ModelOptions = Field(
        default_factory=ModelOptions,
        description="the model behind a race, and how its posterior is computed",
    )


def load(path: Path, seed: int | None = None, workers: int | None = None) -> Config:
    """Read and check a configuration file; ``seed`` and ``workers`` override those in it."""
    config = parse(*read_yaml(path), folder=os.fspath(path.resolve().parent))
    return overridden(config, seed, workers)


def overridden(config: Config, seed: int | None = None, workers: int | None = None) -> Config:
    """The same configuration with another seed or another number of workers, where given."""
    if seed is not None:
        if not 0 <= seed < 2**63:
            raise ConfigError(f"a seed is zero or more and below 2**63, found {seed}")
        config = replace(config, seed=seed)
    if workers is not None:
        wanted = {**config.execution.model_dump(), "workers": workers}
        config = replace(config, execution=validate(Execution, wanted, Source("execution")))
    return config


def parse(data: Any, source: Source, folder: str = ".") -> Config:
    """Check a configuration that is already a mapping."""
    top = validate(TopLevel, data, source)
    suite = _plug_in(SUITES, "suite", top.instances, source, ("instances",))
    if not top.algorithms:
        raise source.error(("algorithms",), "the list is empty; name at least one algorithm")
    algorithms = tuple(
        _plug_in(ADAPTERS, "use", entry, source, ("algorithms", position))
        for position, entry in enumerate(top.algorithms)
    )
    _check_fit(algorithms, suite, top.budget, source)
    _check_race(top, source)
    return Config(
        top.seed,
        algorithms,
        suite,
        top.budget,
        top.execution,
        top.race.under(top.inference.joint, top.inference.plackett_luce),
        top.inference,
        folder,
    )


def _plug_in(registry: Registry[Any], key: str, data: Any, source: Source, path: Any) -> Any:
    if not isinstance(data, Mapping):
        raise source.error(path, f"expected a mapping with the key '{key}', found {describe(data)}")
    if key not in data:
        misspelt = nearest(key, map(str, data))
        if misspelt:
            raise source.error((*path, misspelt), unknown("key", misspelt, [key]))
        known = ", ".join(sorted(registry))
        raise source.error(path, f"the key '{key}' is missing; it is one of: {known}")
    name = data[key]
    if not isinstance(name, str) or name not in registry:
        raise source.error((*path, key), registry.refusal(str(name)))
    return validate(registry[name], data, source, path)


def _check_fit(
    algorithms: tuple[Algorithm, ...], suite: Suite, budget: Budget, source: Source
) -> None:
    """Refuse what each part allows but the whole cannot mean."""
    seen: dict[str, int] = {}
    for position, algorithm in enumerate(algorithms):
        path = ("algorithms", position)
        if algorithm.name in seen:
            first = seen[algorithm.name] + 1
            raise source.error(
                (*path, "name"), f"'{algorithm.name}' is already the name of algorithm {first}"
            )
        seen[algorithm.name] = position
        if suite.offers() not in algorithm.accepts:
            takes = joined(sorted(kind.value for kind in algorithm.accepts), "or")
            raise source.error(
                path,
                f"'{algorithm.use}' takes problems of the kind {takes}, "
                f"but the suite '{suite.suite}' gives {suite.offers().value}",
            )
        if budget.axis not in (EVALUATIONS, SECONDS) and not algorithm.reports_any_axis:
            can = ", ".join(name for name, use in ADAPTERS.items() if use.reports_any_axis)
            raise source.error(
                ("budget", "axis"),
                f"'{algorithm.name}' ({algorithm.use}) cannot report t on '{budget.axis}'; "
                f"use '{EVALUATIONS}' or '{SECONDS}', or an adapter that reports: {can}",
            )


def _check_race(top: TopLevel, source: Source) -> None:
    if top.race.elimination == "joint" and not top.inference.joint:
        raise source.error(
            ("race", "elimination"),
            f"joint elimination asks how times hang together, but the model "
            f"'{top.inference.model}' treats them as independent; choose another under "
            f"'inference' ({', '.join(joint_models())}), or 'elimination: pointwise'",
        )


def _plain(options: Options, exclude: set[str] | None = None) -> dict[str, Any]:
    return options.model_dump(mode="json", by_alias=True, exclude=exclude)
