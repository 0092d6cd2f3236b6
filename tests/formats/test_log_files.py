"""Logs of solvers as files."""

import shutil
from pathlib import Path

import pytest

import polarbear as pb
from polarbear.errors import ConfigError, ImportFailedError
from polarbear.execution.outcome import Status
from polarbear.formats.base import Imported
from polarbear.formats.log_files import SolverLogs
from polarbear.settings.options import Source, validate
from tests.support import Project

LOGS = Path(__file__).parent.parent / "data" / "logs"
SOLVERS = ("highs", "scip", "cbc", "gurobi", "cplex", "cp-sat")


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    """Logs of six solvers on three instances, each solver's in a folder."""
    for solver in SOLVERS:
        (tmp_path / "logs" / solver).mkdir(parents=True)
        for instance in ("optimal", "limit", "infeasible"):
            source = LOGS / f"{solver}-{instance}.log"
            shutil.copy(source, tmp_path / "logs" / solver / f"{instance}.log")
    return tmp_path / "logs"


def imported(source: Path, **options: object) -> Imported:
    return validate(SolverLogs, options, Source("log")).read(source)


def one_log(folder: Path, text: str, **options: object) -> Imported:
    (folder / "A").mkdir(exist_ok=True)
    (folder / "A" / "x.log").write_text(text)
    return imported(folder, **options)


def test_the_logs_of_several_solvers_are_one_import(project: Project, logs: Path):
    result = project.json("import", logs, "--format", "log", "--store", "runs")
    assert (result["added"], result["instances"], result["rejected"]) == (18, 3, [])
    assert set(result["algorithms"]) == set(SOLVERS)
    store = pb.open(project.folder / "runs")
    assert store.axis == "seconds"
    frame = store.trajectories()
    statuses = dict(frame.select("instance", "run_status").unique().rows())
    assert statuses == {"optimal": "proven", "limit": "budget", "infeasible": "infeasible"}
    gurobi = frame.filter(algorithm="gurobi", instance="limit").select("t", "y").rows()
    assert gurobi == [
        *((0.3, 832), (10.25, 401), (12.25, 326), (22.25, 305.5)),
        pytest.approx((30.26, 305.5)),
    ]


def test_a_proof_is_kept_and_a_limit_is_not(logs: Path):
    by_key = {(o.task.algorithm.name, o.task.instance.id): o for o in imported(logs).outcomes}
    assert by_key["highs", "optimal"].status is Status.PROVEN
    assert by_key["highs", "limit"].status is Status.BUDGET
    kept = {
        (o.task.algorithm.name, o.task.instance.id): o
        for o in imported(logs, after_end="keeps").outcomes
    }
    assert kept["highs", "limit"].status is Status.LIMIT


def test_files_and_seeds_are_named_by_the_end_of_their_paths(project: Project, tmp_path: Path):
    paths = []
    for seed in (2, 10, 1):
        path = tmp_path / "HiGHS" / f"p-0{seed % 2}-{seed}.txt"
        path.parent.mkdir(exist_ok=True)
        shutil.copy(LOGS / "highs-limit.log", path)
        paths.append(path)
    pattern = "{algorithm}/{instance}-{seed}.txt"
    arguments = ("--format", "log", "--pattern", pattern, "--store", "runs", "--read", "highs")
    result = project.json("import", *paths, *arguments)
    assert (result["added"], result["algorithms"]) == (3, ["HiGHS"])
    store = pb.open(project.folder / "runs")
    assert set(store.trajectories()["instance"]) == {"p-00#1", "p-00#2", "p-01#1"}
    message = project.refused("import", paths[0], "--format", "log", "--store", "runs")
    assert "is not as --pattern '{algorithm}/{instance}.log' says" in message


def test_runs_that_had_the_same_limit_are_compared_until_the_first_of_them_ends(tmp_path: Path):
    for algorithm, end in (("A", 60.0), ("B", 60.4)):
        (tmp_path / algorithm).mkdir()
        text = f"t=1 y=5\nt=20 y=4\nt={end} y=3\n"
        (tmp_path / algorithm / "x.log").write_text(text)
    options = {"format": "log", "read": r"t=(?P<t>\S+) y=(?P<y>\S+)"}
    store = pb.import_data([tmp_path / "A", tmp_path / "B"], tmp_path / "runs", **options)
    assert store.times.tolist() == [1, 20, 60]


