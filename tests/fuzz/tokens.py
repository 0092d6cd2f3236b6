"""Names, numbers and pieces of YAML that have broken parsers, and random changes of documents.

All functions draw from a generator, as Hypothesis provides it: it shrinks a failing case by drawing
lower numbers. So the lowest number leads to the simplest text.
"""

import math
from collections.abc import Callable
from random import Random
from typing import Any

NAMES = [
    "A", "B", "CMA-ES", "", " ", " A", "A\n", "a\tb", "\x00", "\x1b[2J", "\u200b",
    "👨\u200d👩\u200d👧", "\u202etxt", "=1+1", "@SUM(A1)", "<script>", "[bold]", "\\", '"', "'",
    ",", ";", "#", "é", "é", "null", "None", "nan", "../../x", "/", "%s", "{0}", "{{x}}", "\ufeff",
    "\ufffe", "\U000e0001", "1e5", "-", "--help", "A#1", "A,B", "x" * 201, "x" * 5000,
]  # fmt: skip
NUMBERS = [
    "0", "1", "2", "10", "1e3", "0.5", "-1", "-0.0", "1e308", "1e309", "-1e309", "nan", "inf",
    "-inf", "5e-324", "1_0", "0x10", "1,5", "١", "", " 3 ", "three", "1e", "+1", "1e-400",
    "9" * 25, "9" * 5000,
]  # fmt: skip
YAML = [
    "[x]", "{a: 1}", "[]", "{}", "&a [*a]", "&a {<<: *a}", "*a", "!!int abc", "!!float x",
    "!!bool x", "!!binary aGk=", "!!timestamp x", "!!set {a}", "!!python/name:os.system", "!x y",
    "2024-13-45", "2024-01-05", "2024-01-05 10:00:00", "null", "true", "no", ".nan", ".inf",
    "-.inf", "0o7", "0b1", "1:30", "'", '"', '"\\0"', '"\\e[2J"', '"\\ud800"', '"\\U00110000"',
    '"\\x41"', "|", ">", "- -", "? a", "<<", "=", "%", "@", "`", "\x00", "\x1b", "\x7f", "\u2028",
    "\ufeff", "a: b", "#", "---", "...", "&a &b c", "[[[1]]]", "{from: 1, to: 2}",
    "{from: 5, to: 1}", "[1, 2, 3]", "[3, 2]", "[0]", "[1, x]", "1e400", "0x" + "f" * 400,
    "9" * 5000, "[" * 60 + "]" * 60, "{a: " * 45 + "1" + "}" * 45,
]  # fmt: skip


def sometimes(rng: Random, probability: float) -> bool:
    """True with this probability, and False for the lowest number that can be drawn."""
    return rng.random() >= 1 - probability


def name(rng: Random) -> str:
    if rng.random() < 0.8:
        return rng.choice(NAMES)
    return "".join(chr(rng.randrange(0xD800)) for _ in range(rng.randrange(5)))


def number(rng: Random) -> str:
    kind = rng.random()
    if kind < 0.4:
        return rng.choice(NUMBERS)
    if kind < 0.8:
        return str(rng.randrange(1, 100))
    return repr(rng.gauss(0, 10 ** rng.randrange(9)))


SCALARS: tuple[Callable[[Random], Any], ...] = (
    lambda rng: None,
    lambda rng: rng.random() < 0.5,
    lambda rng: rng.randrange(-(2**70), 2**70),
    lambda rng: rng.choice([0.0, -1.5, math.nan, math.inf, 1e308]),
    name,
    lambda rng: rng.choice(NUMBERS),
    lambda rng: rng.randrange(5),
)


def json_value(rng: Random, depth: int = 0) -> Any:
    n_kinds = len(SCALARS) + (2 if depth < 3 else 0)
    kind = rng.randrange(n_kinds)
    if kind < len(SCALARS):
        return SCALARS[kind](rng)
    if kind == len(SCALARS):
        return [json_value(rng, depth + 1) for _ in range(rng.randrange(3))]
    return {name(rng): json_value(rng, depth + 1) for _ in range(rng.randrange(3))}


def mutated(rng: Random, good: Any, times: int = 2) -> Any:
    """A JSON document in which some values are replaced, removed or repeated."""
    for _ in range(rng.randint(0, times)):
        good = _changed(rng, good, depth=0)
    return good


def _changed(rng: Random, value: Any, depth: int) -> Any:
    if not isinstance(value, dict | list) or not value or (depth and rng.random() < 0.2):
        return json_value(rng)
    key = rng.choice(list(value) if isinstance(value, dict) else list(range(len(value))))
    collection: Any = dict(value) if isinstance(value, dict) else list(value)
    change = rng.random()
    if change < 0.1:
        del collection[key]
    elif change < 0.2 and isinstance(collection, dict):
        collection[name(rng)] = collection[key]
    elif change < 0.2:
        collection.append(collection[key])
    else:
        collection[key] = _changed(rng, collection[key], depth + 1)
    return collection


def damaged(rng: Random, data: bytes) -> bytes:
    """Bytes of which some are changed, cut out, repeated or cut off."""
    for _ in range(rng.randint(1, 3)):
        start = rng.randrange(len(data) + 1)
        end = start + rng.randrange(16)
        damage = rng.randrange(6)
        if damage == 0:
            data = data[:start]
        elif damage == 1:
            data = data[:start] + data[end:]
        elif damage == 2:
            data = data[:start] + rng.randbytes(end - start) + data[start:]
        elif damage == 3:
            data = data[:start] + data[start:end] * 3 + data[end:]
        else:
            flipped = bytes(byte ^ 1 << rng.randrange(8) for byte in data[start : start + 1])
            data = data[:start] + flipped + data[start + 1 :]
    return data
