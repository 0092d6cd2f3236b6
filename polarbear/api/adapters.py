"""Algorithms as objects: ``pb.adapters.Cma(name="CMA-ES")``; options are those of a file."""

from polarbear.algorithms.cma import Cma
from polarbear.algorithms.cma_constrained import CmaConstrained
from polarbear.algorithms.command import Command
from polarbear.algorithms.cp_sat import CpSat
from polarbear.algorithms.highs import Highs
from polarbear.algorithms.modcma import Modcma
from polarbear.algorithms.pymoo import Pymoo
from polarbear.algorithms.python import Python
from polarbear.algorithms.pyvrp import Pyvrp
from polarbear.algorithms.random_search import RandomSearch
from polarbear.algorithms.scip import Scip
from polarbear.algorithms.scipy import Scipy
from polarbear.algorithms.scipy_constrained import ScipyConstrained
from polarbear.algorithms.synthetic import Synthetic

__all__ = [
    "Cma",
    "CmaConstrained",
    "Command",
    "CpSat",
    "Highs",
    "Modcma",
    "Pymoo",
    "Python",
    "Pyvrp",
    "RandomSearch",
    "Scip",
    "Scipy",
    "ScipyConstrained",
    "Synthetic",
]

for _name in __all__:
    globals()[_name].model_rebuild()  # adds the signature that editors complete
