"""Data that others have recorded, brought into the form of our own runs. One file a format.

A new format is a file and a line here. Other packages add theirs by an entry point in the group
polarbear.formats.

Uses `execution`'s outcomes, and `store` to add what was read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from polarbear.settings.registry import Registry

if TYPE_CHECKING:
    from polarbear.formats.base import Format

FORMATS: Registry[type[Format]] = Registry(
    "format",
    "polarbear.formats",
    "polarbear.formats.base:Format",
    {
        "table": "polarbear.formats.table:Table",
        "rankings": "polarbear.formats.rankings:Rankings",
        "ioh": "polarbear.formats.ioh:Ioh",
        "coco": "polarbear.formats.coco:Coco",
        "benchopt": "polarbear.formats.benchopt:Benchopt",
        "optuna": "polarbear.formats.optuna:Optuna",
        "tensorboard": "polarbear.formats.tensorboard:TensorBoard",
        "preflib": "polarbear.formats.preflib:PrefLib",
        "store": "polarbear.formats.store:OtherStore",
    },
)

__all__ = ["FORMATS"]
