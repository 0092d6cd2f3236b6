"""Damaged stores: changed files, mixtures of two versions of a store, and mutated JSON.

Each function tries one case from a seeded generator. It returns None, or a sentence on what went
wrong. The tests try some cases, benchmarks/store_damage.py thousands.
"""

import contextlib
import io
import json
import os
import shutil
import signal
import sys
from collections.abc import Iterator
from copy import deepcopy
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
from polarbear.store.manifest import GIT_ATTRIBUTES, NAME
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
MAX_BYTES = 2**30  # A command in its own process may use this much memory.
IMPORTED_BYTES = 2**28  # The imports of a command use less than this.
Files = dict[str, bytes]


# --- stores ----------------------------------------------------------------------------------


def fill(folder: Path) -> None:
    """Write a store with a file of every kind, and its earlier versions in ``folder/versions``.

    ``folder/race.yaml`` is the configuration of one more round.
    """
    path = folder / "store"
    versions = folder / "versions"

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
    options = ModelOptions(model="dirichlet", draws=400)
    posterior = cached_posterior(store, evidence, options, seed=1)
    with store.writing():
        store_posterior(store, evidence, posterior)
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
    """All files of a store that are listed or list others."""
    return {
        str(path.relative_to(store)): path.read_bytes()
        for path in sorted(store.rglob("*"))
        if path.is_file() and path.name not in ("lock", GIT_ATTRIBUTES)
    }


def write_files(files: Files, store: Path) -> None:
    """Replace the files of a store."""
    shutil.rmtree(store, ignore_errors=True)
    for name, data in files.items():
        (store / name).parent.mkdir(parents=True, exist_ok=True)
        (store / name).write_bytes(data)


def kind_of(name: str) -> str:
    """The kind of a file: its folder and the first word of its name."""
    folder, _, file = name.rpartition("/")
    if folder == "posteriors":
        return folder
    first_word = file.partition("-")[0]
    return f"{folder.split('/')[0]}/{first_word}".strip("/")


# --- single damages --------------------------------------------------------------------------


def damage(rng: Random, good: Files, store: Path, kind: str) -> str | None:
    """Damage one or two files of a store, check that it is noticed, and undo it."""
    kinds_of_files = sorted({kind_of(name) for name in good})
    kind_of_file = rng.choice(kinds_of_files)
    name = rng.choice([name for name in good if kind_of(name) == kind_of_file])
    changed_files = _damaged(rng, good, name, kind)
    for changed_name, data in changed_files.items():
        _put(store / changed_name, data)
    try:
        if verify(store).sound:
            return f"{kind} of {name}: not noticed"
        return _read_as_other_data(good, store, f"{kind} of {name}")
    finally:
        for changed_name in changed_files:
            _put(store / changed_name, good.get(changed_name))


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
    other_names = [other for other in good if other != name and good[other] != data]
    same_kind = [other for other in other_names if kind_of(other) == kind_of(name)]
    other = rng.choice(same_kind if same_kind and rng.random() < 0.7 else other_names)
    if kind == "swap":
        return {name: good[other], other: data}
    if "/" not in name:  # A store ignores other files next to polarbear.json.
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


def _read_as_other_data(good: Files, store: Path, damage_name: str) -> str | None:
    catalog = Catalog(store)
    with contextlib.suppress(StoreDamagedError):
        for name in catalog.manifest.files:
            with contextlib.suppress(StoreDamagedError):
                if catalog.read(name) != good.get(name):
                    return f"{damage_name}: {name} is read as other data"
    return None


# --- mixtures --------------------------------------------------------------------------------


