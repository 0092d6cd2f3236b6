"""The logs of HiGHS, SCIP and CBC."""

from polarbear.algorithms.solver_logs.log_format import Ending, LogFormat, compiled

# A row of HiGHS's table: the incumbent is before the gap, the time is last.
_HIGHS_ROW = r"\s(?P<t><N>)s\s*$"
HIGHS = LogFormat(
    "highs",
    "HiGHS",
    values=(
        compiled(
            r"^ ?\w? +\S+ +\S+ +\S+ +\S+% +\S+ +(?P<y><N>) +(?:<N>%|Large|inf)\s.*" + _HIGHS_ROW
        ),
        compiled(r"^\s*Primal bound\s+(?P<y><N>)"),
        compiled(r"^\s*Objective value\s*:\s*(?P<y><N>)"),
    ),
    clocks=(
        compiled(r"^ ?\w? +\S+ +\S+ +\S+ +\S+% .*" + _HIGHS_ROW),
        compiled(r"^\s*Timing\s+(?P<t><N>)"),
        compiled(r"^\s*HiGHS run time\s*:\s*(?P<t><N>)"),
    ),
    endings=(
        (compiled(r"^\s*(?:Status|Model status\s*:)\s+Optimal"), Ending.PROVEN),
        (compiled(r"^\s*(?:Status|Model status\s*:)\s+Infeasible\s*$"), Ending.INFEASIBLE),
        (compiled(r"^\s*(?:Status|Model status\s*:)\s+.*[Uu]nbounded"), Ending.ENDED),
        (compiled(r"^\s*(?:Status|Model status\s*:)\s+.*(?:reached|[Ii]nterrupt)"), Ending.LIMIT),
    ),
    start=compiled(r"^Running HiGHS "),
)

SCIP = LogFormat(
    "scip",
    "SCIP",
    values=(
        compiled(r"^\S? *(?P<t><N>)s\|.*\| *(?P<y><N>) *\| *(?:<N>%|Inf|Large|-+) *(?:\||$)"),
        compiled(
            r"^feasible solution found by .* after (?P<t><N>) seconds, objective value (?P<y><N>)"
        ),
        compiled(r"^Primal Bound +: +(?P<y><N>) +\((?!0 )"),
    ),
    clocks=(
        compiled(r"^\S? *(?P<t><N>)s\|"),
        compiled(r"^\s+\((?P<t><N>)s\) "),
        compiled(r"^Solving Time \(sec\) *: *(?P<t><N>)"),
    ),
    endings=(
        (compiled(r"^SCIP Status .*\[optimal solution found\]"), Ending.PROVEN),
        (compiled(r"^SCIP Status .*\[infeasible\]"), Ending.INFEASIBLE),
        (compiled(r"^SCIP Status .*unbounded\]"), Ending.ENDED),
        (compiled(r"^SCIP Status .*(?:limit reached|interrupt)"), Ending.LIMIT),
    ),
    reading=compiled(r"^Reading Time *: *(?P<t><N>)"),
    start=compiled(r"^original problem has \d+ variables"),
)

CBC = LogFormat(
    "cbc",
    "CBC",
    values=(
        compiled(
            r"^Cbc00(?:04|12|16)I Integer solution of (?P<internal><N>) found .*"
            r"\((?P<t><N>) seconds\)"
        ),
        compiled(r"^Objective value: +(?P<y><N>)"),
    ),
    clocks=(
        compiled(r"^Cbc\d{4}I .*\((?P<t><N>) seconds\)"),
        compiled(r"^Cbc\d{4}I After (?P<t><N>) seconds"),
        compiled(r"- (?P<t><N>) seconds\s*$"),
        compiled(r"^Total time \(CPU seconds\): .*\(Wallclock seconds\): +(?P<t><N>)"),
    ),
    endings=(
        (compiled(r"^Result - Optimal solution found"), Ending.PROVEN),
        (compiled(r"^Result - .*infeasible|^Problem is infeasible"), Ending.INFEASIBLE),
        (compiled(r"^Result - .*unbounded"), Ending.ENDED),
        (compiled(r"^Result - (?:Stopped on|User ctrl)"), Ending.LIMIT),
    ),
    # CBC minimises the negated objective, and says so in one of these ways.
    maximising=compiled(r"Maximization problem reformulated|Switching back to maximization"),
    start=compiled(r"^Welcome to the CBC MILP Solver"),
)
