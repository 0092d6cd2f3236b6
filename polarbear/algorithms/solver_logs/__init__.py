"""The logs of solvers: which lines tell an incumbent, the time, and how the search ended.

A new log is a `LogFormat` in one of the modules here and a line below. Other packages add theirs by
an entry point in the group polarbear.logs.

Uses `settings`; runs nothing by itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from polarbear.settings.registry import Registry

if TYPE_CHECKING:
    from polarbear.algorithms.solver_logs.log_format import LogFormat

LOGS: Registry[LogFormat] = Registry(
    "log",
    "polarbear.logs",
    f"{__name__}.log_format:LogFormat",
    {
        "o-lines": f"{__name__}.constraint_logs:O_LINES",
        "highs": f"{__name__}.open_mip_logs:HIGHS",
        "scip": f"{__name__}.open_mip_logs:SCIP",
        "cbc": f"{__name__}.open_mip_logs:CBC",
        "gurobi": f"{__name__}.commercial_mip_logs:GUROBI",
        "cplex": f"{__name__}.commercial_mip_logs:CPLEX",
        "cp-sat": f"{__name__}.constraint_logs:CP_SAT",
        "minizinc": f"{__name__}.constraint_logs:MINIZINC",
    },
    objects=True,
)

__all__ = ["LOGS"]