def mixture(rng: Random, versions: list[Files], store: Path) -> str | None:
    """Mix two versions of a store file by file: `verify` reports it, and nothing is deleted."""
    first, second = rng.sample(versions, 2)
    share = rng.choice([0.5, 0.1, 0.9])
    sources = {name: first if rng.random() < share else second for name in {**first, **second}}
    mixed = {name: files[name] for name, files in sources.items() if name in files}
    if NAME not in mixed:
        return None
    write_files(mixed, store)
    manifest = Catalog(store).manifest
    current = {name: data for name, data in mixed.items() if name not in manifest.obsolete}
    version_of_manifest = first if mixed[NAME] == first[NAME] else second
    is_complete = current in (first, second) or (
        {*current} == {NAME, *manifest.files} and current.items() <= version_of_manifest.items()
    )
    if verify(store).sound != is_complete:
        verdict = "damaged" if is_complete else "sound"
        return f"a mixture of {len(mixed)} files is {verdict} to verify"
    try:
        with StoreOnDisk.open(store).writing():
            pass
        if not is_complete:
            repair(store)
    except PolarBearError as error:
        if not is_complete and "cannot be set aside" in str(error):
            return str(error)
    kept_digests = {file_io.digest(data) for data in contents(store).values()}
    deletable = {NAME}  # Every change replaces the manifest.
    if is_complete:
        deletable |= set(manifest.obsolete)
    lost = [
        name
        for name, data in mixed.items()
        if file_io.digest(data) not in kept_digests and name not in deletable
    ]
    return f"deleted: {lost[:3]}" if lost else None


# --- JSON ------------------------------------------------------------------------------------


def deep(rng: Random) -> Any:
    """A value of unusual depth or size."""
    value: Any = rng.choice([1, "x", []])
    size = rng.choice([30, 100, 900])
    shape = rng.randrange(4)
    if shape == 0:
        for _ in range(size):
            value = [value] if rng.random() < 0.5 else {"a": value}
        return value
    if shape == 1:
        return [0] * 10**5
    return rng.choice([10**12, 1e12, -1, 10**18, 10**30, "x" * 10**6, 99999999])


def mutation(rng: Random, good: Files, store: Path) -> str:
    """Change one JSON of a store, with valid checksums, and return the name of its file."""
    names = [name for name in good if name.endswith(".json") or name.startswith("posteriors/")]
    names += [*UNLISTED, NAME]
    name = rng.choice(names)
    facts = mutated(rng, _facts_of(good, name), 2)
    if isinstance(facts, dict) and facts and rng.random() < 0.4:
        container, key = _random_entry(rng, facts)
        container[key] = deep(rng)
    if not isinstance(facts, dict):
        facts = {"x": facts}
    try:
        data = file_io.to_json({"x": 0, **facts}) if rng.random() < 0.5 else file_io.to_json(facts)
    except (ValueError, RecursionError):
        data = b"[" * 10**5
    changed_files: dict[str, bytes | None] = {name: data}
    if name.endswith(".parquet"):
        data = _with_facts(good[name], facts)
        new_name = f"{name[:-40]}{file_io.digest(data)}.parquet"
        changed_files = {name: None, new_name: data}
    if name not in (*UNLISTED, NAME):
        changed_files[NAME] = _manifest_after(good, changed_files)
    for changed_name, content in changed_files.items():
        _put(store / changed_name, content)
    return name


def _facts_of(good: Files, name: str) -> Any:
    """The JSON in a file without its checksum."""
    if name in UNLISTED:
        return deepcopy(UNLISTED[name])  # A mutation may change it in place.
    if name.endswith(".parquet"):
        return json.loads(_table(good[name]).schema.metadata[FACTS])
    facts = json.loads(good[name])
    del facts["checksum"]
    return facts


def _table(data: bytes) -> pa.Table:
    return pq.read_table(pa.BufferReader(data))


def _with_facts(data: bytes, facts: dict[str, Any]) -> bytes:
    """A Parquet file with other facts in its metadata."""
    table = _table(data).replace_schema_metadata({FACTS: json.dumps(facts).encode()})
    buffer = pa.BufferOutputStream()
    pq.write_table(table, buffer)
    return bytes(buffer.getvalue())


