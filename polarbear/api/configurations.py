"""Reads and writes configurations, and finds the folder of a store."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from polarbear.config.configuration import Config, Configuration, Overrides, load, overridden, parse
from polarbear.errors import ConfigError
from polarbear.records import Facts
from polarbear.settings.options import Source, as_mapping
from polarbear.settings.yaml_lines import parse_yaml

ConfigLike = str | Path | Mapping[str, Any] | Configuration


def read(
    config: ConfigLike, overrides: Overrides, store: str | Path | None = None, **defaults: str
) -> Config:
    """A configuration from a YAML file, or from a mapping or an object of the same keys.

    Its functions of the session are written next to the store, so that workers can import them.
    ``defaults`` are values of keys that it does not have.
    """
    if isinstance(config, str | Path):
        return load(Path(config), overrides, **defaults)
    from polarbear.settings.session_code import with_references  # for scripts and notebooks

    keys = with_references(as_mapping(config), Path(f"{store or 'polarbear'}-code"))
    return overridden(parse({**defaults, **keys}, Source("the configuration")), overrides)


def store_folder(config: ConfigLike, store: str | Path | None) -> Path:
    """The folder given, or the one named after the configuration's file."""
    if store is not None:
        return Path(store)
    if not isinstance(config, str | Path):
        raise ConfigError(
            "a configuration that is not a file does not name a store: name the folder, as in "
            "store='results'"
        )
    path = Path(config)
    return path.with_suffix("") if path.suffix else path.with_name(f"{path.name}.store")


def write_template(file: Path, force: bool, with_all: bool = False) -> None:
    """Write a configuration to begin with, and next to it the schema for editors.

    ``with_all`` asks for one with every option and its default.
    """
    from polarbear.config.json_schema import NAME, config_schema  # import all models
    from polarbear.config.template import SHORT, commented_config

    if file.exists() and not force:
        raise ConfigError(f"{file} exists; --force overwrites it")
    try:
        file.write_text(commented_config() if with_all else SHORT, encoding="utf-8")
        schema = file.with_name(NAME)
        if force or not schema.exists():
            schema.write_text(json.dumps(config_schema(), indent=2) + "\n", encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"cannot write {file}: {error.strerror}") from None


def schema() -> Facts:
    """The JSON Schema of a configuration."""
    from polarbear.config.json_schema import config_schema  # imports all models

    return config_schema()


def parse_settings(settings: Sequence[str]) -> Facts:
    """Options from texts KEY=VALUE; a dot in a key leads into a group."""
    options: Facts = {}
    for setting in settings:
        key, equals, text = setting.partition("=")
        if not equals or not key:
            raise ConfigError(f"--set takes KEY=VALUE, found '{setting}'")
        *group_names, last_key = key.split(".")
        group = options
        for name in group_names:
            group = group.setdefault(name, {})
        group[last_key] = parse_yaml(text or "null", "--set")[0]
    return options
