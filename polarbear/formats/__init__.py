"""Reading and writing runs, rankings and posteriors in the formats of other tools, one file each.

A new format or export is a file in this folder and a line below. Other packages add theirs by
entry points in the groups polarbear.formats (reading) and polarbear.exports (writing).

Uses `store`, `select` to find a posterior, and `classical` for the optima of instances.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from polarbear.settings.registry import Registry

if TYPE_CHECKING:
    from polarbear.formats.base import Export, Format

FORMATS: Registry[type[Format]] = Registry(
    "format",
    "polarbear.formats",
    "polarbear.formats.base:Format",
    {
        "table": "polarbear.formats.table:TrajectoryTable",
        "rankings": "polarbear.formats.table:RankingsTable",
        "log": "polarbear.formats.log_files:SolverLogs",
        "ioh": "polarbear.formats.ioh:Ioh",
        "coco": "polarbear.formats.coco:Coco",
        "benchopt": "polarbear.formats.benchopt:Benchopt",
        "optuna": "polarbear.formats.optuna:Optuna",
        "tensorboard": "polarbear.formats.tensorboard:TensorBoard",
        "preflib": "polarbear.formats.preflib:PrefLib",
        "aslib": "polarbear.formats.aslib:Aslib",
        "store": "polarbear.formats.other_store:OtherStore",
    },
)
EXPORTS: Registry[type[Export]] = Registry(
    "export format",
    "polarbear.exports",
    "polarbear.formats.base:Export",
    {
        "csv": "polarbear.formats.table:CsvExport",
        "parquet": "polarbear.formats.table:ParquetExport",
        "ioh": "polarbear.formats.ioh:IohExport",
        "coco": "polarbear.formats.coco:CocoExport",
        "arviz": "polarbear.formats.arviz:ArviZExport",
        "preflib": "polarbear.formats.preflib:PrefLibExport",
        "chooser": "polarbear.formats.chooser:ChooserExport",
    },
)

__all__ = ["EXPORTS", "FORMATS"]
