"""Wrong options and configurations: one clear message, and nothing is written."""

from typing import Any

import pytest

from tests.support import Project, solver

PL = ["--model", "dirichlet"]
STAN = [*PL, "--engine", "stan"]
REFUSED = {
    "select": [
        (["--preference", "at 5000"], "5000 is outside the grid, which goes from 10 to 1000"),
        (["--preference", "bad.py:falls"], "'bad.py:falls' is not strictly monotone"),
        (["--portfolio", "0"], "a portfolio has 1 to 256 slots, found 0"),
        (["--portfolio", "257"], "a portfolio has 1 to 256 slots, found 257"),
        (["--algorithms", "early,lat"], "unknown algorithm 'lat'; did you mean 'late'?"),
        (["--gamma", "0"], "gamma must lie in (0, 1), found 0"),
        *((["--gamma", x], "gamma must lie in (0, 1)") for x in ("1", "-1", "2", "nan")),
        (["--alpha", "0.2"], "alpha must be above 0.5 and at most 1, found 0.2"),
        *((["--alpha", x], "alpha must be above 0.5 and at most 1") for x in ("0", "0.5", "1.01")),
        (["--model", "gp"], "`polarbear infer config --model gp` makes one"),
        (["--key", "zz"], "has no posterior 'zz'"),
        (["--png", "x.png"], "--png draws a sweep: add --sweep"),
        (["--sweep", "--png", "no/such/x.png"], "cannot write the figure no/such/x.png"),
        (["--sweep", "--png", "x.what"], "cannot write the figure x.what"),
    ],
    "infer": [
        (["--model", "bsplin"], "'bspline'"),
        (["--at", "5"], "outside the grid, from 10 to 1000"),
        (["--at", "x"], "--at takes times"),
        (["--algorithms", "early,Z"], "unknown algorithm 'Z'"),
        (["--algorithms", "early"], "only one algorithm"),
        (["--set", "alpha=-1"], "alpha is -1, but must be above 0"),
        (["--set", "alpha=0"], "above 0: with less the dirichlet posterior is improper as soon as"),
        (["--set", "alpha"], "--set takes KEY=VALUE"),
        (["--set", "lengthscale.shap=2"], "did you mean 'shape'?"),
        (["--method", "pathfinder", *PL], "native engine has no method 'pathfinder'; it has auto"),
        (["--method", "split-hmc", *STAN], "stan engine has no method 'split-hmc'; it has auto"),
        (["--epsilon", "0.5", "--pairs", "--until", "100"], "epsilon must lie in"),
        (["--draws", "10"], "draws"),
    ],
    "report": [
        (["other", "--round", "1"], "--round works for a single store only"),
        (["--text", "--at", "100"], "--at is the budget of the figure one-budget: name a folder"),
        (["--text", "--json"], "choose one"),
        (["--only", "ratings"], "name a folder"),
        (["--png", "x", "--only", "rating"], "unknown figure 'rating'; did you mean 'ratings'?"),
        (["--png", "x", "--width", "wide"], "width"),
        (["--model", "gp", "--text"], "has no posterior of the model 'gp'"),
        (["--html", "nowhere/page.html"], "there is no folder nowhere"),
    ],
    "compare": [
        (["--pair", "early"], "--pair takes two algorithms separated by a comma"),
        ([], "the suite 'synthetic' draws rankings only"),
        (["--targets", "1:2"], "targets go from the easiest"),
        (["--bootstrap", "1"], "bootstrap: input should be greater than or equal to 100"),
    ],
    "show": [
        ([], "choose one: --pair A,B [--at T], or --instance ID"),
        (["--pair", "A"], "--pair takes two algorithms separated by a comma, found 'A'"),
        (["--instance", "x", "--at", "3"], "--at goes with --pair"),
        (["--instance", "synthetic-"], "unknown instance 'synthetic-'; did you mean 'synthetic-"),
        (["--pair", "early,D"], "unknown algorithm 'D'"),
        (["--pair", "early,early"], "found 'early' twice"),
        (["--pair", "early,late", "--at", "5"], "--at 5 is outside the grid, 10 to 1000"),
    ],
}
WRONG_USAGE = [
    (["select", "config", "--risk", "qantile"], "'qantile' is not one of p2bb, mean, quantile, "),
    (["select", "config", "--risk", "qantile"], "; did you mean 'quantile'?"),
    (["select", "config", "--value", "duel"], "'--value': 'duel' is not one of duels, firsts, "),
    (["infer", "config", "--engine", "stn"], "'stn' is not one of native, stan; did you mean"),
    (["infer", "config", "--method", "split-hcm"], "; did you mean 'split-hmc'?"),
    (["infer", "config", "--draws", "many"], "invalid value for '--draws': "),
    (["report", "config", "--theme", "pink"], "'pink' is not one of light, dark, print"),
    (["report", "config", "--time-axis", "lin"], "; did you mean 'linear'?"),
    (["report", "config", "--align", "shares"], "; did you mean 'share'?"),
    (["compare", "config", "--scale", "linaer"], "; did you mean 'linear'?"),
    (["race", "config.yaml", "--engine", "locl"], "; did you mean 'local'?"),
    (["gate", "c.yaml", "--baseline", "a", "--candidate", "b", "--undecided", "fial"], "'fail'?"),
    (["gate", "c.yaml", "--baseline", "a", "--candidate", "b", "--failures", "wors"], "'worse'?"),
    (["gate", "c.yaml", "--baseline", "a"], "missing option '--candidate'"),
    (["import", "x.csv", "--store", "s", "--after-end", "absnt"], "; did you mean 'absent'?"),
    (["import", "x.csv", "--store", "s", "--spacing", "lgo"], "; did you mean 'log'?"),
    (["stan", "install", "--way", "wheel"], "; did you mean 'wheels'?"),
    (["rcae"], "no such command 'rcae'. Did you mean 'race'?"),
    (["race"], "missing argument 'CONFIG'"),
    (["select", "config", "--rsik", "mean"], "no such option: --rsik (Possible options: --risk"),
    (["status", "one", "two"], "got unexpected extra argument(s) (two)"),
]
CASES = [(command, *case) for command, cases in REFUSED.items() for case in cases]


