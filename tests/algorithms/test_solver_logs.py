"""The logs of solvers: real ones of those that run here, and written ones of Gurobi and CPLEX."""

import re
from pathlib import Path
from typing import Any

import pytest

from polarbear.algorithms.solver_logs import LOGS
from polarbear.algorithms.solver_logs.log_format import Ending, named_log
from polarbear.algorithms.solver_logs.log_reader import LoggedRun
from polarbear.algorithms.solver_logs.running_log import LogClock, RunningLog
from polarbear.errors import ConfigError
from polarbear.execution.outcome import Outcome, Status
from tests.algorithms.test_command import Bench

FOLDER = Path(__file__).parent.parent / "data" / "logs"
# The log, how the search ended and when by its clock, the first and the last point, and how many.
KNOWN: list[tuple[str, str, Ending | None, float, Any, Any, int]] = [
    ("highs", "optimal", Ending.PROVEN, 0.01, (0.0, 5913.51071), (0.0, 263.48654), 3),
    ("highs", "infeasible", Ending.INFEASIBLE, 0.0, None, None, 0),
    ("highs", "limit", Ending.LIMIT, 4.02, (0.0, 51124), (2.0, 305), 6),
    ("scip", "optimal", Ending.PROVEN, 0.0, (0.0, 6455.137), (0.0, 263.4865), 4),
    ("scip", "infeasible", Ending.INFEASIBLE, 0.0, None, None, 0),
    ("scip", "limit", Ending.LIMIT, 4.01, (0.0, 51124), (1.9, 307), 8),
    ("cbc", "optimal", Ending.PROVEN, 0.01, (0.0, 263.48654), (0.0, 263.48654), 1),
    ("cbc", "infeasible", Ending.INFEASIBLE, 0.0, None, None, 0),
    ("cbc", "limit", Ending.LIMIT, 4.38, (0.97, 305), (0.97, 305), 1),
    ("cbc", "maximum", Ending.PROVEN, 0.05, (0.04, 2182), (0.04, 2182), 1),
    ("gurobi", "optimal", Ending.PROVEN, 9.56, (0.3, 832), (9.25, 304), 6),
    ("gurobi", "infeasible", Ending.INFEASIBLE, 0.28, None, None, 0),
    ("gurobi", "limit", Ending.LIMIT, 30.26, (0.3, 832), (22.25, 305.5), 4),
    ("cplex", "optimal", Ending.PROVEN, 5.99, (0.21, 832), (5.98, 304), 6),
    ("cplex", "infeasible", Ending.INFEASIBLE, 0.21, None, None, 0),
    ("cplex", "limit", Ending.LIMIT, 30.21, (0.53, -54401039), (20.25, -6e7), 2),
    ("cp-sat", "optimal", Ending.PROVEN, 0.1, (0.01, 665), (0.02, 751), 2),
    ("cp-sat", "infeasible", Ending.INFEASIBLE, 0.00168, None, None, 0),
    ("cp-sat", "limit", Ending.LIMIT, 3.01181, (0.03, 1004), (2.99, 896), 51),
    ("minizinc", "optimal", Ending.PROVEN, 2.14, (1.72, 9), (2.14, 4), 3),
    ("minizinc", "infeasible", Ending.INFEASIBLE, 0.11, None, None, 0),
    ("minizinc", "limit", None, 1.56, (0.98, 9), (1.56, 4), 3),
    ("minizinc", "stream", Ending.PROVEN, 5.533, (4.91, 9), (5.533, 4), 3),
    ("o-lines", "stamped", Ending.PROVEN, 0.51, (0.0, 230), (0.29, 94), 34),
]
NAMES = sorted(path.stem for path in FOLDER.glob("*.log"))


def lines_of(stem: str) -> list[str]:
    return (FOLDER / f"{stem}.log").read_text().splitlines(keepends=True)


def log_of(stem: str) -> str:
    return max((name for name in LOGS if stem.startswith(name)), key=len)


def read(stem: str, lines: list[str] | None = None) -> LoggedRun:
    return LoggedRun(LOGS[log_of(stem)]).read(lines_of(stem) if lines is None else lines)


@pytest.mark.parametrize(("log", "kind", "ending", "end", "first", "last", "count"), KNOWN)
def test_a_log_tells_values_times_and_how_the_search_ended(
    log: str, kind: str, ending: Ending | None, end: float, first: Any, last: Any, count: int
):
    run = read(f"{log}-{kind}")
    assert run.ending is ending
    assert run.end == pytest.approx(end, abs=1e-5)
    points = [(point.t, point.y) for point in run.points]
    assert len(points) == count
    assert points[:1] == ([] if first is None else [pytest.approx(first)])
    assert points[-1:] == ([] if last is None else [pytest.approx(last)])
    assert points == sorted(points, key=lambda point: point[0])


