"""Fingerprints of the code and options behind runs."""

import json
from collections.abc import Iterable
from typing import Any

from polarbear.algorithms import ADAPTERS, Algorithm
from polarbear.config.configuration import Config
from polarbear.problems import SUITES
from polarbear.settings.fingerprint import MadeOf, of_packages
from polarbear.settings.registry import Registry


def fingerprints(config: Config) -> dict[str, str]:
    """The fingerprint of each algorithm of a configuration, with the present code."""
    problems = config.instances.made_of(config.setting)
    problems = problems.and_of(_plug_in(SUITES, config.instances.suite))
    found = {}
    for algorithm in config.algorithms:
        made = algorithm.made_of(config.setting).and_of(problems)
        made = made.and_of(_plug_in(ADAPTERS, algorithm.use))
        facts = {
            "options": chosen_options(algorithm),
            "files": made.files,
            "packages": made.packages,
        }
        found[algorithm.name] = json.dumps(facts, sort_keys=True)
    return found


def _plug_in(registry: Registry[Any], name: str) -> MadeOf:
    """The package of a plug-in that is not PolarBear's own."""
    return of_packages(*(s.package for s in registry.third_party if s.name == name and not s.flaw))


def chosen_options(algorithm: Algorithm) -> dict[str, object]:
    """Options that are not the default: those that a later version adds change nothing.

    Names and labels do not affect runs.
    """
    return algorithm.model_dump(
        mode="json", by_alias=True, exclude={"name", "label"}, exclude_defaults=True
    )


def packages_of(made_by: Iterable[str]) -> dict[str, str]:
    """The packages behind fingerprints, with their versions."""
    return {
        name: version
        for one in made_by
        for name, version in json.loads(one)["packages"].items()
        if version != "missing"
    }
