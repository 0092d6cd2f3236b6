"""What a store holds, written as others read it. One file a format: the other side of `formats`.

A new export is a file and a line here. Other packages add theirs by an entry point in the group
polarbear.exports.

Uses `store`, `select` to find a posterior, `attainment` for optima; nothing is computed anew.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from polarbear.settings.registry import Registry

if TYPE_CHECKING:
    from polarbear.exports.base import Export

EXPORTS: Registry[type[Export]] = Registry(
    "export format",
    "polarbear.exports",
    "polarbear.exports.base:Export",
    {
        "csv": "polarbear.exports.long:Csv",
        "parquet": "polarbear.exports.long:Parquet",
        "ioh": "polarbear.exports.ioh:Ioh",
        "coco": "polarbear.exports.coco:Coco",
        "arviz": "polarbear.exports.arviz:ArviZ",
        "preflib": "polarbear.exports.preflib:PrefLib",
    },
)

__all__ = ["EXPORTS"]
