"""Small sources that would take gigabytes of memory are refused soon, in one line."""

import gzip
import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import polarbear as pb
from polarbear.formats import FORMATS, limits
from polarbear.store import file_io
from polarbear.store.catalog import Catalog
from tests.formats import test_coco, test_ioh

MAX_SECONDS = 5.0  # of processor time, which other processes on the machine do not change
MAX_BYTES = 2**30
MAX_SOURCE_BYTES = 2**26  # on the disk
# Runs a command, and prints its seconds and its largest memory. The limit on addresses protects the
# machine. The memory is that of this process alone, while `getrusage` counts that of its parent.
MEASURED = """
import re, resource, sys, time
from pathlib import Path
resource.setrlimit(resource.RLIMIT_AS, (2**34, 2**34))
from polarbear.__main__ import main
try:
    main()
finally:
    peak = re.search(r"VmHWM:\\s*(\\d+)", Path("/proc/self/status").read_text())[1]
    print(time.process_time(), peak)
"""
LOGS = Path(__file__).parent.parent / "data" / "logs"
N_ROWS = limits.MAX_ROWS + 1
ROW: dict[str, Any] = {"algorithm": "A", "instance": "i", "t": 1.0, "y": 2.0, "position": 1.0}
Builder = Callable[[Path], Path]  # writes a source in a folder and returns its path


def repeated(value: Any, n: int) -> pa.Array:
    """A column of one value, which is held once."""
    zeros = pa.Array.from_buffers(pa.int32(), n, [None, pa.py_buffer(bytes(4 * n))])
    return pa.DictionaryArray.from_arrays(zeros, [value])


def write_parquet(path: Path, columns: dict[str, Any], **options: Any) -> Path:
    pq.write_table(pa.table(columns), path, store_schema=False, compression="zstd", **options)
    return path


def many_rows(row: dict[str, Any]) -> Builder:
    def build(folder: Path) -> Path:
        columns = {name: repeated(value, N_ROWS) for name, value in row.items()}
        return write_parquet(folder / "x.parquet", columns)

    return build


def many_columns(folder: Path) -> Path:
    names = [f"column {i}" for i in range(limits.MAX_COLUMNS)]
    columns = {name: [1.0] for name in [*ROW, *names]}
    return write_parquet(folder / "x.parquet", columns, use_dictionary=False)


def long_text(folder: Path) -> Path:
    """A text that is too long, in all rows."""
    n_rows = 10**5
    columns = {name: repeated(value, n_rows) for name, value in ROW.items()}
    text = repeated("x" * (limits.MAX_TEXT_BYTES + 1), n_rows)
    return write_parquet(folder / "x.parquet", {**columns, "instance": text})


def texts_that_are_long_together(folder: Path) -> Path:
    n_rows = 10**6
    columns = {name: repeated(value, n_rows) for name, value in ROW.items()}
    text = repeated("x" * limits.MAX_TEXT_BYTES, n_rows)
    return write_parquet(folder / "x.parquet", {**columns, "instance": text})


def shared_starts(folder: Path) -> Path:
    """Texts of which only the last letters are stored in each row."""
    texts = [f"{'x' * 60_000}{i}" for i in range(2000)]
    columns = {name: [value] * len(texts) for name, value in ROW.items()}
    encoding = {"instance": "DELTA_BYTE_ARRAY"}
    return write_parquet(
        folder / "x.parquet",
        {**columns, "instance": texts},
        use_dictionary=False,
        column_encoding=encoding,
    )


def lists(folder: Path) -> Path:
    """Lists where numbers are expected."""
    columns = {name: [value] for name, value in ROW.items()}
    numbers = pa.array([[0.0] * 10**6])
    return write_parquet(folder / "x.parquet", {**columns, "t": numbers})


def csv_with_many_columns(folder: Path) -> Path:
    names = [*ROW, *(f"c{i}" for i in range(10 * limits.MAX_COLUMNS))]
    (folder / "x.csv").write_text(f"{','.join(names)}\n{'1,' * (len(names) - 1)}1\n")
    return folder / "x.csv"


