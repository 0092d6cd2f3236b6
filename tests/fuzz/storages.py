"""Grammars of files of other programs: benchopt, Optuna, TensorBoard, PrefLib.

Files are written without these programs, which need not be installed.
"""

from __future__ import annotations

import io
import json
import sqlite3
import struct
from collections.abc import Callable
from random import Random
from typing import Any

import polars as pl

from tests.fuzz.grammars import COLUMN_KINDS, Files
from tests.fuzz.tokens import damaged, json_value, mutated, name, number

STUDIES = ["TPE/branin/0", "random/branin/0", "random", ""]
MOMENT = "2024-05-06 07:08:09.5"


def _sometimes_damaged(rng: Random, data: bytes, how_often: float = 0.3) -> bytes:
    return damaged(rng, data) if rng.random() < how_often else data


# --- benchopt --------------------------------------------------------------------------------

BENCHOPT: dict[str, Callable[[Random], Any]] = {
    "solver_name": lambda rng: rng.choice("AB"),
    "dataset_name": lambda rng: "d",
    "objective_name": lambda rng: "o",
    "idx_rep": lambda rng: rng.randrange(2),
    "stop_val": lambda rng: rng.randrange(1, 9),
    "time": lambda rng: rng.random(),
    "objective_value": lambda rng: rng.gauss(0, 1),
}


def benchopt_file(rng: Random) -> Files:
    rows = rng.randrange(6)
    columns: dict[str, list[Any]] = {}
    for column, usual in BENCHOPT.items():
        what = rng.random()
        kind = rng.choice(COLUMN_KINDS) if what < 0.1 else usual
        called = name(rng)[:50] if what > 0.97 else column
        columns[called] = [kind(rng) for _ in range(rows)]
    buffer = io.BytesIO()
    pl.DataFrame(columns, strict=False).write_parquet(buffer)
    return {"results.parquet": _sometimes_damaged(rng, buffer.getvalue(), 0.2)}


# --- Optuna ----------------------------------------------------------------------------------


def optuna_storage(rng: Random) -> Files:
    return _journal(rng) if rng.random() < 0.5 else _database(rng)


def _journal(rng: Random) -> Files:
    entries: list[Any] = [
        {"op_code": 0, "study_name": study, "directions": [1]}
        for study in rng.sample(STUDIES, rng.randint(1, 3))
    ]
    for trial in range(rng.randrange(4)):
        entries.append({"op_code": 4, "study_id": rng.randrange(2), "datetime_start": MOMENT})
        ended = {"op_code": 6, "trial_id": trial, "state": 1, "values": [rng.gauss(0, 1)]}
        entries.append({**ended, "datetime_complete": MOMENT})
    entries += [{"op_code": 1, "study_id": 0}] * (rng.random() < 0.1)
    lines = [json.dumps(mutated(rng, entry, times=1)) for entry in entries]
    if rng.random() < 0.05:
        lines.append("[" * 100_000)
    return {"studies.log": _sometimes_damaged(rng, "\n".join(lines).encode(errors="replace"))}


def _database(rng: Random) -> Files:
    database = sqlite3.connect(":memory:")
    tables = {
        "studies": ("study_id", "study_name"),
        "study_directions": ("study_id", "direction", "objective"),
        "trials": (
            *("trial_id", "study_id", "number", "state", "datetime_start", "datetime_complete"),
        ),
        "trial_values": ("trial_id", "objective", "value"),
    }
    for table, columns in tables.items():
        if rng.random() > 0.02:
            kept = [column for column in columns if rng.random() > 0.01] or ["x"]
            database.execute(f"create table {table} ({', '.join(kept)})")
    rows: list[tuple[str, tuple[Any, ...]]] = []
    for study in range(rng.randint(1, 2)):
        rows.append(("studies", (study, rng.choice(STUDIES))))
        rows.append(("study_directions", (study, "MINIMIZE", 0)))
    for trial in range(rng.randrange(4)):
        rows.append(("trials", (trial, rng.randrange(2), trial, "COMPLETE", MOMENT, MOMENT)))
        rows.append(("trial_values", (trial, 0, rng.gauss(0, 1))))
    for table, row in rows:
        cells = [_odd_cell(rng) if rng.random() < 0.05 else cell for cell in row]
        try:
            database.execute(f"insert into {table} values ({','.join('?' * len(cells))})", cells)
        except (sqlite3.Error, OverflowError, UnicodeEncodeError):
            continue
    database.commit()
    return {"studies.db": _sometimes_damaged(rng, database.serialize())}


