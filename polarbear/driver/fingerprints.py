"""Fingerprints of the code and options behind runs."""

import json
from collections.abc import Iterable
from typing import Any

from polarbear.algorithms import ADAPTERS, Algorithm
from polarbear.config.configuration import Config
from polarbear.problems import SUITES
from polarbear.settings.fingerprint import MISSING, MadeOf, of_packages
from polarbear.settings.registry import Registry


def fingerprints(config: Config) -> dict[str, str]:
    """The fingerprint of each algorithm of a configuration, with the present code."""
    code_of_problems = config.instances.made_of(config.setting)
    code_of_problems = code_of_problems.and_of(_plug_in(SUITES, config.instances.suite))
    fingerprint_of_algorithm = {}
    for algorithm in config.algorithms:
        code = algorithm.made_of(config.setting).and_of(code_of_problems)
        code = code.and_of(_plug_in(ADAPTERS, algorithm.use))
        parts = {
            "options": chosen_options(algorithm),
            "files": code.files,
            "packages": code.packages,
        }
        fingerprint_of_algorithm[algorithm.name] = json.dumps(parts, sort_keys=True)
    return fingerprint_of_algorithm


def _plug_in(registry: Registry[Any], name: str) -> MadeOf:
    """The package of a plug-in that is not PolarBear's own."""
    plug_ins = [entry for entry in registry.third_party if entry.name == name and not entry.flaw]
    return of_packages(*(plug_in.package for plug_in in plug_ins))


def chosen_options(algorithm: Algorithm) -> dict[str, object]:
    """The options that are not the default, so that an option of a later version changes nothing.

    Names and labels do not affect runs. Of a contract it does not matter how many runs it asks for.
    """
    options = algorithm.model_dump(
        mode="json", by_alias=True, exclude={"name", "label"}, exclude_defaults=True
    )
    if algorithm.contract is not None:
        options["contract"] = True
    return options


def packages_of(made_by: Iterable[str]) -> dict[str, str]:
    """The packages behind fingerprints, with their versions."""
    return {
        name: version
        for fingerprint in made_by
        for name, version in json.loads(fingerprint)["packages"].items()
        if version != MISSING
    }
