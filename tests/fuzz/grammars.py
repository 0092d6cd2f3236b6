"""Grammars of configurations, preferences and tables that are almost valid.

Options, suites, adapters, models and preferences come from the registries, so that new ones are
covered automatically.
"""

import io
import json
from collections.abc import Callable
from datetime import date, timedelta
from random import Random
from typing import Any

import polars as pl

from polarbear.algorithms import ADAPTERS
from polarbear.config.execution import Execution
from polarbear.inference.model_options import ModelOptions
from polarbear.inference.models import MODELS
from polarbear.problems import SUITES
from polarbear.racing.rules import Rules
from polarbear.selection.preference import PREFERENCES
from polarbear.settings.options import Options, key_names
from tests.fuzz.tokens import YAML, damaged, json_value, name, number, sometimes

Files = dict[str, bytes]  # the files of an import, by their paths
Pairs = list[tuple[str, str]]

# --- configurations --------------------------------------------------------------------------

ORDINARY = ["1", "2", "10", "0.5", "true", "false", "null", "a", "log", "linear", "[1, 2]"]


def yaml_value(rng: Random) -> str:
    kind = rng.random()
    if kind < 0.3:
        return rng.choice(ORDINARY)
    if kind < 0.6:
        return rng.choice(YAML)
    if kind < 0.7:
        return number(rng)
    if kind < 0.85:
        return json.dumps(name(rng))
    return json.dumps(json_value(rng))


def _flow(pairs: Pairs) -> str:
    return "{" + ", ".join(f"{key}: {value}" for key, value in pairs) + "}"


def _options(rng: Random, group: type[Options], but: tuple[str, ...] = ()) -> Pairs:
    keys = [key for key in key_names(group) if key not in but]
    n_options = min(rng.choice([0, 0, 0, 0, 0, 0, 1, 2]), len(keys))
    return [(key, yaml_value(rng)) for key in rng.sample(keys, n_options)]


def configuration(rng: Random) -> str:
    """The text of a configuration with a few errors, or that is no YAML."""
    use = "random-search"
    suite = "classic"
    if sometimes(rng, 0.5):
        use = rng.choice(list(ADAPTERS))
        suite = rng.choice(list(SUITES))
    algorithms = [
        _flow([("name", "a"), ("use", use), *_options(rng, ADAPTERS[use], ("name", "use"))])
    ]
    if sometimes(rng, 0.3):
        algorithms.append(_flow([("name", yaml_value(rng)), ("use", use)]))
    groups = {
        "seed": "1",
        "algorithms": f"[{', '.join(algorithms)}]",
        "instances": _flow([("suite", suite), *_options(rng, SUITES[suite], ("suite",))]),
        "budget": _flow([("axis", "evaluations"), ("grid", "{from: 1, to: 9, points: 3}")]),
        "execution": _flow(_options(rng, Execution)),
        "race": _flow(_options(rng, Rules)),
        "inference": _flow(_inference(rng)),
    }
    if sometimes(rng, 0.2):
        groups["budget"] = _flow([("axis", yaml_value(rng)), ("grid", yaml_value(rng))])
    if sometimes(rng, 0.2):
        groups[rng.choice(list(groups))] = yaml_value(rng)
    if sometimes(rng, 0.1):
        groups[json.dumps(name(rng))] = yaml_value(rng)
    text = "".join(f"{key}: {value}\n" for key, value in groups.items() if value != "{}")
    if sometimes(rng, 0.1):
        text = damaged(rng, text.encode(errors="replace")).decode(errors="replace")
    return text


def _inference(rng: Random) -> Pairs:
    model = rng.choice(list(MODELS))
    model_options = _options(rng, MODELS[model].own_options)
    pairs: Pairs = []
    if model_options or sometimes(rng, 0.5):
        pairs.append(("model", model))
    if model_options:
        pairs.append(("options", _flow(model_options)))
    return [*pairs, *_options(rng, ModelOptions, ("model", "options"))]


# --- preferences -----------------------------------------------------------------------------

WORDS = [
    *PREFERENCES,
    *["*", "+", "and", "to", "(", ")", ",", "=", "mean=", "sd=", "t=", "weight=", "x.yaml"],
]


