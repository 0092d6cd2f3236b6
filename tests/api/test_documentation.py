"""The examples of docs/reference/python.md run one after the other, as one script."""

from __future__ import annotations

import re
from pathlib import Path

from tests.support import Project

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "python.md"

CONFIG = {
    "algorithms": [
        {"name": "A", "use": "random-search"},
        {"name": "B", "use": "scipy", "method": "nelder-mead"},
        {"name": "C", "use": "scipy", "method": "powell"},
    ],
    "instances": {"suite": "classic", "dimensions": {"from": 2, "to": 3}},
    "budget": {"grid": [10, 100, 1000]},
    "race": {"limits": {"instances": 16}},
}


def test_the_documented_examples_run(tmp_path: Path):
    project = Project(tmp_path)
    project.configure(**CONFIG)
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert len(blocks) > 5
    (tmp_path / "examples.py").write_text("\n".join(blocks))
    done = project.python("examples.py")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "page.html").exists()
    assert "PARETO SET" in done.stdout.upper()
