"""Whether a machine can execute runs at all, found out before it is given any."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from polarbear.algorithms.base import Algorithm, Trial
from polarbear.problems.base import Kind, Setting
from polarbear.settings.fingerprint import of_packages
from polarbear.wording import joined


class Inspection(Algorithm):
    """No optimiser: prepares others, once the first problem is built."""

    accepts: ClassVar[frozenset[Kind]] = frozenset(Kind)

    others: tuple[Any, ...] = ()

    def run(self, trial: Trial, setting: Setting) -> None:
        for algorithm in self.others:
            algorithm.prepare(setting)


def inspection(algorithms: tuple[Algorithm, ...]) -> Inspection:
    return Inspection(name="inspection", use="inspection", others=algorithms)


def differing(packages: Mapping[str, str]) -> str:
    """What of the packages is missing here, or there in another version; empty if nothing is."""
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
