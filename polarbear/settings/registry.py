"""Plug-ins by name, imported only when they are asked for."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Generic, TypeVar

from polarbear.errors import ConfigError
from polarbear.settings.options import Options, unknown

PlugIn = TypeVar("PlugIn", bound=Options)


class Registry(Generic[PlugIn]):
    """Names of one family of plug-ins, each standing for 'module:class'."""

    def __init__(self, what: str, places: Mapping[str, str]) -> None:
        self.what = what
        self.places = dict(places)

    def __iter__(self):  # type: ignore[no-untyped-def]
        return iter(sorted(self.places))

    def __getitem__(self, name: str) -> type[PlugIn]:
        if name not in self.places:
            raise ConfigError(unknown(self.what, name, self.places))
        module, _, attribute = self.places[name].partition(":")
        return getattr(importlib.import_module(module), attribute)  # type: ignore[no-any-return]
