"""Suites as objects: ``pb.suites.MaBbob(dimensions=[2, 5])``; options are those of a file."""

from polarbear.problems.bbob_biobj import BbobBiobj
from polarbear.problems.classic import Classic
from polarbear.problems.cvrp import Cvrp
from polarbear.problems.gp_bbob import GpBbob
from polarbear.problems.instance_files import Files
from polarbear.problems.integer_programs import Mip
from polarbear.problems.job_shop import JobShop
from polarbear.problems.linear_constraints import LinearConstraints
from polarbear.problems.ma_bbob import MaBbob
from polarbear.problems.numbered_suites import Bbob, Pbo, Sbox
from polarbear.problems.pymoo_suites import Dtlz, Wfg, Zdt
from polarbear.problems.python import Python
from polarbear.problems.synthetic import Synthetic

__all__ = [
    "Bbob",
    "BbobBiobj",
    "Classic",
    "Cvrp",
    "Dtlz",
    "Files",
    "GpBbob",
    "JobShop",
    "LinearConstraints",
    "MaBbob",
    "Mip",
    "Pbo",
    "Python",
    "Sbox",
    "Synthetic",
    "Wfg",
    "Zdt",
]

for _name in __all__:
    globals()[_name].model_rebuild()  # adds the signature that editors complete
