"""Checks whether a machine can execute runs, before it receives any."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from polarbear.algorithms.base import Algorithm, Trial
from polarbear.problems.base import Kind, Setting
from polarbear.settings.fingerprint import of_packages
from polarbear.wording import joined


class FitnessCheck(Algorithm):
    """Prepares all algorithms of a configuration after the first problem was built."""

    accepts: ClassVar[frozenset[Kind]] = frozenset(Kind)

    algorithms: tuple[Any, ...] = ()

    def run(self, trial: Trial, setting: Setting) -> None:
        for algorithm in self.algorithms:
            algorithm.prepare(setting)


def fitness_check(algorithms: tuple[Algorithm, ...]) -> FitnessCheck:
    return FitnessCheck(name="fitness check", use="fitness-check", algorithms=algorithms)


def package_differences(packages: Mapping[str, str]) -> str:
    """Packages that are missing here or have another version than given; empty if none."""
    found = of_packages(*packages).packages
    return joined(
        [
            f"{name} {wanted} is not installed"
            if found[name] == "missing"
            else f"{name} is {found[name]}, not {wanted}"
            for name, wanted in packages.items()
            if found[name] != wanted
        ]
    )