@pytest.mark.parametrize(
    ("text", "options", "reason", "line"),
    [
        ("o 5\no 4\ns OPTIMUM FOUND\n", {"read": "o-lines"}, "no line tells the time", "line 1"),
        ("hello\n", {}, "it does not tell whose log it is: --read NAME", "x.log"),
        ("hello\n", {"read": "scip"}, "no line is one of a log that --read scip reads", "x.log"),
        ("----------\n==========\n", {"read": "minizinc"}, "add --output-objective", "x.log"),
        ("1/2\to 5\n1/3\ts UNSATISFIABLE\n", {"read": "o-lines"}, "calls infeasible", "line 1"),
        ("Running HiGHS 1\nRunning HiGHS 1\n", {"read": "highs"}, "another run begins", "line 2"),
    ],
)
def test_a_log_that_cannot_be_used_is_refused_with_the_reason(
    tmp_path: Path, text: str, options: dict[str, str], reason: str, line: str
):
    with pytest.raises(ImportFailedError) as refusal:
        one_log(tmp_path, text, **options)
    assert reason in str(refusal.value)
    assert line in str(refusal.value)


def test_the_last_line_of_a_log_that_was_cut_off_is_left_out(tmp_path: Path):
    result = one_log(tmp_path, "0.1/0.2\to 17\n0.2/0.3\to 1", read="o-lines")
    assert [outcome.values.tolist() for outcome in result.outcomes] == [[17]]
    (rejection,) = result.rejected
    assert rejection.reason == "the last line is incomplete"
    assert rejection.first.endswith("x.log, line 2")
    assert "1 log does not say how the search ended" in result.notes[0]
    # Where no later line tells the time of a value, it is left out as well.
    text = (LOGS / "cplex-optimal.log").read_text()
    result = one_log(tmp_path, text[: text.index("Clique cuts")], read="cplex")
    assert result.outcomes[0].values.tolist() == [832, 410, 326, 305]
    assert result.rejected[0].reason == "no later line tells when the value was found"


def test_values_that_only_get_worse_suggest_the_other_sense(tmp_path: Path):
    text = (LOGS / "cp-sat-optimal.log").read_text()
    result = one_log(tmp_path, text)
    assert "add --maximise if larger is better" in result.notes[0]
    result = one_log(tmp_path, text, maximise=True)
    assert result.notes == ()
    assert result.outcomes[0].values.tolist() == [-665, -751]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"read": "gurbi"}, "unknown log 'gurbi'; did you mean 'gurobi'?"),
        ({"pattern": "{algorithm}.log"}, "{instance} is missing"),
        ({"pattern": "{algorithm}/{instanc}"}, "unknown part of a path 'instanc'"),
        ({"pattern": "{algorithm}/{instance}{instance}"}, "a part occurs twice"),
    ],
)
def test_options_that_are_invalid_are_refused(
    tmp_path: Path, options: dict[str, str], message: str
):
    with pytest.raises(ConfigError) as refusal:
        one_log(tmp_path, "o 5\n", **options)
    assert message in str(refusal.value)


def test_two_logs_of_one_run_are_refused(tmp_path: Path):
    for folder in ("a", "b"):
        (tmp_path / folder / "A").mkdir(parents=True)
        shutil.copy(LOGS / "highs-limit.log", tmp_path / folder / "A" / "x.log")
    with pytest.raises(ImportFailedError, match="are logs of one run by --pattern"):
        imported(tmp_path)


def test_other_formats_take_one_source(project: Project, tmp_path: Path):
    for name in ("a.csv", "b.csv"):
        (tmp_path / name).write_text("algorithm,instance,t,y\nA,i,1,2\n")
    message = project.refused("import", tmp_path / "a.csv", tmp_path / "b.csv", "--store", "runs")
    assert "2 sources for a format that reads one: import them one by one" in message
