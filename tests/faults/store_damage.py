"""Damaged stores: changed files, mixtures of two versions of a store, and mutated JSON.

Each function makes one case from a seeded generator and gives None, or a sentence on what went
wrong. The tests try some; benchmarks/store_damage.py tries thousands.
"""

import contextlib
import io
import json
import os
import shutil
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any
from unittest import mock

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from polarbear.cli import main
from polarbear.config.configuration import Config
from polarbear.driver.kept_posteriors import store_posterior
from polarbear.errors import PolarBearError, StoreDamagedError
from polarbear.execution.executor_choice import use_executor
from polarbear.facts.evidence import cached_posterior, evidence_of
from polarbear.inference import ModelOptions
from polarbear.store import StoreOnDisk, file_io
from polarbear.store.catalog import FACTS, Catalog
from polarbear.store.manifest import NAME
from polarbear.store.rename import rename
from polarbear.store.repair import repair
from polarbear.store.runs import FinishedRun, Reason
from polarbear.store.verify import verify
from tests.driver.test_loop import configured, run
from tests.fuzz.tokens import mutated
from tests.store.test_store import outcome
from tests.support import quick_executor

KINDS = ("flip", "truncate", "swap", "delete", "duplicate")
COMMANDS = ("verify", "status", "select", "infer", "report", "repair", "export", "race")
MAX_SECONDS = 10
MAX_BYTES = 2**30  # of a command in a process of its own,
IMPORTED_BYTES = 2**28  # of which its imports take less than this
Files = dict[str, bytes]


# --- stores ----------------------------------------------------------------------------------


def fill(folder: Path) -> None:
    """A store with a file of every kind, and its earlier versions in ``folder/versions``.

    ``folder/race.yaml`` is the configuration of one more round.
    """
    path, versions = folder / "store", folder / "versions"

    def remember() -> None:
        shutil.copytree(path, versions / f"{len(list(versions.glob('*')))}")

    versions.mkdir(parents=True)

    def limited_to(rounds: int) -> Config:
        rules = {"batch": {"start": 4, "min": 4}, "limits": {"rounds": rounds}, "alpha": 0.999}
        return configured(("good", "bad"), rules=rules, inference={"draws": 400})

    plain = limited_to(3).plain()
    algorithms = [{"name": name, **options} for name, options in plain["algorithms"].items()]
    (folder / "race.yaml").write_text(json.dumps({**plain, "algorithms": algorithms}))
    for rounds in (1, 2):
        config = limited_to(rounds)
        _, store, _ = run(config, path)
        remember()
    with store.writing():
        store.races.end(["a test"], store.settings)
    remember()
    _, store, _ = run(config, path)
    remember()
    evidence = evidence_of(store)
    learned = cached_posterior(store, evidence, ModelOptions(model="dirichlet", draws=400), seed=1)
    with store.writing():
        store_posterior(store, evidence, learned)
        ranking = {"instance": ["x"], "t": [10.0], "algorithm": [["good", "bad"]]}
        store.add_rankings(pl.DataFrame({**ranking, "position": [[1.0, 2.0]]}))
        store.provenance.declare_alike("good", ["one", "two"])
        store.speculative.replace([FinishedRun.of(outcome(config, "good", 99, [(1, 2.0)]), 1)])
    remember()
    with store.writing():
        store.set_aside.add(store.runs().head(2), Reason.FORGOTTEN)
        store.set_aside.take_back(store.set_aside.runs()["run"][:1].to_list())
    remember()
    with store.writing():
        rename(store, "good", "best")
    remember()
    with store.writing():
        rename(store, "best", "good")
        entered = file_io.to_json({"entered": {"good": 1}})
        store.catalog.commit([("rounds/entered.json", entered)])


def contents(store: Path) -> Files:
    """All files of a store except its lock."""
    return {
        str(path.relative_to(store)): path.read_bytes()
        for path in sorted(store.rglob("*"))
        if path.is_file() and path.name != "lock"
    }


def lay_out(files: Files, store: Path) -> None:
    shutil.rmtree(store, ignore_errors=True)
    for name, data in files.items():
        (store / name).parent.mkdir(parents=True, exist_ok=True)
        (store / name).write_bytes(data)


def kind_of(name: str) -> str:
    """The folder of a file and the first word of its name: files of one kind."""
    folder, _, file = name.rpartition("/")
    first = file.partition("-")[0] if folder not in ("posteriors", "") else file.split("-")[0]
    return f"{folder.split('/')[0]}/{'' if folder == 'posteriors' else first}".strip("/")


# --- single damages --------------------------------------------------------------------------


def damage(rng: Random, good: Files, store: Path, kind: str) -> str | None:
    """Damage one or two files of a store, look, and undo it."""
    kinds = sorted({kind_of(name) for name in good})
    of_one_kind = rng.choice(kinds)
    name = rng.choice([name for name in good if kind_of(name) == of_one_kind])
    changed = _damaged(rng, good, name, kind)
    for one, data in changed.items():
        _put(store / one, data)
    try:
        if verify(store).sound:
            return f"{kind} of {name}: not noticed"
        return _read_as_other_data(good, store, f"{kind} of {name}")
    finally:
        for one in changed:
            _put(store / one, good.get(one))


