"""A configuration as a caller gives it, and the folder its store is meant to be in."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from polarbear.config import Config, Overrides, load, overridden, parse
from polarbear.errors import ConfigError
from polarbear.settings.options import Source

ConfigLike = str | Path | Mapping[str, Any]


def read(config: ConfigLike, overrides: Overrides) -> Config:
    """A configuration from a YAML file, or from a mapping of the same keys."""
    if isinstance(config, Mapping):
        return overridden(parse(config, Source("the configuration")), overrides)
    return load(Path(config), overrides)


def store_folder(config: ConfigLike, store: str | Path | None) -> Path:
    """The folder a call means: the one named, or the one named after the configuration's file."""
    if store is not None:
        return Path(store)
    if isinstance(config, Mapping):
        raise ConfigError(
            "a configuration that is not a file does not name a store: say which folder, as in "
            "store='results'"
        )
    path = Path(config)
    return path.with_suffix("") if path.suffix else path.with_name(f"{path.name}.store")
