"""Whole commands on disks that fail: cut off at any step and given again, they end the same.

A scenario is a command that writes, in a folder that was prepared for it; add one to SCENARIOS, and
it is tried with power cuts and errors: some in the tests, all in benchmarks/crashes.py.
"""

from __future__ import annotations

import errno
import hashlib
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
from polarbear.config import Config
from polarbear.driver import collect
from polarbear.driver.reconcile import Answers
from polarbear.errors import PolarBearError
from polarbear.store import Store
from polarbear.store import store as store_module
from polarbear.store.file_io import ASIDE
from polarbear.store.repair import repair
from polarbear.store.verify import verify
from tests.driver.test_loop import configured
from tests.driver.test_reconcile import race
from tests.faults.layer import Step, failing, recorded
from tests.faults.power import WAYS, Contents, after_cut, contents_of, laid_out, relative
from tests.faults.races import CONFIG, QUICK, RULES, SHORT, essence, raced
from tests.store.editing import copy_rounds
from tests.store.test_store import outcome
from tests.support import quick_pool, solver

ERRORS = {"full disk": errno.ENOSPC, "input/output error": errno.EIO, "forbidden": errno.EACCES}
MERGE_ABOVE = 2  # so that parts are merged in a race as short as this


@dataclass(frozen=True)
class Scenario:
    """A command that is given once, fails, is given again, and has come to the same."""

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
            self._give(self._prepared())
        self._asked: list[Step] = list(asked)
        self._seen: set[str] = set()

    def _new(self) -> Path:
        self._number += 1
        return self._folder / f"{self._number}"

    def _prepared(self) -> Path:
        root = self._new()
        laid_out(self._before, root)
        return root

    def _give(self, root: Path) -> None:
        with mock.patch.object(store_module, "MERGE_ABOVE", MERGE_ABOVE):
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
        root = None
        try:
            root = self._cut(case) if case.how in WAYS else self._failed(case)
            if root is None:
                return None
            self._give(root)
            if self.scenario.outcome(root) != self._wanted:
                return f"{self.scenario.name}: {case}: the outcome is another"
            left = [path.name for path in root.rglob(f"{ASIDE}*")]
            if left or _sound_stores(root) != self._sound:
                return f"{self.scenario.name}: {case}: left {left}, or a store is damaged"
        except Exception as error:
            return f"{self.scenario.name}: {case}: {type(error).__name__}: {error}"
        finally:
            if root is not None:
                shutil.rmtree(root)
        return None

    def _cut(self, case: Case) -> Path | None:
        """The folder after a power cut; None if one just like it was tried already."""
        left = after_cut(self._before, self._steps, case.at, case.how)
        digest = hashlib.sha256(repr(sorted(left.items())).encode()).hexdigest()
        if digest in self._seen:
            return None
        self._seen.add(digest)
        root = self._new()
        laid_out(left, root)
        return root

    def _failed(self, case: Case) -> Path:
        """The folder after a command with an error, which it reported or worked around."""
        root = self._prepared()
        lasting = case.how == "full disk"
        with failing(case.at, ERRORS[case.how], lasting), suppress(PolarBearError):
            self._give(root)
        return root


def by_lot(cases: list[Case], count: int, seed: int) -> Iterator[Case]:
    """Some of the cases, the same every time."""
    yield from random.Random(seed).sample(cases, min(count, len(cases)))


# --- the commands --------------------------------------------------------------------------------


def _nothing(root: Path) -> None:
    pass


def _race(root: Path) -> None:
    raced(root / "store")


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


def _infer(root: Path) -> None:
    polarbear.open(root / "store").infer(model="dirichlet", method="laplace", draws=400, seed=5)


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


def _repair(root: Path) -> None:
    repair(root / "store")


def _repaired(root: Path) -> Any:
    raced(root / "store", CONFIG)
    return essence(root / "store")


def _two_halves(root: Path) -> None:
    from tests.cli.test_merge import part_of

    raced(root / "store", SHORT)  # most of a merge is to replay the race
    whole = Store.open(root / "store")
    first = set(whole.instances()["instance"][::2])
    part_of(root / "store", root / "one", lambda row: row["instance"] in first)
    part_of(root / "store", root / "other", lambda row: row["instance"] not in first)
    copy_rounds(root / "store", root / "one")
    shutil.rmtree(root / "store")


def _merge(root: Path) -> None:
    if not (root / "merged").exists():  # which a second merge would refuse to touch
        polarbear.merge([root / "one", root / "other"], root / "merged")


def _merged(root: Path) -> Any:
    left = sorted(path.name for path in root.iterdir())
    return left, *(essence(root / name) for name in ("merged", "one", "other"))


def _rename(root: Path) -> None:
    polarbear.open(root / "store").rename("bad", "worse")


def _with_speculative_run(root: Path) -> None:
    _race(root)
    store = Store.open(root / "store")
    with store.writing():
        store.speculative.change([outcome(CONFIG, "bad", 99, [(1, 2.0)])], 1)


def _forget(root: Path) -> None:
    polarbear.open(root / "store").forget("bad")


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
        with mock.patch.object(collect, "pool_of", quick_pool):
            race(config, root / "store", Answers(**answers))

    return command


def _export(root: Path) -> None:
    polarbear.open(root / "store").export("ioh", root / "out" / "runs", force=True)


def _exported(root: Path) -> Any:
    return contents_of(root / "out"), essence(root / "store")


LAX = configured(("good", "bad", "early"), rules={**RULES, "alpha": 0.9}, **QUICK)
SCENARIOS = (
    Scenario("race", _nothing, _race, _raced),
    Scenario("import", _table, _import, _raced),
    Scenario("infer", _race, _infer, _raced),
    Scenario("report", _to_report_on, _report, _reported),
    Scenario("repair", _damaged, _repair, _repaired),
    Scenario("merge", _two_halves, _merge, _merged),
    Scenario("rename", _race, _rename, _raced),
    Scenario("forget", _with_speculative_run, _forget, _raced),
    Scenario("redecide", _race, _race_of(LAX, redecide=True), _raced),
    Scenario(
        "rerun", _race_of(_with_step(0.3)), _race_of(_with_step(0.6), rerun=["descent"]), _raced
    ),
    Scenario("export", _to_report_on, _export, _exported),
)