def _damaged(rng: Random, good: Files, name: str, kind: str) -> dict[str, bytes | None]:
    data = good[name]
    if kind == "flip":
        flipped = bytearray(data)
        flipped[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        return {name: bytes(flipped)}
    if kind == "truncate":
        return {name: data[: rng.randrange(len(data))]}
    if kind == "delete":
        return {name: None}
    others = [one for one in good if one != name and good[one] != data]
    alike = [one for one in others if kind_of(one) == kind_of(name)]
    other = rng.choice(alike if alike and rng.random() < 0.7 else others)
    if kind == "swap":
        return {name: good[other], other: data}
    if "/" not in name:  # another file next to polarbear.json is left alone
        return {other: data}
    stem, _, ending = name.rpartition(".")
    copies = [f"{stem} (conflicted copy).{ending}", f"{stem}-copy.{ending}"]
    copies += [f"rounds/round-{number}.json" for number in ("abc", "0099", "99999999")]
    return {rng.choice(copies): data}


def _put(path: Path, data: bytes | None) -> None:
    if data is None:
        path.unlink(missing_ok=True)
    else:
        path.write_bytes(data)


def _read_as_other_data(good: Files, store: Path, what: str) -> str | None:
    catalog = Catalog(store)
    with contextlib.suppress(StoreDamagedError):
        for name in catalog.manifest.files:
            with contextlib.suppress(StoreDamagedError):
                if catalog.read(name) != good.get(name):
                    return f"{what}: {name} is read as other data"
    return None


# --- mixtures --------------------------------------------------------------------------------


def mixture(rng: Random, versions: list[Files], store: Path) -> str | None:
    """Mix two versions of a store file by file: what is whole is reported, nothing is deleted."""
    one, two = rng.sample(versions, 2)
    share = rng.choice([0.5, 0.1, 0.9])
    chosen = {name: (one if rng.random() < share else two) for name in {**one, **two}}
    mixed = {name: files[name] for name, files in chosen.items() if name in files}
    if NAME not in mixed:
        return None
    lay_out(mixed, store)
    listed = Catalog(store).manifest
    there = {name: data for name, data in mixed.items() if name not in listed.obsolete}
    whole = there in ({**one}, {**two})
    whole = whole or (
        {*there} == {NAME, *listed.files}
        and there.items() <= (one if mixed[NAME] == one[NAME] else two).items()
    )
    if verify(store).sound != whole:
        return f"a mixture of {len(mixed)} files is {'damaged' if whole else 'sound'} to verify"
    try:
        with StoreOnDisk.open(store).writing():
            pass
        if not whole:
            repair(store)
    except PolarBearError as error:
        if not whole and "cannot be set aside" in str(error):
            return str(error)
    kept = {file_io.digest(data) for data in contents(store).values()}
    spare = set(listed.obsolete) if whole else set()
    lost = [n for n, data in mixed.items() if file_io.digest(data) not in kept and n not in spare]
    lost = [name for name in lost if name != NAME]  # which each change replaces
    return f"deleted: {lost[:3]}" if lost else None


# --- JSON ------------------------------------------------------------------------------------


def deep(rng: Random) -> Any:
    """A value of unusual depth or size."""
    value: Any = rng.choice([1, "x", []])
    size = rng.choice([30, 100, 900])
    what = rng.randrange(4)
    if what == 0:
        for _ in range(size):
            value = [value] if rng.random() < 0.5 else {"a": value}
        return value
    if what == 1:
        return [0] * 10**5
    return rng.choice([10**12, 1e12, -1, 10**18, 10**30, "x" * 10**6, 99999999])


def mutation(rng: Random, good: Files, store: Path) -> str:
    """Change one JSON of a store, with valid checksums; gives its name."""
    names = [n for n in good if n.endswith(".json") or n.startswith("posteriors/")]
    names += ["progress", "lock", NAME]
    name = rng.choice(names)
    if name.endswith(".parquet"):
        table = pq.read_table(pa.BufferReader(good[name]))
        plain = json.loads(table.schema.metadata[FACTS])
    elif name in ("progress", "lock"):
        plain = PROGRESS if name == "progress" else {"pid": 1, "host": "h", "since": "s"}
    else:
        plain = json.loads(good[name])
        del plain["checksum"]
    facts = mutated(rng, plain, 2)
    if isinstance(facts, dict) and facts and rng.random() < 0.4:
        place, key = _place(rng, facts)
        place[key] = deep(rng)
    if not isinstance(facts, dict):
        facts = {"x": facts}
    try:
        data = file_io.to_json({"x": 0, **facts}) if rng.random() < 0.5 else file_io.to_json(facts)
    except (ValueError, RecursionError):
        data = b"[" * 10**5
    if name in ("progress", "lock"):
        (store / name).write_bytes(data)
        return name
    changed = {name: data}
    if name != NAME:
        if name.endswith(".parquet"):
            made = table.replace_schema_metadata({FACTS: json.dumps(facts).encode()})
            buffer = pa.BufferOutputStream()
            pq.write_table(made, buffer)
            data = bytes(buffer.getvalue())
            new = f"{name[:-40]}{file_io.digest(data)}.parquet"
            changed = {name: None, new: data}  # type: ignore[dict-item]
        listed = json.loads(good[NAME])
        del listed["checksum"]
        files = {n: file_io.digest(changed[n]) for n in changed if changed[n] is not None}
        listed["files"] = {n: h for n, h in listed["files"].items() if n not in changed} | files
        changed[NAME] = file_io.to_json(listed)
    for one, content in changed.items():
        _put(store / one, content)
    return name


PROGRESS = {
    "pid": 1, "host": "h", "began": 1.0, "written": 2.0, "round": 1, "doing": "x",
    "runs": 1, "done": 0, "failed": 0, "early": 0, "busy": 0.5, "left_in_round": None,
    "to_go_at_least": None, "to_go_at_most": 3.0,
    "algorithms": [{"algorithm": "good", "round_runs": 1, "round_done": 0, "runs": 1, "failed": 0,
                    "seconds": 1.0}],
    "workers": [{"worker": "1", "host": "h", "runs": 1, "failed": 0, "seconds": 1.0, "last": "x",
                 "last_ended": 1.0}],
}  # fmt: skip


def _place(rng: Random, value: Any) -> tuple[Any, Any]:
    """A random place in a JSON object."""
    while True:
        key = rng.choice(list(value) if isinstance(value, dict) else range(len(value)))
        inner = value[key]
        if not isinstance(inner, dict | list) or not inner or rng.random() < 0.3:
            return value, key
        value = inner


def mutated_json(rng: Random, good: Files, store: Path, commands: int = 2) -> str | None:
    """Change one JSON and give commands: each ends well or with an error of a few lines."""
    name = mutation(rng, good, store)
    try:
        for command in ("verify", *rng.sample(COMMANDS[1:], commands - 1)):
            wrong = command_ends_badly(command, store)
            if wrong:
                return f"{name}: {command}: {wrong}"
    finally:
        lay_out(good, store)
    return None


class TooSlow(BaseException):
    pass


@contextlib.contextmanager
def limited() -> Iterator[None]:
    def stop(*_: object) -> None:
        raise TooSlow

    before = {number: signal.signal(number, stop) for number in (signal.SIGPROF, signal.SIGALRM)}
    signal.setitimer(signal.ITIMER_PROF, MAX_SECONDS)  # of this process: others may be busy
    signal.alarm(12 * MAX_SECONDS)  # however little it computes
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.alarm(0)
        for number, handler in before.items():
            signal.signal(number, handler)


def _memory_from_now() -> int:
    """The memory of this process in bytes, from which on its peak is measured."""
    Path("/proc/self/clear_refs").write_text("5")
    return _peak_memory()


def _peak_memory() -> int:
    """The largest memory of this process in bytes, which may hold much of other tests."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) * 1024


def command_ends_badly(command: str, store: Path) -> str | None:
    """Give a command in this process; a sentence if it has a traceback, or takes too much."""
    more = {
        "select": ["--json"],
        "infer": ["--seed", "1"],
        "report": ["--text"],
        "export": ["--format", "csv", "--to", str(store.parent / "out"), "--force"],
    }
    arguments = ["polarbear", command, str(store), *more.get(command, [])]
    if command == "race":
        arguments[2:] = [str(store.parent / "race.yaml"), "--store", str(store), "--quiet"]
    out, err = io.StringIO(), io.StringIO()
    held = _memory_from_now()
    try:
        with (
            mock.patch.object(sys, "argv", arguments),
            use_executor(quick_executor),
            mock.patch.object(os, "fsync"),
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
            limited(),
        ):
            main()
    except SystemExit:
        pass
    except TooSlow:
        return f"more than {MAX_SECONDS} s"
    except Exception as error:
        frame = error.__traceback__
        while frame is not None and frame.tb_next is not None:
            frame = frame.tb_next
        assert frame is not None
        where = f"{Path(frame.tb_frame.f_code.co_filename).name}:{frame.tb_lineno}"
        return f"{type(error).__name__} at {where}: {str(error)[:200]}"
    said = err.getvalue()
    if "Traceback" in said or (said.startswith("polarbear:") and len(said.splitlines()) > 3):
        return f"says {said[-300:]}"
    taken = _peak_memory() - held
    if taken > MAX_BYTES - IMPORTED_BYTES:
        return f"takes {taken / 2**20:,.0f} MiB"
    return None