def test_every_log_has_the_ends_that_matter():
    ends = {log: {kind for name, kind, *_ in KNOWN if name == log} for log in LOGS}
    ends["o-lines"] |= {stem.removeprefix("o-lines-") for stem in NAMES if "o-lines" in stem}
    assert all({"infeasible", "optimal", "limit"} <= kinds for kinds in ends.values())


@pytest.mark.parametrize("stem", NAMES)
def test_a_log_that_is_cut_off_says_nothing_that_the_whole_log_does_not_say(stem: str):
    lines = lines_of(stem)
    whole = [(point.line, point.y) for point in read(stem).points]
    for length in range(len(lines)):
        run = read(stem, [*lines[:length], lines[length][: -len(lines[length]) // 2]])
        points = [(point.line, point.y) for point in run.points]
        assert points == whole[: len(points)]
        assert run.ending in (None, read(stem).ending)


@pytest.mark.parametrize("stem", NAMES)
def test_no_line_of_a_log_is_one_of_another_solvers_log(stem: str):
    """Only MiniZinc and o-lines are so short that lines of others might look like theirs."""
    for other in LOGS:
        if other != log_of(stem):
            assert LoggedRun(LOGS[other]).read(lines_of(stem)).points == []


def test_a_value_that_is_written_again_with_other_digits_is_the_same():
    run = RunningLog(named_log("v=(?P<y>.*)"), LogClock.ARRIVAL)
    lines = ["v=263.48654", "v=263.4865", "v=2.63486540000e+02", "v=263.4861", "v=5", "v=4.9"]
    assert [y for _, y in run.values(lines, 1.0)] == [263.48654, 263.4861, 5, 4.9]
    # Few digits are all digits.
    run = RunningLog(named_log("v=(?P<y>.*)"), LogClock.ARRIVAL)
    assert [y for _, y in run.values(["v=1e+06", "v=999999"], 1.0)] == [1e6, 999999]


def test_times_are_those_of_arrival_unless_the_program_kept_its_output_back():
    rows = ["{}|x=3", "{}|x=2", "{}|x=1"]
    pattern = named_log(r"(?P<t>[\d.]+)\|x=(?P<y>\d+)")
    prompt = RunningLog(pattern, LogClock.BOTH)
    times = []
    for row, at in zip(rows, (0.1, 1.4, 2.9), strict=True):
        times += [t for t, _ in prompt.values([row.format(at)], at + 0.52)]
    assert times == pytest.approx([0.62, 1.92, 3.42])  # reading took 0.52 s
    kept_back = RunningLog(pattern, LogClock.BOTH)
    lines = [row.format(at) for row, at in zip(rows, (0.1, 1.4, 2.9), strict=True)]
    times = [t for t, _ in kept_back.values(lines, 3.5)]
    assert times == pytest.approx([0.8, 2.1, 3.5])  # at most 0.6 s, and a last digit of the log
    measured = RunningLog(pattern, LogClock.ARRIVAL)
    assert [t for t, _ in measured.values(lines, 3.5)] == [3.5] * 3


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def replay(bench: Bench, stem: str, extra: str = "", **options: Any) -> Outcome:
    """Run a program that prints a log."""
    body = f"sys.stdout.write(open({str(FOLDER / stem)!r} + '.log').read())\n"
    body += f"sys.stdout.flush()\n{extra}"
    read = options.pop("read", log_of(stem))
    return bench.run(
        bench.script(body), "seconds", options.pop("budget", 60.0), read=read, **options
    )


@pytest.mark.parametrize("stem", [stem for stem in NAMES if "without" not in stem])
def test_a_program_whose_output_is_a_log_is_recorded(bench: Bench, stem: str):
    larger_is_better = stem in ("cp-sat-optimal", "cbc-maximum")
    outcome = replay(bench, stem, maximise=larger_is_better)
    run = read(stem)
    assert outcome.status.value == (run.ending or Status.ENDED).value
    assert not outcome.status.failed
    values = [point.y for point in run.points]
    values += [float(line.split()[1]) for line in lines_of(stem) if line.startswith("o ")]
    assert outcome.values.tolist() == [-y if larger_is_better else y for y in values]
    assert outcome.reached < 60


def test_where_larger_is_better_values_keep_their_sign(bench: Bench):
    outcome = replay(bench, "cbc-maximum", maximise=True)
    assert outcome.values.tolist() == [-2182]  # values are stored to be minimised


def test_a_proof_ends_the_run_even_if_the_program_lingers(bench: Bench):
    outcome = replay(bench, "highs-optimal", "time.sleep(1000)", budget=1.0)
    assert outcome.status is Status.PROVEN
    assert outcome.values[-1] == 263.48654
    assert outcome.reached < 1.0
    outcome = replay(bench, "highs-limit", "time.sleep(1000)", budget=1.0)
    assert outcome.status is Status.BUDGET


def test_solvers_that_tell_their_result_by_the_exit_code_have_not_failed(bench: Bench):
    outcome = replay(bench, "o-lines-optimal", "sys.exit(30)")
    assert (outcome.status, outcome.values[-1]) == (Status.PROVEN, 94)
    outcome = replay(bench, "highs-optimal", "sys.exit(30)")
    assert outcome.status is Status.CRASHED


def test_a_run_that_reached_the_limit_it_was_given_has_used_its_budget(bench: Bench):
    body = f"print(open({str(FOLDER / 'highs-limit.log')!r}).read())"
    outcome = bench.run(f"{bench.script(body)} {{budget}}", "seconds", 60.0, read="highs")
    assert (outcome.status, outcome.reached) == (Status.BUDGET, 60)
    outcome = bench.run(bench.script(body), "seconds", 60.0, read="highs")
    assert outcome.status is Status.LIMIT


def test_solutions_without_values_are_refused_with_what_to_add(bench: Bench):
    outcome = replay(bench, "minizinc-without-values")
    assert outcome.status is Status.BAD_OUTPUT
    assert "add --output-objective" in outcome.message


def test_an_infeasible_instance_with_a_value_is_refused(bench: Bench):
    outcome = bench.prints("o 5\ns UNSATISFIABLE", axis="seconds", budget=9, read="o-lines")
    assert outcome.status is Status.BAD_OUTPUT
    assert "infeasible, after a value" in outcome.message


def test_a_regular_expression_reads_any_output(bench: Bench):
    text = "start\n[0.25 s] cost 17.5\nnoise 3\n[1.5 s] cost 12\n"
    pattern = r"^\[(?P<t>[\d.]+) s\] cost (?P<y>\S+)"
    outcome = bench.prints(text, axis="moves", budget=9, read=pattern)
    assert (outcome.times.tolist(), outcome.values.tolist()) == ([0.25, 1.5], [17.5, 12])
    outcome = bench.prints(text, axis="seconds", budget=9, read=r"cost (?P<y>\S+)", time="measured")
    assert outcome.values.tolist() == [17.5, 12]


def test_a_long_line_is_read_in_part_and_lines_after_it_in_full(bench: Bench):
    body = "print('o 7'); print('v ' + 'x1 ' * 10**6); print('o 5'); print('s SATISFIABLE')"
    outcome = bench.run(bench.script(body), "seconds", 60.0, read="o-lines")
    assert (outcome.values.tolist(), outcome.status) == ([7, 5], Status.LIMIT)


def test_the_part_of_a_line_that_a_killed_program_left_is_no_value(bench: Bench):
    body = "import os\nsys.stdout.write('o 7\\no 12')\nsys.stdout.flush()\nos.kill(os.getpid(), 6)"
    outcome = bench.run(bench.script(body), "seconds", 60.0, read="o-lines", maximise=True)
    assert outcome.values.tolist() == [-7]


@pytest.mark.parametrize(
    ("read", "message"),
    [
        ("hihgs", "unknown log 'hihgs'; did you mean 'highs'?"),
        ("(?P<t>.*", "is invalid: missing )"),
        (r"(\d+)", "has no group y"),
        (r"(?P<y>\d+) (?P<seed>.)", "unknown group of the regular expression 'seed'"),
    ],
)
def test_what_cannot_be_read_is_refused_in_one_line(bench: Bench, read: str, message: str):
    with pytest.raises(ConfigError, match=re.escape(message)) as refusal:
        bench.algorithm("./solver", read=read)
    assert "\n" not in str(refusal.value)


def test_a_log_has_no_times_in_evaluations(bench: Bench):
    outcome = bench.prints("o 5", read="o-lines")
    assert outcome.status is Status.CRASHED
    assert "has no times in evaluations: use 'axis: seconds'" in outcome.message