def _odd_cell(rng: Random) -> Any:
    value = rng.choice([name, number, json_value])(rng)
    return value if isinstance(value, str | float | int | None) else json.dumps(value)


# --- TensorBoard -----------------------------------------------------------------------------


def _varint(value: int) -> bytes:
    found = bytearray()
    while value > 127:
        found.append(value & 127 | 128)
        value >>= 7
    return bytes([*found, value])


def _field(number: int, data: bytes) -> bytes:
    return _varint(number << 3 | 2) + _varint(len(data)) + data


def _scalar(rng: Random, step: int) -> bytes:
    tag = "loss" if rng.random() < 0.9 else name(rng)
    value = rng.choice([rng.gauss(0, 1), float("nan"), float("inf"), 0.0])
    if rng.random() < 0.3:  # as a tensor of one number
        content = b"\x08\x01" + _field(rng.choice([4, 5]), struct.pack("<f", value))
        held = _field(8, content)
    else:
        held = b"\x15" + struct.pack("<f", value)
    one = _field(1, tag.encode(errors="replace")) + held
    seconds = rng.choice([1000.0 + step, float("nan"), -1e300])
    moment = seconds if rng.random() < 0.1 else 1000.0 + step
    counted = step if rng.random() < 0.9 else rng.randrange(2**64)
    event = b"\x09" + struct.pack("<d", moment) + b"\x10" + _varint(counted)
    return event + _field(5, _field(1, one))


def tensorboard_folder(rng: Random) -> Files:
    made: Files = {}
    for run in rng.sample(["adam/cifar/0", "adam/cifar/1", "sgd", "x/y/z/w"], rng.randint(1, 3)):
        data = b""
        for step in range(rng.randrange(4)):
            event = _sometimes_damaged(rng, _scalar(rng, step), 0.1)
            data += struct.pack("<Q", len(event)) + bytes(4) + event + bytes(4)
        made[f"{run}/events.out.tfevents.1"] = _sometimes_damaged(rng, data, 0.2)
    return {**made, "readme": b""}  # a second file, so that the folder is what is read


# --- PrefLib ---------------------------------------------------------------------------------


def preflib_files(rng: Random) -> Files:
    made: Files = {}
    for place in range(1 if rng.random() < 0.7 else 2):
        lines = [f"# ALTERNATIVE NAME {i}: {called}" for i, called in enumerate("ABC", 1)]
        if rng.random() < 0.5:
            lines.append(f"# POLARBEAR TIME: {10**place if rng.random() < 0.8 else number(rng)}")
        for order in range(rng.randint(1, 3)):
            if rng.random() < 0.5:
                voters = json_value(rng) if rng.random() < 0.3 else [f"i{order}"]
                lines.append(f"# POLARBEAR VOTERS {order + 1}:{json.dumps(voters)}")
            many = number(rng) if rng.random() < 0.2 else "1"
            lines.append(f"{many}: {rng.choice(['1,2,3', '{1,2},3', '3,{}', '{1 2}', '2'])}")
        if rng.random() < 0.3:
            odd = rng.choice([name, number])(rng)
            lines.insert(rng.randrange(len(lines)), rng.choice(["", "# ", "1: "]) + odd)
        if rng.random() < 0.2:
            lines[rng.randrange(3)] = f"# ALTERNATIVE NAME {number(rng)}: {name(rng)}"
        if rng.random() < 0.03:
            lines.append("# POLARBEAR VOTERS 1:" + "[" * 100_000)
        data = "\n".join(lines).encode(errors="replace")
        made[f"{place}.toc"] = _sometimes_damaged(rng, data, 0.2)
    return made


STORAGES: dict[str, Callable[[Random], Files]] = {
    "benchopt": benchopt_file,
    "optuna": optuna_storage,
    "tensorboard": tensorboard_folder,
    "preflib": preflib_files,
}