def _manifest_after(good: Files, changed_files: dict[str, bytes | None]) -> bytes:
    """The manifest of a store after files were changed, or deleted where their data is None."""
    manifest = _facts_of(good, NAME)
    digests = {
        name: file_io.digest(data) for name, data in changed_files.items() if data is not None
    }
    unchanged = {n: digest for n, digest in manifest["files"].items() if n not in changed_files}
    return file_io.to_json({**manifest, "files": unchanged | digests})


PROGRESS = {
    "pid": 1, "host": "h", "began": 1.0, "written": 2.0, "round": 1, "doing": "x",
    "runs": 1, "done": 0, "failed": 0, "early": 0, "busy": 0.5, "left_in_round": None,
    "to_go_at_least": None, "to_go_at_most": 3.0,
    "algorithms": [{"algorithm": "good", "round_runs": 1, "round_done": 0, "runs": 1, "failed": 0,
                    "seconds": 1.0}],
    "workers": [{"worker": "1", "host": "h", "runs": 1, "failed": 0, "seconds": 1.0, "last": "x",
                 "last_ended": 1.0}],
}  # fmt: skip
LOCK = {"pid": 1, "host": "h", "since": "s"}
UNLISTED = {"progress": PROGRESS, "lock": LOCK}  # The manifest does not list these files.


def _random_entry(rng: Random, value: Any) -> tuple[Any, Any]:
    """A random entry of a JSON object: the dictionary or list that holds it, and its key."""
    while True:
        key = rng.choice(list(value) if isinstance(value, dict) else range(len(value)))
        inner = value[key]
        if not isinstance(inner, dict | list) or not inner or rng.random() < 0.3:
            return value, key
        value = inner


def mutated_json(rng: Random, good: Files, store: Path, commands: int = 2) -> str | None:
    """Change one JSON and run commands: each succeeds, or ends with an error of a few lines."""
    name = mutation(rng, good, store)
    try:
        for command in ("verify", *rng.sample(COMMANDS[1:], commands - 1)):
            wrong = command_ends_badly(command, store)
            if wrong:
                return f"{name}: {command}: {wrong}"
    finally:
        write_files(good, store)
    return None


class TooSlow(BaseException):
    pass


@contextlib.contextmanager
def limited() -> Iterator[None]:
    def stop(*_: object) -> None:
        raise TooSlow

    before = {number: signal.signal(number, stop) for number in (signal.SIGPROF, signal.SIGALRM)}
    # The first timer counts only the time of this process, because others may be busy.
    signal.setitimer(signal.ITIMER_PROF, MAX_SECONDS)
    signal.alarm(12 * MAX_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.alarm(0)
        for number, handler in before.items():
            signal.signal(number, handler)


def _reset_peak_memory() -> int:
    """Reset the peak memory of this process, and return its current memory in bytes."""
    Path("/proc/self/clear_refs").write_text("5")
    return _peak_memory()


def _peak_memory() -> int:
    """The peak memory of this process in bytes, which may include the memory of other tests."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) * 1024


def command_ends_badly(command: str, store: Path) -> str | None:
    """Run a command in this process; a sentence if it has a traceback, or takes too much."""
    options = {
        "select": ["--json"],
        "infer": ["--seed", "1"],
        "report": ["--text"],
        "export": ["--format", "csv", "--to", str(store.parent / "out"), "--force"],
    }
    arguments = ["polarbear", command, str(store), *options.get(command, [])]
    if command == "race":
        arguments[2:] = [str(store.parent / "race.yaml"), "--store", str(store), "--quiet"]
    out = io.StringIO()
    err = io.StringIO()
    bytes_before = _reset_peak_memory()
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
    message = err.getvalue()
    is_long_error = message.startswith("polarbear:") and len(message.splitlines()) > 3
    if "Traceback" in message or is_long_error:
        return f"says {message[-300:]}"
    bytes_used = _peak_memory() - bytes_before
    if bytes_used > MAX_BYTES - IMPORTED_BYTES:
        return f"takes {bytes_used / 2**20:,.0f} MiB"
    return None
