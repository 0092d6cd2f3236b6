"""Names, numbers and pieces of YAML that have broken parsers, and random changes of documents.

All functions draw from one generator, which Hypothesis seeds: a case is identified by a number.
"""

import math
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


def name(rng: Random) -> str:
    if rng.random() < 0.8:
        return rng.choice(NAMES)
    return "".join(chr(rng.randrange(0xD800)) for _ in range(rng.randrange(5)))


def number(rng: Random) -> str:
    what = rng.random()
    if what < 0.4:
        return rng.choice(NUMBERS)
    return str(rng.randrange(1, 100)) if what < 0.8 else repr(rng.gauss(0, 10 ** rng.randrange(9)))


def json_value(rng: Random, depth: int = 0) -> Any:
    what = rng.randrange(9 if depth < 3 else 7)
    if what == 7:
        return [json_value(rng, depth + 1) for _ in range(rng.randrange(3))]
    if what == 8:
        return {name(rng): json_value(rng, depth + 1) for _ in range(rng.randrange(3))}
    return (
        None,
        rng.random() < 0.5,
        rng.randrange(-(2**70), 2**70),
        rng.choice([0.0, -1.5, math.nan, math.inf, 1e308]),
        name(rng),
        rng.choice(NUMBERS),
        rng.randrange(5),
    )[what]


def mutated(rng: Random, good: Any, times: int = 2) -> Any:
    """A JSON document in which some values are replaced, removed or repeated."""
    for _ in range(rng.randint(0, times)):
        good = _changed(rng, good, depth=0)
    return good


def _changed(rng: Random, value: Any, depth: int) -> Any:
    if not isinstance(value, dict | list) or not value or (depth and rng.random() < 0.2):
        return json_value(rng)
    key = rng.choice(list(value) if isinstance(value, dict) else list(range(len(value))))
    made: Any = dict(value) if isinstance(value, dict) else list(value)
    what = rng.random()
    if what < 0.1:
        del made[key]
    elif what < 0.2 and isinstance(made, dict):
        made[name(rng)] = made[key]
    elif what < 0.2:
        made.append(made[key])
    else:
        made[key] = _changed(rng, made[key], depth + 1)
    return made


def damaged(rng: Random, data: bytes) -> bytes:
    """Bytes of which some are changed, cut out, repeated or cut off."""
    for _ in range(rng.randint(1, 3)):
        place, length = rng.randrange(len(data) + 1), rng.randrange(16)
        what = rng.randrange(6)
        if what == 0:
            data = data[:place]
        elif what == 1:
            data = data[:place] + data[place + length :]
        elif what == 2:
            data = data[:place] + rng.randbytes(length) + data[place:]
        elif what == 3:
            data = data[:place] + data[place : place + length] * 3 + data[place + length :]
        else:
            flipped = bytes(byte ^ 1 << rng.randrange(8) for byte in data[place : place + 1])
            data = data[:place] + flipped + data[place + 1 :]
    return data
