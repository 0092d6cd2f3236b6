"""Programs of any kind as algorithms."""

import stat
import sys
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter
from types import SimpleNamespace
from typing import Any

import pytest

from polarbear.algorithms import command, program
from polarbear.algorithms.command import Command
from polarbear.config.configuration import parse
from polarbear.errors import AlgorithmError, ConfigError
from polarbear.execution.outcome import Outcome, Status, Task
from polarbear.execution.run import Problems, execute
from polarbear.problems import Instance, Setting
from polarbear.problems.instance_files import Files
from polarbear.settings.grid import Budget
from polarbear.settings.options import Source, validate

INSTANCE = Instance(4, "data/berlin52.tsp", {"name": "data/berlin52.tsp"})


class Bench:
    """A folder with programs, and runs of them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def script(self, body: str, name: str = "solver") -> str:
        path = self.folder / name
        path.write_text(f"#!{sys.executable}\nimport sys, time\n{body}\n")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return f"./{name}"

    def algorithm(self, command: Any, **options: Any) -> Command:
        data = {"name": "mine", "use": "command", "command": command, **options}
        return validate(Command, data, Source("test"))

    def setting(self, axis: str = "evaluations", budget: float = 100) -> Setting:
        return Setting(1, Budget(axis=axis, grid=(budget,)), str(self.folder), ("other", "mine"))

    def run(
        self,
        command: Any,
        axis: str = "evaluations",
        budget: float = 100,
        maximise: bool = False,
        **options: Any,
    ) -> Outcome:
        suite = Files(suite="files", names=(INSTANCE.id,), maximise=maximise)
        task = Task(self.algorithm(command, **options), INSTANCE, 77, budget)
        return execute(task, Problems(suite, self.setting(axis, budget)))

    def prints(self, text: str, **options: Any) -> Outcome:
        return self.run(self.script(f"print({text!r})"), **options)


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def test_improvements_are_read_from_standard_output(bench: Bench):
    outcome = bench.prints("# a comment\n\n1 5.5\n2 6\n7 4.5e0\n9 -inf\n9 nan")
    assert outcome.status is Status.ENDED
    assert outcome.times.tolist() == [1, 7]
    assert outcome.values.tolist() == [5.5, 4.5]
    assert outcome.reached == outcome.evaluations == 9
    assert outcome.invalid == 2
    outcome = bench.prints("0.5 5\n2.5 6\n3 4", axis="flops", budget=3, maximise=True)
    assert outcome.times.tolist() == [0.5, 2.5]
    assert outcome.values.tolist() == [-5, -6]


def test_placeholders_are_filled_in_without_a_shell(bench: Bench):
    solver = bench.script("open('seen', 'w').write('|'.join(sys.argv[1:]))")
    command = [solver, "{instance}", "seed={seed}", "{budget}", "{config}", "$HOME; ls", '{"a": 1}']
    bench.run(command, budget=250, parameters="--alpha 0.5 --name 'two words'")
    assert (bench.folder / "seen").read_text() == (
        "data/berlin52.tsp|seed=77|250|--alpha|0.5|--name|two words|$HOME; ls|" + '{"a": 1}'
    )


def test_iraces_argument_order_is_kept(bench: Bench):
    """configuration id, instance id, seed, instance, parameters; then the final cost alone."""
    runner = bench.script(
        "open('seen', 'w').write('|'.join(sys.argv[1:]))\nprint('3 9.5')\nprint('8.25')",
        "target-runner",
    )
    outcome = bench.run(runner, protocol="irace", parameters=["--ants", 10])
    assert (bench.folder / "seen").read_text() == "2|5|77|data/berlin52.tsp|--ants|10"
    assert outcome.times.tolist() == [3, 100]
    assert outcome.values.tolist() == [9.5, 8.25]
    once = bench.prints("3 9.5\n9.5", protocol="irace")
    assert (once.status, once.times.tolist(), once.values.tolist()) == (Status.ENDED, [3], [9.5])


@pytest.mark.parametrize("printed", ["1234.5 3.2", "# irace\n12.5 0.1\n"])
def test_what_irace_calls_cost_and_time_is_refused_with_what_to_print(bench: Bench, printed: str):
    outcome = bench.prints(printed, protocol="irace")
    assert outcome.status is Status.BAD_OUTPUT
    assert "like irace's 'cost time'" in outcome.message
    remedy = "print a line 't y' at every improvement and, last, the final cost alone"
    assert remedy in outcome.message
    assert len(outcome.values) == 0


def test_a_program_is_told_the_whole_budget_and_stopped_where_the_run_ends(bench: Bench):
    solver = bench.script(
        "open('told', 'w').write(sys.argv[1])\n"
        "for t in range(1, 1000):\n    print(t, -t, flush=True)"
    )
    suite = Files(suite="files", names=(INSTANCE.id,))
    task = Task(bench.algorithm(f"{solver} {{budget}}"), INSTANCE, 77, 7)
    outcome = execute(task, Problems(suite, bench.setting(budget=100)))
    assert (bench.folder / "told").read_text() == "100"
    assert outcome.status is Status.BUDGET
    assert outcome.reached == outcome.times[-1] == 7
    outcome = bench.run(f"{bench.script('print(1, 2)')} {{budget}}")
    assert (outcome.status, outcome.reached) == (Status.BUDGET, 100)


PARAMETERS = """\
# name   switch     type values
ants     "--ants "  i    (5, 100)
rho      "--rho="   r    (0.01, 1.00)
local    ""         c    (ls2, ls3)
q0       "--q0 "    r    (0, 1)  | local == "ls2"
[global]
digits = 4
"""
ELITES = """\
.ID. ants rho  local q0
7    25   0.95 ls2   0.5   # the best
9    50   0.90 "ls 3"  NA
"""


def test_a_file_of_iraces_configurations_is_one_algorithm_a_line(bench: Bench):
    (bench.folder / "elites.txt").write_text(ELITES.replace("   # the best", ""))
    (bench.folder / "parameters.txt").write_text(PARAMETERS)
    files = {"configurations": "elites.txt", "parameter_file": "parameters.txt"}
    entry = bench.algorithm("./run", parameters="--fixed", **files)
    parameters = {variant.name: variant.parameters for variant in entry.variants(str(bench.folder))}
    assert parameters == {
        "mine 7": ("--fixed", "--ants", "25", "--rho=0.95", "ls2", "--q0", "0.5"),
        "mine 9": ("--fixed", "--ants", "50", "--rho=0.90", "ls 3"),
    }
    plain = bench.algorithm("./run", configurations="elites.txt")
    assert plain.variants(str(bench.folder))[1].parameters[:4] == ("--ants", "50", "--rho", "0.90")


@pytest.mark.parametrize(
    ("table", "complaint"),
    [
        ("ants rho\n", "no configuration below its header"),
        ("ants rho\n1\n", "line 2: 1 values for 2 parameters"),
        ("ants beta\n1 2\n", "does not say how 'beta' is passed"),
    ],
)
def test_a_file_of_configurations_that_is_none_is_refused_with_its_line(bench, table, complaint):
    (bench.folder / "elites.txt").write_text(table)
    (bench.folder / "parameters.txt").write_text(PARAMETERS)
    files = {"configurations": "elites.txt", "parameter_file": "parameters.txt"}
    entry = {"name": "mine", "use": "command", "command": "./run", **files}
    data = {
        "algorithms": [entry],
        "instances": {"suite": "files", "names": ["a"]},
        "budget": {"grid": [1]},
    }
    with pytest.raises(ConfigError, match=complaint):
        parse(data, Source("test"), str(bench.folder))


@pytest.mark.parametrize("cost", ["8_25", "\u0668"])
def test_a_final_cost_that_only_python_reads_as_a_number_is_refused(bench: Bench, cost: str):
    outcome = bench.prints(f"3 9.5\n{cost}", protocol="irace")
    assert outcome.status is Status.BAD_OUTPUT
    assert outcome.values.tolist() == [9.5]


def test_improvements_can_be_written_to_a_file(bench: Bench):
    solver = bench.script(
        "f = open(sys.argv[1], 'w')\nprint('chatter')\n"
        "for t in (1, 2):\n    f.write(f'{t} {-t}\\n'); f.flush(); time.sleep(0.1)\nf.write('3 -3')"
    )
    outcome = bench.run(f"{solver} {{output}}")
    assert outcome.values.tolist() == [-1, -2, -3]


def test_on_the_seconds_axis_a_program_is_stopped_at_its_budget(bench, monkeypatch):
    solver = bench.script("print(5, flush=True)\nprint(4, flush=True)\ntime.sleep(10**6)")
    take = Command._take
    now = 100.0

    def taken(*arguments: Any) -> None:
        nonlocal now
        take(*arguments)
        now += 0.75  # so that the budget is spent once the second line was heard

    monkeypatch.setattr(Command, "_take", taken)
    for module in (command, program):
        monkeypatch.setattr(module, "time", SimpleNamespace(perf_counter=lambda: now))
    outcome = bench.run(solver, axis="seconds", budget=1.0, time="measured")
    assert outcome.status is Status.BUDGET
    assert outcome.values.tolist() == [5, 4]
    assert outcome.times.tolist() == [0.0, 0.75]


NO_NUMBERS = ["1_0 5", "10 5_0", "\u0661\u0660 5", "10 \uff15", "10 \u22125"]


@pytest.mark.parametrize(
    "line", ["hello world", "1", "1 2 3 4", "1 2 -3", "1;2", "nan 5", "1 two", *NO_NUMBERS]
)
def test_a_line_that_is_not_two_numbers_is_quoted_and_what_came_before_is_kept(bench, line):
    outcome = bench.prints(f"1 5\n{line}\n3 1")
    assert outcome.status is Status.BAD_OUTPUT
    assert outcome.values.tolist() == [5]
    assert line.split()[0] in outcome.message


def test_a_third_number_is_the_violation_of_constraints(bench: Bench):
    outcome = bench.prints("1 5 2.5\n2 9 0\n3 1 0.5\n4 8")
    assert outcome.improvements.points() == [(1, 2.5, 5), (2, 0, 9), (4, 0, 8)]


def test_a_program_that_fails_is_quoted_and_what_it_had_found_is_kept(bench: Bench):
    solver = bench.script("print('1 5', flush=True)\nsys.exit('no licence')")
    outcome = bench.run(solver)
    assert outcome.status is Status.CRASHED
    assert "ended with exit code 1; standard error: no licence" in outcome.message
    assert outcome.values.tolist() == [5]


def test_a_line_without_end_is_refused(bench: Bench):
    outcome = bench.run(bench.script("print('7' * 10**6)"))
    assert outcome.status is Status.BAD_OUTPUT


def test_a_missing_program_is_named_before_anything_runs(bench: Bench):
    with pytest.raises(AlgorithmError, match=r"there is no program .*/none"):
        bench.algorithm("./none").prepare(bench.setting())
    with pytest.raises(AlgorithmError, match="'no-such-solver' is not on the PATH"):
        bench.algorithm("no-such-solver").prepare(bench.setting())
    (bench.folder / "plain.txt").write_text("x")
    with pytest.raises(AlgorithmError, match="not executable: chmod"):
        bench.algorithm("./plain.txt").prepare(bench.setting())


def test_a_program_the_system_cannot_start_is_named(bench: Bench):
    path = bench.folder / "nonsense"
    path.write_bytes(b"\x00\x01 not a program")
    path.chmod(0o755)
    outcome = bench.run("./nonsense")
    assert outcome.status is Status.CRASHED
    assert "cannot start" in outcome.message


def test_an_unknown_placeholder_is_refused_with_the_nearest(bench: Bench):
    with pytest.raises(ConfigError, match=r"placeholder 'instanse'; did you mean 'instance'\?"):
        bench.algorithm("./x {instanse}")
    with pytest.raises(ConfigError, match="needs standard output"):
        bench.algorithm("./x {output}", time="measured")


def test_a_program_reads_nothing_from_our_standard_input(bench: Bench):
    outcome = bench.run(bench.script("print(1, len(sys.stdin.read()))"))
    assert outcome.values.tolist() == [0]


@pytest.mark.parametrize("time", ["reported", "measured"])
def test_a_program_that_ignores_its_time_limit_of_half_a_second_has_0_2_more_at_most(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, time: str
):
    """The deadline is tested, not the clock: a busy machine may be later."""
    begun = perf_counter()
    limits = []
    lines = program.Program.lines

    def noted(self: program.Program, limit: float) -> Iterator[list[str]]:
        limits.append(limit)
        return lines(self, limit)

    monkeypatch.setattr(program.Program, "lines", noted)
    outcome = bench.run(
        bench.script("print(0.1, 5, flush=True)\ntime.sleep(10**6)"), "seconds", 0.5, time=time
    )
    assert outcome.status is Status.BUDGET
    assert perf_counter() - begun >= 0.5
    assert limits[0] <= 0.7
