"""The logs of CP-SAT and MiniZinc, and the lines of MaxSAT, XCSP and pseudo-Boolean solvers."""

from polarbear.algorithms.solver_logs.log_format import Ending, LogFormat, compiled

# runsolver writes the seconds of processor and of wall clock before each line if it is asked to.
_STAMP = r"^(?:<N>/(?P<t><N>)\s+)?"
O_LINES = LogFormat(
    "o-lines",
    "MaxSAT, XCSP and pseudo-Boolean solvers",
    values=(compiled(_STAMP + r"o (?P<y><N>)\s*$"),),
    clocks=(compiled(r"^<N>/(?P<t><N>)\s"),),
    endings=(
        (compiled(_STAMP + r"s OPTIMUM FOUND"), Ending.PROVEN),
        (compiled(_STAMP + r"s UNSATISFIABLE"), Ending.INFEASIBLE),
        (compiled(_STAMP + r"s (?:SATISFIABLE|UNKNOWN)"), Ending.LIMIT),
        (compiled(_STAMP + r"s \w"), Ending.ENDED),
    ),
    # By the convention of these solvers: satisfiable, unsatisfiable, optimum found.
    exit_codes=frozenset({0, 10, 20, 30}),
)

CP_SAT = LogFormat(
    "cp-sat",
    "CP-SAT",
    values=(
        compiled(r"^#\d+\s+(?P<t><N>)s\s+best:(?P<y><N>)"),
        compiled(r"^objective: (?P<y><N>)"),
    ),
    clocks=(
        compiled(r"^#\w+\s+(?P<t><N>)s\s"),
        compiled(r"^Starting (?:presolve|search) at (?P<t><N>)s"),
        compiled(r"^walltime: (?P<t><N>)"),
    ),
    endings=(
        (compiled(r"^status: OPTIMAL"), Ending.PROVEN),
        (compiled(r"^status: INFEASIBLE"), Ending.INFEASIBLE),
        (compiled(r"^status: (?:FEASIBLE|UNKNOWN)"), Ending.LIMIT),
        (compiled(r"^status: \w"), Ending.ENDED),
    ),
    start=compiled(r"^Starting CP-SAT solver"),
)

MINIZINC = LogFormat(
    "minizinc",
    "MiniZinc",
    values=(
        compiled(r'"_objective" *: *(?P<y><N>)'),
        compiled(r"^_objective *= *(?P<y><N>)"),
    ),
    clocks=(
        compiled(r"^% time elapsed: (?P<t><N>) s"),
        compiled(r'"time": (?P<ms>\d+)\}\s*$'),
    ),
    endings=(
        (compiled(r'^==========\s*$|"status": "OPTIMAL_SOLUTION"'), Ending.PROVEN),
        (compiled(r'^=====UNSATISFIABLE=====|"status": "UNSATISFIABLE"'), Ending.INFEASIBLE),
        (compiled(r'^=====UNKNOWN=====|"status": "UNKNOWN"'), Ending.LIMIT),
        (compiled(r'^=====\w+=====|"status": "\w+"'), Ending.ENDED),
    ),
    silent=(
        compiled(r'^----------\s*$|"type": "solution"'),
        "it has solutions without their values: add --output-objective --output-mode json, and "
        "--output-time for a log",
    ),
)
