"""Wrong options of commands that read a store: one clear message, and nothing is written."""

from __future__ import annotations

import pytest

from tests.support import Project

REFUSED = {
    "select": [
        (["--preference", "at 5000"], "5000 is outside the grid, which goes from 10 to 1000"),
        (["--preference", "between 1 and 50"], "1 is outside the grid, which goes from 10 to 1000"),
        (["--preference", "normal 1e6 10"], "nothing of this distribution lies on the grid"),
        (["--preference", "atn 50"], "unknown preference 'atn'; did you mean 'at'?"),
        (["--preference", "bad.py:falls"], "'bad.py:falls' is not strictly monotone"),
        (
            ["--preference", "weights zero.csv"],
            "expected weights of at least zero and one above, found 0 at t = 10",
        ),
        (["--preference", "weights minus.csv"], "one above, found -1 at t = 100"),
        (["--preference", "none.yaml"], "cannot read none.yaml"),
        (["--portfolio", "0"], "a portfolio has 1 to 256 slots, found 0"),
        (["--portfolio", "-3"], "a portfolio has 1 to 256 slots, found -3"),
        (["--algorithms", "early,lat"], "unknown algorithm 'lat'; did you mean 'late'?"),
        (["--risk", "qantile"], "unknown risk profile 'qantile'; did you mean 'quantile'?"),
        (["--gamma", "0"], "gamma must lie in (0, 1), found 0"),
        (["--alpha", "0.2"], "alpha must lie in (0.5, 1], found 0.2"),
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
        (["--set", "alpha=0"], "alpha is 0, but must be above 0"),
        (["--set", "alpha"], "--set takes KEY=VALUE"),
        (["--set", "lengthscale.shap=2"], "did you mean 'shape'?"),
        (["--model", "gp", "--method", "pathfinder"], "native engine has no method 'pathfinder'"),
        (["--epsilon", "0.7", "--pairs", "--until", "100"], "epsilon must lie in"),
        (["--draws", "10"], "draws"),
    ],
    "report": [
        (["other", "--round", "1"], "--round works for a single store only"),
        (["--text", "--at", "100"], "--at is the budget of the figure one-budget: name a folder"),
        (["--text", "--json"], "choose one"),
        (["--only", "ratings"], "name a folder"),
        (["--png", "x", "--only", "rating"], "did you mean 'ratings'"),
        (["--png", "x", "--theme", "pink"], "theme"),
        (["--png", "x", "--width", "wide"], "width"),
        (["--png", "x", "--time-axis", "lin"], "time axis"),
        (["--model", "gp", "--text"], "has no posterior of the model 'gp'"),
        (["--html", "nowhere/page.html"], "nowhere"),
    ],
    "compare": [
        (["--pair", "early"], "--pair takes two algorithms separated by a comma"),
        (["--pair", "early,early"], "a pair is two different algorithms"),
        ([], "the suite 'synthetic' draws rankings only"),
        (["--targets", "1:2"], "targets go from the easiest"),
        (["--bootstrap", "1"], "bootstrap: input should be greater than or equal to 100"),
    ],
    "show": [
        ([], "choose one: --pair A,B [--at T], or --instance ID"),
        (["--pair", "A"], "--pair takes two algorithms separated by a comma, found 'A'"),
        (["--instance", "x", "--at", "3"], "--at goes with --pair"),
    ],
}
CASES = [(command, *case) for command, cases in REFUSED.items() for case in cases]


@pytest.mark.parametrize(("command", "arguments", "words"), CASES)
def test_wrong_options_are_refused_in_a_line(
    inferred: Project, command: str, arguments: list[str], words: str
):
    (inferred.folder / "bad.py").write_text("def falls(theta): return -theta.mean(axis=-1)\n")
    (inferred.folder / "zero.csv").write_text("t,weight\n10,0\n1000,0\n")
    (inferred.folder / "minus.csv").write_text("t,weight\n10,1\n100,-1\n")
    done = inferred(command, "config", *arguments)
    assert done.returncode == 1
    assert words in done.stderr
    assert done.stdout == ""
    assert len(done.stderr.strip().splitlines()) <= 2
    assert not (inferred.folder / "x").exists()