def csv_with_a_long_line(folder: Path) -> Path:
    return holes(folder / "x.csv", b",".join(name.encode() for name in ROW) + b"\n")


def compressed_csv(folder: Path) -> Path:
    with gzip.open(folder / "x.csv", "wb", compresslevel=1) as file:
        file.write(f"{','.join(ROW)}\n".encode())
        rows = f"{','.join(map(str, ROW.values()))}\n".encode() * 10**5
        for _ in range(N_ROWS // 10**5 + 1):
            file.write(rows)
    return folder / "x.csv"


def holes(path: Path, start: bytes = b"") -> Path:
    """A file that begins like this, followed by 900 MB of zeros that take no place on the disk."""
    path.write_bytes(start)
    os.truncate(path, 900_000_000)
    return path


def ioh(folder: Path, **changes: Any) -> Path:
    root = test_ioh.folder_of(folder, "A", [(1, [(k, 1 / k) for k in range(1, 1000)])])
    (path,) = root.glob("*.json")
    facts = json.loads(path.read_text())
    for name, value in changes.items():
        facts[name] = value(facts[name]) if callable(value) else value
    path.write_text(json.dumps(facts))
    return root


def ioh_with_a_file_named_often(folder: Path) -> Path:
    return ioh(folder, scenarios=lambda scenarios: scenarios * 10**4)


def ioh_with_a_long_description(folder: Path) -> Path:
    root = ioh(folder)
    (path,) = root.glob("*.json")
    path.write_text(f'{{"a": [{"[]," * (limits.MAX_JSON_BYTES // 3)}[]]}}')
    return root


def ioh_with_holes(folder: Path) -> Path:
    root = ioh(folder)
    (path,) = root.rglob("*.dat")
    holes(path, path.read_bytes())
    return root


def coco_with_a_file_named_often(folder: Path) -> Path:
    root = test_coco.folder_of(folder, "A")
    (path,) = root.glob("*.info")
    path.write_text(f"{path.read_text()}\n" * 10**4)
    return root


def coco_with_holes(folder: Path) -> Path:
    root = test_coco.folder_of(folder, "A")
    holes(next(root.rglob("*.dat")))
    return root


def optuna_with_a_long_name(folder: Path) -> Path:
    view = "select 1 study_id, cast(zeroblob(500000000) as text) study_name"
    return database(folder, f"create view studies as {view}")


def optuna_with_many_trials(folder: Path) -> Path:
    endless = "with recursive n(i) as (select 1 union all select i + 1 from n)"
    return database(
        folder,
        "create table studies as select 1 study_id, 'A' study_name",
        "create table study_directions as select 1 study_id, 1 direction, 0 objective",
        "create table trial_values as select 1 trial_id, 0 objective, 1.0 value",
        f"create view trials as {endless} select i trial_id, 1 study_id, i number, 1 state, "
        "null datetime_start, null datetime_complete from n",
    )


def database(folder: Path, *statements: str) -> Path:
    with closing(sqlite3.connect(folder / "x.db")) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()
    return folder / "x.db"


def journal_with_holes(folder: Path) -> Path:
    return holes(folder / "x.log", b'{"op_code": 0, "study_name": "A", "directions": [1]}\n')


def log_with_holes(folder: Path) -> Path:
    (folder / "A").mkdir()
    start = (LOGS / "highs-limit.log").read_bytes()
    return holes(folder / "A" / "x.log", start).parent


def log_of_many_lines(folder: Path) -> Path:
    (folder / "A").mkdir()
    (folder / "A" / "x.log").write_bytes(b"\n" * N_ROWS)
    return folder / "A"


def event_file_with_holes(folder: Path) -> Path:
    return holes(folder / "events.out.tfevents.1").parent


def votes(folder: Path) -> Path:
    head = "# ALTERNATIVE NAME 1: A\n# ALTERNATIVE NAME 2: B\n"
    (folder / "x.soc").write_text(head + "999999: 1, 2\n" * 1000)
    return folder / "x.soc"


def store_with_a_repeated_text(folder: Path) -> Path:
    rows = {name: [value] * 2 for name, value in ROW.items()} | {"algorithm": ["A", "B"]}
    pl.DataFrame(rows).write_csv(folder / "x.csv")
    store = pb.import_data(folder / "x.csv", folder / "from")
    catalog = Catalog(store.path)
    ((name, part),) = catalog.read_parts("runs")
    row = part.row(0, named=True)
    columns = {key: repeated(value, 10**6) for key, value in row.items() if value is not None}
    data = write_parquet(folder / "x", {**columns, "message": repeated("x" * 10_000, 10**6)})
    digest = file_io.digest(data.read_bytes())
    catalog.commit([(f"runs/part-{digest}.parquet", data.read_bytes())], [name])
    return store.path


def aslib_with_holes(folder: Path) -> Path:
    scenario = folder / "aslib"
    scenario.mkdir()
    (scenario / "description.txt").write_text("performance_measures: [runtime]\n")
    holes(scenario / "algorithm_runs.arff")
    return scenario


BOMBS: dict[str, list[Builder]] = {
    "table": [
        many_rows(ROW),
        many_columns,
        long_text,
        texts_that_are_long_together,
        shared_starts,
        lists,
        csv_with_many_columns,
        csv_with_a_long_line,
        compressed_csv,
    ],
    "rankings": [many_rows({"instance": "i"}), csv_with_many_columns],
    "benchopt": [many_rows({"solver_name": "A"})],
    "ioh": [ioh_with_a_file_named_often, ioh_with_a_long_description, ioh_with_holes],
    "coco": [coco_with_a_file_named_often, coco_with_holes],
    "log": [log_with_holes, log_of_many_lines],
    "optuna": [optuna_with_a_long_name, optuna_with_many_trials, journal_with_holes],
    "tensorboard": [event_file_with_holes],
    "preflib": [votes],
    "aslib": [aslib_with_holes],
    "store": [store_with_a_repeated_text],
}
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
CASES = [(name, build) for name in BOMBS for build in BOMBS[name]]


def measured(*arguments: Any) -> tuple[subprocess.CompletedProcess[str], float, int]:
    """A finished command, its seconds of processor time, and the bytes that it held at most."""
    command = [sys.executable, "-c", MEASURED, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True)
    seconds, n_kibibytes = done.stdout.splitlines()[-1].split()
    return done, float(seconds), 1024 * int(n_kibibytes)


def test_every_format_has_a_bomb():
    assert set(BOMBS) == set(FORMATS)


@pytest.mark.parametrize(("name", "build"), CASES)
def test_a_bomb_is_refused_soon_in_one_line(name: str, build: Builder, tmp_path: Path):
    source = build(tmp_path)
    paths = [source, *source.rglob("*")]
    assert sum(512 * path.stat().st_blocks for path in paths) < MAX_SOURCE_BYTES
    done, seconds, n_bytes = measured("import", source, "--store", tmp_path / "s", "--format", name)
    print(f"BOMB {name} {build.__name__} {seconds:.1f} s {n_bytes / 2**20:.0f} MiB {done.stderr}")
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1
    assert done.stderr.startswith("polarbear: ")
    assert seconds < MAX_SECONDS
    assert n_bytes < MAX_BYTES
    assert not (tmp_path / "s").exists()


def test_a_column_that_is_not_used_is_not_read(tmp_path: Path):
    n_rows = 10**5
    columns = {name: repeated(value, n_rows) for name, value in ROW.items()}
    write_parquet(tmp_path / "x.parquet", {**columns, "notes": repeated("x" * 10**5, n_rows)})
    source = tmp_path / "x.parquet"
    done, _, n_bytes = measured("import", source, "--store", tmp_path / "s")
    assert done.returncode == 0
    assert n_bytes < MAX_BYTES
    assert "2 columns ignored: position, notes" in done.stderr
