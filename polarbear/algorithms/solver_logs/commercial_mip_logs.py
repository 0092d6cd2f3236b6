"""The logs of Gurobi and CPLEX, from their documentation."""

from polarbear.algorithms.solver_logs.log_format import Ending, LogFormat, compiled

GUROBI = LogFormat(
    "gurobi",
    "Gurobi",
    values=(
        # A row of a new incumbent: H is one of a heuristic, * one of a node, which has a depth.
        compiled(
            r"^[H*] *\d+ +\d+ +(?:\d+ +)?(?P<y><N>) +(?:<N>|-) +(?:<N>%|-) +\S+ +(?P<t>\d+)s\s*$"
        ),
        compiled(r"^Found heuristic solution: objective (?P<y><N>)"),
        compiled(r"^(?:Loaded user|User) MIP start .*objective (?P<y><N>)"),
        compiled(r"^Best objective (?P<y><N>)"),
        compiled(r"^Optimal objective:? +(?P<y><N>)"),
    ),
    clocks=(
        compiled(r"^[H* ] *\d+ +\d+ .* (?P<t>\d+)s\s*$"),
        compiled(r"^Presolve time: (?P<t><N>)s"),
        compiled(r"^Elapsed time for NoRel heuristic: (?P<t><N>)s"),
        compiled(r"^Explored \d+ nodes? .* in (?P<t><N>) seconds"),
        compiled(r"^(?:Solved|Stopped) in \d+ iterations and (?P<t><N>) seconds"),
    ),
    endings=(
        (compiled(r"^Optimal solution found|^Optimal objective "), Ending.PROVEN),
        (compiled(r"^(?:Model is infeasible|Infeasible model)\s*$"), Ending.INFEASIBLE),
        (compiled(r"^(?:Model is .*unbounded|Infeasible or unbounded|Unbounded)"), Ending.ENDED),
        (compiled(r"^\w+ (?:limit|objective) reached|^Solve interrupted"), Ending.LIMIT),
    ),
    reading=compiled(r"^Reading time = (?P<t><N>) seconds"),
    start=compiled(r"^Optimize a model with "),
)

_CPLEX_VALUE = r"(?P<y>[-+]?\d+[.,]\d+(?:e[-+]?\d+)?)"
CPLEX = LogFormat(
    "cplex",
    "CPLEX",
    values=(
        # A row of a new incumbent: the objective and the number of fractional variables may be
        # empty, and the value always has decimals.
        compiled(r"^\* *\d+\+? +\d+ +(?:integral +)?(?:\d+ +)?" + _CPLEX_VALUE + r"(?:\s|$)"),
        compiled(r"^Found incumbent of value (?P<y><N>) after (?P<t><N>) sec\."),
        compiled(r"^(?:CPLEX> )*MIP - .*: +Objective = +(?P<y><N>)"),
    ),
    clocks=(
        compiled(r"^Elapsed time = (?P<t><N>) sec\."),
        compiled(r"^Total \(root\+branch&cut\) = +(?P<t><N>) sec\."),
        compiled(r"^Solution time = +(?P<t><N>) sec\."),
    ),
    endings=(
        (compiled(r"^(?:CPLEX> )*MIP - Integer optimal"), Ending.PROVEN),
        (compiled(r"^(?:CPLEX> )*MIP - Integer infeasible\.\s*$"), Ending.INFEASIBLE),
        (compiled(r"^(?:CPLEX> )*MIP - .*unbounded"), Ending.ENDED),
        (compiled(r"^(?:CPLEX> )*MIP - .*(?:limit exceeded|Aborted)"), Ending.LIMIT),
    ),
    reading=compiled(r"^(?:CPLEX> )*Read time = +(?P<t><N>) sec\."),
    start=compiled(r"^(?:CPLEX> )*Version identifier: "),
)
