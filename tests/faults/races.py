"""Small complete races in this process, and the contents by which their stores are compared."""

from pathlib import Path
from typing import Any

from polarbear.config.configuration import Config
from polarbear.execution.executor_choice import use_executor
from polarbear.store import StoreOnDisk
from tests.driver.test_loop import configured, run
from tests.support import quick_executor

RULES = {"batch": {"start": 4, "min": 4, "max": 8}, "limits": {"rounds": 4}, "alpha": 0.999}
QUICK = {"inference": {"draws": 400}, "execution": {"early": 0}}
CONFIG = configured(("good", "bad", "early"), rules=RULES, **QUICK)
WITH_NEWCOMER = configured(
    ("good", "bad", "early", "late"), rules={**RULES, "limits": {"rounds": 7}}, **QUICK
)
# Columns of runs that describe the machine, and differ between equal races.
OF_THE_MACHINE = ("seconds", "started", "host", "cpu", "load", "worker", "workers")


def raced(folder: Path, config: Config = CONFIG, **options: Any) -> int:
    """Race in this folder, or continue the race in it; returns the number of executed runs."""
    # Benchmarks use this function outside of pytest, where no fixture sets the executor.
    with use_executor(quick_executor):
        return len(run(config, folder, **options)[2].runs)


def essence(folder: Path) -> dict[str, Any]:
    """Everything in a store that a race decides: its rounds to the byte, and their evidence."""
    store = StoreOnDisk.open(folder)
    rounds = {
        path.name: path.read_bytes()
        for path in sorted((folder / "rounds").glob("*"))
        if path.suffix in (".json", ".parquet")
    }
    posteriors = {
        key: store.posteriors.read(key).theta.tobytes() for key in store.posteriors.stored()
    }  # type: ignore[index]
    runs = store.runs().drop(OF_THE_MACHINE, strict=False).to_dicts()
    trajectories = {
        (run.algorithm, run.instance): (t.tobytes(), y.tobytes())
        for run, t, y in store.trajectories()
    }
    return {
        "config": store.settings.plain(),
        "rounds": rounds,
        "posteriors": posteriors,
        "races": store.races.numbers(),
        "set aside": store.set_aside.runs().drop("since").to_dicts(),
        "speculative": [(run.run.run, run.run.started) for run in store.speculative.runs()],
        "provenance": store.provenance.read(),
        "instances": store.instances().to_dicts(),
        "runs": runs,
        "trajectories": trajectories,
    }
