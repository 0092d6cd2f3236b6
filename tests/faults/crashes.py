"""Commands on disks that fail: repeated after a failure at any step, they have the same outcome.

A scenario is a command that writes, and the preparation of its folder. Every scenario in SCENARIOS
is tried with power cuts and errors: some of them in the tests, all in benchmarks/crashes.py. Races
are small, and have every kind of file operation: parts are merged, posteriors replaced.
"""

import errno
import hashlib
import os
import random
import shutil
from collections.abc import Callable
from contextlib import chdir, suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Any
from unittest import mock

import polarbear
from polarbear.config.configuration import Config
from polarbear.driver.reconcile import Answers
from polarbear.errors import PolarBearError
from polarbear.execution.executor_choice import use_executor
from polarbear.store import StoreOnDisk
from polarbear.store import store as store_module
from polarbear.store.file_io import ASIDE
from polarbear.store.repair import repair
from polarbear.store.runs import FinishedRun
from polarbear.store.verify import verify
from tests.driver.test_loop import configured
from tests.driver.test_reconcile import race
from tests.faults.layer import Step, failing, recorded
from tests.faults.power import WAYS, Contents, after_cut, contents_of, relative, write_folder
from tests.faults.races import QUICK, RULES, essence, raced
from tests.store.editing import copy_rounds
from tests.store.test_store import outcome
from tests.support import quick_executor, solver

ERRORS = {"full disk": errno.ENOSPC, "input/output error": errno.EIO, "forbidden": errno.EACCES}
MERGE_ABOVE = 2  # Parts are merged even in races as short as these.


def _limited(rounds: int, **rules: Any) -> Config:
    return configured(
        ("good", "bad"), rules={**RULES, "limits": {"rounds": rounds}, **rules}, **QUICK
    )


SHORT = _limited(2)
LONGER = _limited(3)


@dataclass(frozen=True)
class Scenario:
    """A command that fails, is repeated, and must have the same outcome as without failures."""

    name: str
    prepare: Callable[[Path], Any]
    command: Callable[[Path], Any]
    outcome: Callable[[Path], Any]


@dataclass(frozen=True)
class Case:
    """A way to fail: the power is cut after a step, or a step has an error."""

    how: str
    at: int


def _sound_stores(root: Path) -> set[str]:
    """The names of the stores in a folder that `verify` accepts."""
    stores = (path.parent for path in root.glob("*/polarbear.json"))
    return {store.name for store in stores if verify(store).sound}


class Trials:
    """Cases of a scenario in subfolders of a folder, compared with one outcome without failure."""

    def __init__(self, scenario: Scenario, folder: Path) -> None:
        self.scenario = scenario
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self._n_roots = 0
        root = self._new_root()
        root.mkdir()
        scenario.prepare(root)
        self._before: Contents = contents_of(root)
        with recorded() as steps:
            self._run_command(root)
        self._steps = relative(steps, root)
        self._sound = _sound_stores(root)
        self._expected = scenario.outcome(root)
        second_root = self._new_root()
        write_folder(self._before, second_root)
        with failing(-1, 0) as steps_and_reads:
            self._run_command(second_root)
        self._steps_and_reads: list[Step] = list(steps_and_reads)
        # Errors by the content of a folder before and after the command is repeated in it.
        self._errors_of_repeating: dict[str, str | None] = {}
        self._errors_of_outcomes: dict[str, str | None] = {}

    def _new_root(self) -> Path:
        self._n_roots += 1
        return self._folder / f"{self._n_roots}"

    def _run_command(self, root: Path) -> None:
        """Run the command without syncing the disk, because the steps contain the syncs."""
        with (
            mock.patch.object(store_module, "MERGE_ABOVE", MERGE_ABOVE),
            mock.patch.object(os, "fsync"),
        ):
            self.scenario.command(root)

    @cached_property
    def cuts(self) -> list[Case]:
        """All power cuts: after every step, in every way."""
        return [Case(how, at) for at in range(len(self._steps) + 1) for how in WAYS]

    @cached_property
    def errors(self) -> list[Case]:
        """All errors: of every kind, at every step, except that reading cannot fill a disk."""
        return [
            Case(how, at)
            for at, step in enumerate(self._steps_and_reads)
            for how in _errors_of(step)
        ]

    def tried(self, case: Case) -> str | None:
        """A description of what went wrong in this case; None if nothing did."""
        root = self._new_root()
        try:
            if case.how in WAYS:
                write_folder(after_cut(self._before, self._steps, case.at, case.how), root)
            else:
                self._fail(case, root)
            wrong = _cached(self._errors_of_repeating, root, self._error_of_repeating)
        except Exception as error:
            wrong = f"{type(error).__name__}: {error}"
        finally:
            shutil.rmtree(root, ignore_errors=True)
        return wrong and f"{self.scenario.name}: {case}: {wrong}"

    def _fail(self, case: Case, root: Path) -> None:
        """Run the command with an error, which it reports or works around."""
        write_folder(self._before, root)
        lasting = case.how == "full disk"
        with failing(case.at, ERRORS[case.how], lasting), suppress(PolarBearError):
            self._run_command(root)

    def _error_of_repeating(self, root: Path) -> str | None:
        self._run_command(root)
        return _cached(self._errors_of_outcomes, root, self._error_of_outcome)

    def _error_of_outcome(self, root: Path) -> str | None:
        if self.scenario.outcome(root) != self._expected:
            return "the outcome is another"
        partial_files = [path.name for path in root.rglob(f"{ASIDE}*")]
        if partial_files or _sound_stores(root) != self._sound:
            return f"left {partial_files}, or a store is damaged"
        return None