@pytest.mark.parametrize(("command", "arguments", "words"), CASES)
def test_wrong_options_are_refused_in_a_line(inferred, command, arguments, words):
    (inferred.folder / "bad.py").write_text("def falls(theta): return -theta.mean(axis=-1)\n")
    done = inferred(command, "config", *arguments)
    assert done.returncode == 1
    assert words in done.stderr
    assert done.stdout == ""
    assert len(done.stderr.strip().splitlines()) <= 2
    assert not (inferred.folder / "x").exists()


@pytest.mark.parametrize(("arguments", "words"), WRONG_USAGE)
def test_wrong_usage_is_refused_before_a_file_is_read_with_the_nearest_value(
    project: Project, arguments: list[str], words: str
):
    ended = project(*arguments)
    assert ended.returncode == 2
    assert words in ended.stderr
    assert ended.stdout == ""
    reason, remedy = ended.stderr.splitlines()
    assert reason.startswith("polarbear: ")
    assert remedy.startswith("`polarbear")
    assert remedy.endswith("--help` shows how it is used")
    assert list(project.folder.iterdir()) == []


UNKNOWN_NAMES = [
    (["infer", "none", "--model", "bsplin"], "unknown model 'bsplin'; did you mean 'bspline'?"),
    (["select", "none", "--preference", "unifrm"], "did you mean 'uniform'?"),
    (["select", "none", "--preference", "0.5 * at 5 + 0.5 * finl"], "did you mean 'final'?"),
    (["race", "none.yaml", "--for", "att 10"], "did you mean 'at'?"),
    (["report", "none", "--png", "x", "--only", "rating"], "did you mean 'ratings'?"),
    (["report", "a", "b", "--png", "x", "--only", "duel"], "did you mean 'duels'?"),
    (["import", "none", "--store", "s", "--format", "tabel"], "did you mean 'table'?"),
    (["export", "none", "--to", "x", "--format", "parqet"], "did you mean 'parquet'?"),
]


@pytest.mark.parametrize(("arguments", "words"), UNKNOWN_NAMES)
def test_an_unknown_name_of_a_plug_in_is_refused_before_a_store_is_opened(
    project: Project, arguments: list[str], words: str
):
    refusal = project.refused(*arguments)
    assert words in refusal
    assert len(refusal.splitlines()) == 1


FOR_A_TIME = {"budget": {"grid": [10, 100, 1000]}}
CONFIGURED: dict[str, list[tuple[dict[str, Any], list[str], str]]] = {
    "run": [
        ({"algorithms": []}, [], "the list is empty; name at least one algorithm"),
        ({"budget": {"grid": [0.2, 10]}}, [], "evaluations are whole and the first is 1"),
        ({"budget": {"grid": {"from": 0.3, "to": 9}}}, [], "evaluations are whole and the first"),
        ({"algorithms": [solver("no_such_function")]}, [], "has no 'no_such_function'"),
        (
            {"algorithms": [solver("coordinate_descent", stp=0.3)]},
            [],
            "unknown argument 'stp'; did you mean 'step'?",
        ),
        (
            {"algorithms": [{"name": "x", "use": "command", "command": "./none"}]},
            [],
            "there is no program",
        ),
        ({"instances": {"suite": "files", "glob": "*.tsp"}}, [], "takes problems of the kind"),
        ({"nonsense": 1}, [], "unknown key 'nonsense'"),
    ],
    "race": [
        ({"race": {"alpha": 0.5}}, [], "race.alpha: alpha must be above 0.5"),
        ({"race": {"alpha": 95}}, [], "at most 1, found 95: did you mean 0.95?"),
        ({"race": {"alfa": 0.9}}, [], "unknown key 'alfa'; did you mean 'alpha'"),
        (
            {"race": {"elimination": "joint"}, "inference": {"model": "dirichlet"}},
            [],
            "treats them as independent; choose another under",
        ),
        ({"race": {"batch": {"start": 4}}}, [], "min <= start <= max, found 8, 4, 64"),
        ({"race": {"limits": {"hours": 0}}}, [], "race.limits.hours"),
        ({"algorithms": [solver("coordinate_descent")]}, [], "at least two algorithms, found 1"),
        ({}, ["--add", "random"], "no race in config that 'random' could enter"),
        ({}, ["--add", "randm"], "unknown algorithm 'randm'; did you mean 'random'"),
        (FOR_A_TIME, ["--for", "at 9999"], "9999 is outside the grid, which goes from 10 to 1000"),
        (FOR_A_TIME, ["--for", "att 10"], "did you mean 'at'?"),
        (FOR_A_TIME, ["--for", "final", "--regret", "0"], "never falls below 0"),
    ],
}


@pytest.mark.parametrize(
    ("command", "changes", "arguments", "words"),
    [(command, *case) for command, cases in CONFIGURED.items() for case in cases],
)
def test_invalid_options_are_refused_in_one_clear_message_and_run_nothing(
    project: Project, command: str, changes: dict[str, Any], arguments: list[str], words: str
):
    project.configure(**changes)
    done = project(command, "config.yaml", *arguments)
    assert done.returncode == 1
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert len(done.stderr.strip().splitlines()) <= 3
    assert done.stdout == ""
    assert not list(project.store.glob("runs/*"))
    if command == "run" or "--for" in arguments:
        assert not project.store.exists()
