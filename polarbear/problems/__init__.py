"""Problem suites, by the name a configuration gives them. A new suite is a file and a line here.

Other packages add theirs by an entry point in the group polarbear.suites.

Uses `settings` and `numerics`.
"""

from polarbear.problems.base import Instance, Kind, Problem, Setting, Suite
from polarbear.settings.registry import Registry

SUITES: Registry[type[Suite]] = Registry(
    "suite",
    "polarbear.suites",
    "polarbear.problems.base:Suite",
    {
        "bbob": "polarbear.problems.numbered_suites:Bbob",
        "bbob-biobj": "polarbear.problems.bbob_biobj:BbobBiobj",
        "classic": "polarbear.problems.classic:Classic",
        "cvrp": "polarbear.problems.cvrp:Cvrp",
        "dtlz": "polarbear.problems.pymoo_suites:Dtlz",
        "files": "polarbear.problems.instance_files:Files",
        "gp-bbob": "polarbear.problems.gp_bbob:GpBbob",
        "job-shop": "polarbear.problems.job_shop:JobShop",
        "linear-constraints": "polarbear.problems.linear_constraints:LinearConstraints",
        "ma-bbob": "polarbear.problems.ma_bbob:MaBbob",
        "mip": "polarbear.problems.integer_programs:Mip",
        "pbo": "polarbear.problems.numbered_suites:Pbo",
        "python": "polarbear.problems.python:Python",
        "sbox": "polarbear.problems.numbered_suites:Sbox",
        "synthetic": "polarbear.problems.synthetic:Synthetic",
        "wfg": "polarbear.problems.pymoo_suites:Wfg",
        "zdt": "polarbear.problems.pymoo_suites:Zdt",
    },
)

__all__ = ["SUITES", "Instance", "Kind", "Problem", "Setting", "Suite"]