def _errors_of(step: Step) -> list[str]:
    return [how for how in ERRORS if not (step.operation == "read" and how == "full disk")]


def _cached(
    results: dict[str, str | None], root: Path, function: Callable[[Path], str | None]
) -> str | None:
    """The result of a function for a folder, computed once for folders with the same content."""
    content = repr(sorted(contents_of(root).items())).encode()
    digest = hashlib.sha256(content).hexdigest()
    if digest not in results:
        results[digest] = function(root)
    return results[digest]


def sampled(cases: list[Case], count: int, seed: int) -> list[Case]:
    """A random sample of the cases, the same every time."""
    return random.Random(seed).sample(cases, min(count, len(cases)))


# --- the commands --------------------------------------------------------------------------------


def _race(root: Path) -> None:
    raced(root / "store", SHORT)


def _longer_race(root: Path) -> None:
    raced(root / "store", LONGER)


def _raced(root: Path) -> Any:
    return essence(root / "store")


def _table(root: Path) -> None:
    rows = [
        f"{name},i{i},{t},{sign * t * (i + 1)}"
        for (name, sign), i, t in product((("A", -1), ("B", 1)), range(3), (1, 5, 20))
    ]
    (root / "table.csv").write_text("\n".join(["algorithm,instance,t,y", *rows]) + "\n")


def _import(root: Path) -> None:
    polarbear.import_data(root / "table.csv", root / "store")


def _opened(root: Path) -> polarbear.Store:
    return polarbear.open(root / "store")


def _infer(root: Path) -> None:
    _opened(root).infer(model="dirichlet", method="laplace", draws=400, seed=5)


def _to_report_on(root: Path) -> None:
    _race(root)
    (root / "out").mkdir()


def _report(root: Path) -> None:
    with chdir(root):  # A page contains the path of its store, which must not differ.
        polarbear.open("store").report(Path("out", "page.html").absolute(), force=True)


def _reported(root: Path) -> Any:
    return (root / "out" / "page.html").read_bytes(), essence(root / "store")


def _damaged(root: Path) -> None:
    _race(root)
    for name in ("trajectories", "rounds"):
        path = sorted((root / "store" / name).glob("*"))[-1]
        data = bytearray(path.read_bytes())
        data[len(data) // 3] ^= 1
        path.write_bytes(data)


def _repaired(root: Path) -> Any:
    _race(root)
    return essence(root / "store")


def _two_halves(root: Path) -> None:
    from tests.cli.test_merge import part_of

    _race(root)  # A merge replays the race, which are most of its steps.
    instances = StoreOnDisk.open(root / "store").instances()["instance"]
    first_half = set(instances[::2])
    part_of(root / "store", root / "one", lambda row: row["instance"] in first_half)
    part_of(root / "store", root / "other", lambda row: row["instance"] not in first_half)
    copy_rounds(root / "store", root / "one")
    shutil.rmtree(root / "store")


def _merge(root: Path) -> None:
    if not (root / "merged").exists():  # A second merge would refuse to touch the folder.
        with use_executor(quick_executor):
            polarbear.merge([root / "one", root / "other"], root / "merged")


def _merged(root: Path) -> Any:
    names = sorted(path.name for path in root.iterdir())
    return names, *(essence(root / name) for name in ("merged", "one", "other"))


def _with_speculative_run(root: Path) -> None:
    _race(root)
    store = StoreOnDisk.open(root / "store")
    with store.writing():
        store.speculative.replace([FinishedRun.of(outcome(SHORT, "bad", 99, [(1, 2.0)]), 1)])


def _with_step(step: float) -> Config:
    algorithms = [
        solver("coordinate_descent", "descent", step=step),
        {"name": "random", "use": "random-search"},
    ]
    suite = {"suite": "classic", "dimensions": {"from": 2, "to": 2}}
    rules = {**RULES, "limits": {"rounds": 2}}
    return configured(rules=rules, algorithms=algorithms, instances=suite, **QUICK)


def _race_of(config: Config, **answers: Any) -> Callable[[Path], None]:
    """A command that races by a configuration, with answers about its changes."""

    def command(root: Path) -> None:
        with use_executor(quick_executor):
            race(config, root / "store", Answers(**answers))

    return command


def _export(root: Path) -> None:
    _opened(root).export("ioh", root / "out" / "runs", force=True)


def _exported(root: Path) -> Any:
    return contents_of(root / "out"), essence(root / "store")


LAX = _limited(3, alpha=0.9)
SCENARIOS = (
    Scenario("race", lambda root: None, _longer_race, _raced),
    Scenario("import", _table, _import, _raced),
    Scenario("infer", _race, _infer, _raced),
    Scenario("report", _to_report_on, _report, _reported),
    Scenario("repair", _damaged, lambda root: repair(root / "store"), _repaired),
    Scenario("merge", _two_halves, _merge, _merged),
    Scenario("rename", _race, lambda root: _opened(root).rename("bad", "worse"), _raced),
    Scenario("forget", _with_speculative_run, lambda root: _opened(root).forget("bad"), _raced),
    Scenario("redecide", _longer_race, _race_of(LAX, redecide=True), _raced),
    Scenario(
        "rerun", _race_of(_with_step(0.3)), _race_of(_with_step(0.6), rerun=["descent"]), _raced
    ),
    Scenario("export", _to_report_on, _export, _exported),
)