def preference(rng: Random) -> str:
    """Words or a mapping that are almost a preference."""
    preferred = rng.choice(list(PREFERENCES))
    form = rng.random()
    if form < 0.4:
        numbers = [number(rng) for _ in range(rng.randrange(4))]
        return " ".join([preferred, *numbers])
    if form < 0.6:
        words = [rng.choice([rng.choice(WORDS), number(rng), name(rng)]) for _ in range(3)]
        return rng.choice([" ", "", ", "]).join([preferred, *words])
    if form < 0.8:
        parts = [
            f"{number(rng)} * {rng.choice(list(PREFERENCES))} {number(rng)}"
            for _ in range(rng.randint(1, 3))
        ]
        return " + ".join(parts)
    options = _options(rng, PREFERENCES[preferred], ("preference",))
    return _flow([("preference", preferred), *options])


def number_file(rng: Random) -> bytes:
    """A file of budgets or of weights."""
    if sometimes(rng, 0.2):
        return rng.randbytes(rng.randrange(60))
    rows = []
    for t in range(1, rng.randint(1, 6)):
        cells = [number(rng) if sometimes(rng, 0.3) else str(t) for _ in range(rng.randint(1, 3))]
        rows.append(",".join(cells))
    return "\n".join(rows).encode()


# --- tables ----------------------------------------------------------------------------------

COLUMNS = ["algorithm", "instance", "t", "y", "position", "seed", "line", "x"]


def _cell(text: str) -> str:
    return '"' + text.replace('"', '""') + '"' if set(text) & set(',"\n') else text


def csv_table(rng: Random) -> bytes:
    columns = COLUMNS[:5]
    if sometimes(rng, 0.3):
        columns = [rng.choice([*COLUMNS, ""]) for _ in range(rng.randrange(7))]
    rows = []
    for row in range(rng.randrange(5)):
        usual = {"algorithm": rng.choice("AB"), "instance": "i"}
        cells = [usual.get(column, str(row + 1)) for column in columns]
        if cells and sometimes(rng, 0.5):
            odd_cell = rng.choice([name, number])(rng)
            cells[rng.randrange(len(cells))] = odd_cell
        rows.append(",".join(map(_cell, cells)))
    data = "\n".join([",".join(columns), *rows]).encode(errors="replace")
    return damaged(rng, data) if sometimes(rng, 0.2) else data


COLUMN_KINDS: list[Callable[[Random], Any]] = [
    lambda rng: rng.choice("AB"),
    lambda rng: float(rng.randrange(1, 9)),
    name,
    number,
    lambda rng: rng.choice([float("nan"), float("inf"), -1.0, 0.0, 1e308]),
    lambda rng: rng.randrange(-(2**31), 2**31),
    lambda rng: rng.random() < 0.5,
    lambda rng: None,
    lambda rng: rng.randbytes(3),
    lambda rng: date(2024, 1, rng.randint(1, 28)),
    lambda rng: [rng.randrange(9)],
    lambda rng: {"a": rng.randrange(9)},
    lambda rng: timedelta(rng.randrange(9)),
]


def parquet_table(rng: Random) -> bytes:
    rows = rng.randrange(5)
    columns = {}
    for column in COLUMNS[: rng.randint(3, 8)]:
        usual = COLUMN_KINDS[0 if column in ("algorithm", "instance") else 1]
        kind = rng.choice(COLUMN_KINDS) if sometimes(rng, 0.15) else usual
        columns[column] = [kind(rng) for _ in range(rows)]
    frame = pl.DataFrame(columns, strict=False)
    if sometimes(rng, 0.3):
        frame = frame.with_columns(pl.col(pl.String).cast(pl.Categorical))
    buffer = io.BytesIO()
    frame.write_parquet(buffer)
    data = buffer.getvalue()
    return damaged(rng, data) if sometimes(rng, 0.4) else data


def table(rng: Random) -> Files:
    if sometimes(rng, 0.4):
        return {"x.parquet": parquet_table(rng)}
    return {"x.csv": csv_table(rng)}
