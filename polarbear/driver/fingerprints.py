"""What makes the runs of an algorithm, as a text that changes whenever that does."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import ValidationError

from polarbear.algorithms import ADAPTERS, Algorithm
from polarbear.config import Config, differences
from polarbear.errors import ConfigError
from polarbear.problems import SUITES
from polarbear.settings.fingerprint import MadeOf, of_packages
from polarbear.settings.registry import Registry


def fingerprints(config: Config) -> dict[str, str]:
    """The fingerprint of each algorithm of a configuration, as things are at this moment."""
    problems = config.instances.made_of(config.setting)
    return {a.name: _fingerprint(a, config, problems) for a in config.algorithms}


def _fingerprint(algorithm: Algorithm, config: Config, problems: MadeOf) -> str:
    made = algorithm.made_of(config.setting).and_of(problems)
    made = made.and_of(_plug_in(ADAPTERS, algorithm.use))
    made = made.and_of(_plug_in(SUITES, config.instances.suite))
    facts = {"options": _options(algorithm), "files": made.files, "packages": made.packages}
    return json.dumps(facts, sort_keys=True)


def _plug_in(registry: Registry[Any], name: str) -> MadeOf:
    """The package of a plug-in that is not PolarBear's own."""
    packages = [s.package for s in registry.third_party if s.name == name and not s.flaw]
    return of_packages(*packages)


def of_options_only(name: str, entry: Mapping[str, Any]) -> str:
    """What is known of runs by an older version: the options that the store has under a name."""
    facts = {"options": known_options(name, entry), "files": None, "packages": None}
    return json.dumps(facts, sort_keys=True)


def known_options(name: str, entry: Mapping[str, Any]) -> dict[str, Any]:
    """Options as a fingerprint has them, from those that a store keeps with all defaults."""
    try:
        return _options(ADAPTERS[entry["use"]].model_validate({"name": name, **entry}))
    except (ConfigError, ValidationError, KeyError):  # of another version, or imported
        return dict(entry)


def _options(algorithm: Algorithm) -> dict[str, Any]:
    """Only what is not the default, so that options which a later version adds change nothing.

    What it is called makes no run.
    """
    return algorithm.model_dump(
        mode="json", by_alias=True, exclude={"name", "label"}, exclude_defaults=True
    )


def packages_of(made_by: Iterable[str]) -> dict[str, str]:
    """The packages behind fingerprints, with their versions."""
    return {
        name: version
        for one in made_by
        for name, version in (json.loads(one)["packages"] or {}).items()
        if version != "missing"
    }


def same_options(one: str, other: str) -> bool:
    return bool(json.loads(one)["options"] == json.loads(other)["options"])


def same_sources(one: str, other: str) -> bool:
    """Whether files and packages are the same, as far as is known, whatever the options."""
    a, b = json.loads(one), json.loads(other)
    return a["files"] is None or bool(a["files"] == b["files"] and a["packages"] == b["packages"])


def changes_between(before: str, now: str) -> list[str]:
    """What differs between two fingerprints, in words: files, packages, options."""
    old, new = json.loads(before), json.loads(now)
    found = [] if old["files"] is None else _changed_sources(old, new)
    return found + differences(_completed(old["options"]), _completed(new["options"]))


def _completed(options: Mapping[str, Any]) -> Mapping[str, Any]:
    """Options with their defaults, so that what was left out is not said to have been nothing."""
    try:
        made = ADAPTERS[options["use"]].model_validate({"name": "any", **options})
    except (ConfigError, ValidationError, KeyError):
        return options
    return made.model_dump(mode="json", by_alias=True, exclude={"name"})


def _changed_sources(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    found = []
    for name in sorted({*old["files"], *new["files"]}):
        if old["files"].get(name) != new["files"].get(name):
            gone = "" if name in new["files"] else " (gone)"
            found.append(f"{name}{gone}" if name in old["files"] else f"{name} (new)")
    for name in sorted({*old["packages"], *new["packages"]}):
        was, is_now = (side["packages"].get(name, "not used") for side in (old, new))
        if was != is_now:
            found.append(f"package {name} ({was} then, {is_now} now)")
    return found
