"""Adapters, by the name a configuration gives them. A new adapter is a file and a line here.

Other packages add theirs by an entry point in the group polarbear.algorithms.

Uses `problems` and `settings`; runs nothing by itself.
"""

from polarbear.algorithms.base import Algorithm, SearchEnded, Trial
from polarbear.settings.registry import Registry

ADAPTERS: Registry[type[Algorithm]] = Registry(
    "adapter",
    "polarbear.algorithms",
    "polarbear.algorithms.base:Algorithm",
    {
        "cma": "polarbear.algorithms.cma:Cma",
        "cma-constrained": "polarbear.algorithms.cma_constrained:CmaConstrained",
        "command": "polarbear.algorithms.command:Command",
        "cp-sat": "polarbear.algorithms.cp_sat:CpSat",
        "highs": "polarbear.algorithms.highs:Highs",
        "modcma": "polarbear.algorithms.modcma:Modcma",
        "pymoo": "polarbear.algorithms.pymoo:Pymoo",
        "python": "polarbear.algorithms.python:Python",
        "pyvrp": "polarbear.algorithms.pyvrp:Pyvrp",
        "random-search": "polarbear.algorithms.random_search:RandomSearch",
        "scip": "polarbear.algorithms.scip:Scip",
        "scipy": "polarbear.algorithms.scipy:Scipy",
        "scipy-constrained": "polarbear.algorithms.scipy_constrained:ScipyConstrained",
        "synthetic": "polarbear.algorithms.synthetic:Synthetic",
    },
)

__all__ = ["ADAPTERS", "Algorithm", "SearchEnded", "Trial"]
