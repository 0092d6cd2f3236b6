"""Whole commands on disks that fail: cut off at any step and given again, they end the same.

A scenario is a command that writes, in a folder that was prepared for it; add one to SCENARIOS, and
it is tried with power cuts and errors: some in the tests, all in benchmarks/crashes.py. Races
are small, and still have every kind of file operation: parts are merged, posteriors replaced.
"""

import errno
import hashlib
import os
import random
import shutil
from collections.abc import Callable, Iterator
from contextlib import chdir, suppress
from dataclasses import dataclass
from functools import cached_property
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
from tests.faults.power import WAYS, Contents, after_cut, contents_of, laid_out, relative
from tests.faults.races import QUICK, RULES, essence, raced
from tests.store.editing import copy_rounds
from tests.store.test_store import outcome
from tests.support import quick_executor, solver

ERRORS = {"full disk": errno.ENOSPC, "input/output error": errno.EIO, "forbidden": errno.EACCES}
MERGE_ABOVE = 2  # so that parts are merged in a race as short as this


def _limited(rounds: int, **rules: Any) -> Config:
    return configured(
        ("good", "bad"), rules={**RULES, "limits": {"rounds": rounds}, **rules}, **QUICK
    )


SHORT, LONGER = _limited(2), _limited(3)


@dataclass(frozen=True)
class Scenario:
    """A command that is given, fails, is given again, and must have the same outcome."""

    name: str
    prepare: Callable[[Path], Any]
    command: Callable[[Path], Any]
    outcome: Callable[[Path], Any]


@dataclass(frozen=True)
class Case:
    """One way to fail: the power is cut after a step, or a step has an error."""

    how: str
    at: int


def _sound_stores(root: Path) -> set[str]:
    """The stores in a folder that `verify` accepts; parts of a race are none of them."""
    stores = (path.parent for path in root.glob("*/polarbear.json"))
    return {store.name for store in stores if verify(store).sound}


class Trials:
    """A scenario that was once done undisturbed in a folder, and is disturbed in others beside."""

    def __init__(self, scenario: Scenario, folder: Path) -> None:
        self.scenario, self._folder = scenario, folder
        folder.mkdir(parents=True, exist_ok=True)
        self._number = 0
        root = self._new()
        root.mkdir()
        scenario.prepare(root)
        self._before: Contents = contents_of(root)
        with recorded() as steps:
            self._give(root)
        self._steps = relative(steps, root)
        self._sound = _sound_stores(root)
        self._wanted = scenario.outcome(root)
        with failing(-1, 0) as asked:
            laid_out(self._before, again := self._new())
            self._give(again)
        self._asked: list[Step] = list(asked)
        # What went wrong, by the content of a folder before and after the command is given again.
        self._disturbed: dict[str, str | None] = {}
        self._ended: dict[str, str | None] = {}

    def _new(self) -> Path:
        self._number += 1
        return self._folder / f"{self._number}"

    def _give(self, root: Path) -> None:
        """Give the command. Steps say what was synced; the disk itself need not."""
        with (
            mock.patch.object(store_module, "MERGE_ABOVE", MERGE_ABOVE),
            mock.patch.object(os, "fsync"),
        ):
            self.scenario.command(root)

    @cached_property
    def cuts(self) -> list[Case]:
        """Power cuts after every step, in every way."""
        return [Case(how, at) for at in range(len(self._steps) + 1) for how in WAYS]

    @cached_property
    def errors(self) -> list[Case]:
        """Errors at every step; reading cannot fill a disk."""
        return [
            Case(how, at)
            for at, step in enumerate(self._asked)
            for how in ERRORS
            if not (step.what == "read" and how == "full disk")
        ]

    def tried(self, case: Case) -> str | None:
        """What went wrong in this case, if anything did."""
        root = self._new()
        try:
            if case.how in WAYS:
                laid_out(after_cut(self._before, self._steps, case.at, case.how), root)
            else:
                self._fail(case, root)
            wrong = _once(self._disturbed, root, self._given_again)
        except Exception as error:
            wrong = f"{type(error).__name__}: {error}"
        finally:
            shutil.rmtree(root, ignore_errors=True)
        return wrong and f"{self.scenario.name}: {case}: {wrong}"

    def _fail(self, case: Case, root: Path) -> None:
        """Give the command, with an error which it reports or works around."""
        laid_out(self._before, root)
        lasting = case.how == "full disk"
        with failing(case.at, ERRORS[case.how], lasting), suppress(PolarBearError):
            self._give(root)

    def _given_again(self, root: Path) -> str | None:
        self._give(root)
        return _once(self._ended, root, self._compared)

    def _compared(self, root: Path) -> str | None:
        if self.scenario.outcome(root) != self._wanted:
            return "the outcome is another"
        left = [path.name for path in root.rglob(f"{ASIDE}*")]
        if left or _sound_stores(root) != self._sound:
            return f"left {left}, or a store is damaged"
        return None


def _once(
    known: dict[str, str | None], root: Path, look: Callable[[Path], str | None]
) -> str | None:
    """The result of a look at a folder; a folder with the same content was looked at before."""
    content = repr(sorted(contents_of(root).items())).encode()
    digest = hashlib.sha256(content).hexdigest()
    if digest not in known:
        known[digest] = look(root)
    return known[digest]


def by_lot(cases: list[Case], count: int, seed: int) -> Iterator[Case]:
    """Some of the cases, the same every time."""
    yield from random.Random(seed).sample(cases, min(count, len(cases)))


# --- the commands --------------------------------------------------------------------------------


def _race(root: Path) -> None:
    raced(root / "store", SHORT)


def _longer_race(root: Path) -> None:
    raced(root / "store", LONGER)


def _raced(root: Path) -> Any:
    return essence(root / "store")


def _table(root: Path) -> None:
    rows = [
        f"{name},i{i},{t},{(-1 if name == 'A' else 1) * t * (i + 1)}"
        for name in ("A", "B") for i in range(3) for t in (1, 5, 20)
    ]  # fmt: skip
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
    with chdir(root):  # a page names its store
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

    _race(root)  # most of a merge is to replay the race
    whole = StoreOnDisk.open(root / "store")
    first = set(whole.instances()["instance"][::2])
    part_of(root / "store", root / "one", lambda row: row["instance"] in first)
    part_of(root / "store", root / "other", lambda row: row["instance"] not in first)
    copy_rounds(root / "store", root / "one")
    shutil.rmtree(root / "store")


def _merge(root: Path) -> None:
    if not (root / "merged").exists():  # which a second merge would refuse to touch
        with use_executor(quick_executor):  # a replay runs nothing
            polarbear.merge([root / "one", root / "other"], root / "merged")


def _merged(root: Path) -> Any:
    left = sorted(path.name for path in root.iterdir())
    return left, *(essence(root / name) for name in ("merged", "one", "other"))


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
    """A race by a configuration, with answers about changes."""

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
