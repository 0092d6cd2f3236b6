"""The runs that other packages read from a folder, each in a separate process.

When they are imported, they change global settings, look for servers and write to the home folder.
Their results must not depend on modules that PolarBear has imported.
"""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

COCO = """
import json, sys, warnings
warnings.simplefilter("ignore")
import matplotlib; matplotlib.use("Agg")
from cocopp import pproc
targets, told = json.loads(sys.argv[2]), sys.stdout
sys.stdout = sys.stderr
found = []
for info in sorted(__import__("pathlib").Path(sys.argv[1]).rglob("*.info")):
    for one in pproc.DataSetList([str(info)]):
        found.append({
            "algorithm": one.algId, "function": one.funcId, "dimension": one.dim,
            "instances": list(map(int, one.instancenumbers)),
            "maxevals": list(map(float, one.maxevals)),
            "finalfunvals": list(map(float, one.finalfunvals)),
            "ert": list(map(float, one.detERT(targets))),
            "evals": [list(map(float, row)) for row in one.detEvals(targets)],
        })
print(json.dumps(found), file=told)
"""

IOH = """
import json, sys, warnings
warnings.simplefilter("ignore")
from iohinspector import DataManager
manager = DataManager()
manager.add_folder(sys.argv[1])
frame = manager.load(monotonic=False, include_meta_data=True)
names = ["algorithm_name", "function_id", "dimension", "instance", "run_id", "evaluations", "raw_y"]
runs = manager.overview.select("algorithm_name", "function_id", "dimension", "instance", "run_id",
                               "evals", "best_y")
print(json.dumps({"points": frame.select(names).rows(), "runs": runs.rows()}))
"""


def _run(code: str, home: Path, *arguments: str) -> Any:
    """Run code of another package and return the JSON in its last line of output."""
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        capture_output=True,
        text=True,
        env={**os.environ, "HOME": str(home), "MPLCONFIGDIR": str(home)},
        check=False,
        timeout=300,  # A package that hangs fails its own test and does not block the others.
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout.splitlines()[-1])


def read_by_cocopp(folder: Path, targets: Sequence[float], home: Path) -> list[dict[str, Any]]:
    """The data set of each function and dimension, with ERT and evaluations to some targets."""
    data_sets: list[dict[str, Any]] = _run(COCO, home, str(folder), json.dumps(list(targets)))
    return data_sets


def read_by_iohinspector(folder: Path, home: Path) -> dict[str, Any]:
    """The points and the runs that iohinspector finds."""
    points_and_runs: dict[str, Any] = _run(IOH, home, str(folder))
    return points_and_runs
