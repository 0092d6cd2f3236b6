"""Valid files of other programs, written without these programs, and random changes of them."""

import io
import json
import re
import sqlite3
import struct
from collections.abc import Callable
from functools import partial
from pathlib import Path
from random import Random

import polars as pl

from tests.formats import test_aslib, test_benchopt, test_coco, test_preflib
from tests.fuzz.grammars import COLUMN_KINDS, Files, table
from tests.fuzz.tokens import damaged, mutated, name, number, sometimes

LOGS = Path(__file__).parent.parent / "data" / "logs"
NAMED_LOGS = ("highs", "scip", "cbc", "gurobi", "cplex", "cp-sat", "minizinc")
MOMENT = "2024-05-06 07:08:09.5"
TOKENS = re.compile(rb"[^\s,:|{}\[\]\"'=]+")


def _event(step: int, as_tensor: bool) -> bytes:
    """A record of TensorBoard with one scalar."""
    number_of_step = struct.pack("<f", 0.5 / (step + 1))
    head = b"\x42\x08\x08\x01\x2a\x04" if as_tensor else b"\x15"
    value = b"\x0a\x04loss" + head + number_of_step
    summary = b"\x0a" + bytes([len(value)]) + value
    event = b"\x09" + struct.pack("<d", 1000.0 + step) + b"\x10" + bytes([step])
    event += b"\x2a" + bytes([len(summary)]) + summary
    return struct.pack("<Q", len(event)) + bytes(4) + event + bytes(4)


def _database() -> bytes:
    """A storage of Optuna in SQLite."""
    database = sqlite3.connect(":memory:")
    database.executescript(
        "create table studies (study_id, study_name);"
        "create table study_directions (study_id, direction, objective);"
        "create table trials (trial_id, study_id, number, state, datetime_start,"
        " datetime_complete);"
        "create table trial_values (trial_id, objective, value);"
        "insert into studies values (0, 'TPE/branin/0'), (1, 'random');"
        "insert into study_directions values (0, 'MINIMIZE', 0), (1, 'MINIMIZE', 0);"
        f"insert into trials values (0, 0, 0, 'COMPLETE', '{MOMENT}', '{MOMENT}'),"
        f" (1, 1, 0, 'COMPLETE', '{MOMENT}', '{MOMENT}');"
        "insert into trial_values values (0, 0, 2.5), (1, 0, 1.5);"
    )
    return database.serialize()


RUN = {"instance": 1, "evals": 9, "best": {"evals": 4, "y": 2.0}}
IOH = {
    "function_id": 3,
    "maximization": False,
    "algorithm": {"name": "A", "info": ""},
    "attributes": ["evaluations", "raw_y"],
    "scenarios": [{"dimension": 2, "path": "data/f3.dat", "runs": [RUN] * 2}],
}
JOURNAL = [
    {"op_code": 0, "study_name": "TPE/branin/0", "directions": [1]},
    {"op_code": 0, "study_name": "random", "directions": [1]},
    {"op_code": 4, "study_id": 0, "datetime_start": MOMENT},
    {"op_code": 6, "trial_id": 0, "state": 1, "values": [2.5], "datetime_complete": MOMENT},
]
VOTES = test_preflib.FILE.replace("2: 1", '# POLARBEAR TIME: 10\n# POLARBEAR VOTERS 1: ["i"]\n2: 1')
SAMPLES: dict[str, list[Files]] = {
    "ioh": [
        {
            "IOHprofiler_f3.json": json.dumps(IOH).encode(),
            "data/f3.dat": b"evaluations raw_y\n1 9\n4 2\n" * 2,
        },
    ],
    "coco": [
        {
            "bbobexp_f1.info": test_coco.INFO.format(algorithm="A").encode(),
            "data_f1/bbobexp_f1_DIM2.dat": test_coco.DAT.encode(),
            "data_f1/bbobexp_f1_DIM2.tdat": test_coco.TDAT.encode(),
        }
    ],
    "log": [
        {f"{log}/limit.log": (LOGS / f"{log}-limit.log").read_bytes() for log in NAMED_LOGS},
        {"ants/x.log": (LOGS / "o-lines-stamped.log").read_bytes()},
    ],
    "optuna": [
        {"studies.log": "\n".join(map(json.dumps, JOURNAL)).encode()},
        {"studies.db": _database()},
    ],
    "tensorboard": [
        {
            "adam/cifar/0/events.out.tfevents.1": _event(0, False) + _event(9, True),
            "sgd/events.out.tfevents.1": _event(3, False),
        }
    ],
    "aslib": [{name: text.encode() for name, text in test_aslib.FILES.items()}],
    "preflib": [{"x.toc": test_preflib.FILE.encode()}, {"1.toc": VOTES.encode(), "2.toc": b""}],
}  # fmt: skip


def changed(rng: Random, data: bytes) -> bytes:
    """A file of which a word, a value of its JSON, a line or some bytes are changed."""
    change = rng.random()
    if change < 0.2 and data.startswith(b"{"):
        lines = data.decode(errors="replace").split("\n")
        i = rng.randrange(len(lines))
        try:
            lines[i] = json.dumps(mutated(rng, json.loads(lines[i])))
        except ValueError:  # damaged by an earlier change
            return data
        return "\n".join(lines).encode(errors="replace")
    words = list(TOKENS.finditer(data))
    if change < 0.6 and words:
        word = rng.choice(words)
        odd_word = rng.choice([name, number])(rng).encode(errors="replace")
        return data[: word.start()] + odd_word + data[word.end() :]
    if change < 0.7:
        byte_lines = data.split(b"\n")
        i = rng.randrange(len(byte_lines))
        byte_lines[i : i + 1] = [byte_lines[i]] * rng.choice([0, 2])
        return b"\n".join(byte_lines)
    return damaged(rng, data) if change < 0.98 else data + b"[" * 100_000


def altered(samples: list[Files], rng: Random) -> Files:
    """The files of one of these valid samples, after some changes."""
    files = dict(rng.choice(samples))
    for _ in range(rng.randrange(4)):
        path = rng.choice(list(files))
        files[path] = changed(rng, files[path])
        if len(files) > 2 and sometimes(rng, 0.03):
            del files[path]
    return files


def benchopt_file(rng: Random) -> Files:
    columns = {}
    for column, usual in test_benchopt.ROWS.items():
        title = name(rng)[:50] if sometimes(rng, 0.03) else column
        columns[title] = list(usual)
        if sometimes(rng, 0.1):
            kind = rng.choice(COLUMN_KINDS)
            columns[title] = [kind(rng) for _ in usual]
    buffer = io.BytesIO()
    pl.DataFrame(columns, strict=False).write_parquet(buffer)
    data = buffer.getvalue()
    return {"results.parquet": damaged(rng, data) if sometimes(rng, 0.2) else data}


def anything(rng: Random) -> Files:
    """Files of any kind, for a format of another package."""
    if sometimes(rng, 0.2):
        return {"x": rng.randbytes(rng.randrange(200))}
    return altered(rng.choice(list(SAMPLES.values())), rng)


IMPORTS: dict[str, Callable[[Random], Files]] = {
    "table": table,
    "rankings": table,
    "benchopt": benchopt_file,
    **{format: partial(altered, samples) for format, samples in SAMPLES.items()},
}
