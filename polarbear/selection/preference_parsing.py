"""A preference from words, from a mapping, or from a YAML file.

at 5000                     a name, then its options in order
between 1h and 2h           with units: of time if the axis is seconds; k and M on any axis
normal mean=5000 sd=500     or by name; normal(5000, 500) is the same
0.7 * at 5000 + 0.3 * worst-case
mine:function               a Python function
{preference: at, t: 5000}   YAML
file.yaml                   the same in a file
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from polarbear.selection.preference import PREFERENCES, Preference
from polarbear.settings.grid import EVALUATIONS, SECONDS
from polarbear.settings.options import Path as Keys
from polarbear.settings.options import Source, describe, validate
from polarbear.settings.yaml_lines import parse_yaml, read_yaml
from polarbear.wording import singular, typed

UNITS_OF_TIME = {
    **dict.fromkeys(["ms", "millisecond", "milliseconds"], 1e-3),
    **dict.fromkeys(["s", "sec", "second", "seconds"], 1.0),
    **dict.fromkeys(["m", "min", "minute", "minutes"], 60.0),
    **dict.fromkeys(["h", "hour", "hours"], 3600.0),
    **dict.fromkeys(["d", "day", "days"], 86400.0),
}
MULTIPLES = {"k": 1e3, "K": 1e3, "M": 1e6}
QUANTITY = re.compile(
    r"([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*([kKM](?![A-Za-z]))?\s*([^\W\d_][\w -]*)?"
)
FILLERS = {"and", "to"}
THOUSANDS = re.compile(r"\d,\d{3}(?!\d)")


def read_preference(
    text: str, axis: str = EVALUATIONS, folder: str = "."
) -> tuple[Preference, str]:
    """The preference that a text describes, and the folder of the files that it names.

    Times with a unit are converted to the axis.
    """
    text = text.strip()
    if Path(text).suffix in {".yaml", ".yml"} and not _is_mix(text):
        path = Path(folder) / text
        return parse_preference(*read_yaml(path), axis), str(path.resolve().parent)
    if text.startswith("{"):
        return parse_preference(*parse_yaml(text, "preference"), axis), folder
    return parse_preference(text, Source("preference"), axis), folder


def parse_preference(
    data: Any, source: Source, axis: str = EVALUATIONS, path: Keys = ()
) -> Preference:
    """The preference that words or a mapping describe."""
    if isinstance(data, str):
        return _from_words(data, source, axis, path)
    if not isinstance(data, Mapping) or "preference" not in data:
        raise source.error(
            path, f"expected words or a mapping with the key 'preference', found {describe(data)}"
        )
    name = data["preference"]
    if len(data) == 1 or not isinstance(name, str):
        return parse_preference(name, source, axis, (*path, "preference"))
    if name == "mix":
        data = {**data, "of": _parts(data.get("of"), source, axis, (*path, "of"))}
    elif name not in PREFERENCES:
        raise source.error((*path, "preference"), PREFERENCES.refusal(name))
    return _validated(name, data, source, axis, path)


def _validated(
    name: str, data: Mapping[str, Any], source: Source, axis: str, path: Keys
) -> Preference:
    """A preference by its options, in which times may have units."""
    kind, found = PREFERENCES[name], dict(data)
    for field, about in kind.model_fields.items():
        key = about.alias or field
        if about.annotation is float and isinstance(found.get(key), str):
            try:
                found[key] = in_units_of(axis, found[key])
            except ValueError as error:
                raise source.error((*path, key), str(error)) from None
    return validate(kind, found, source, path)


def in_units_of(axis: str, text: str) -> str:
    """A number that may have a unit, as a number of the axis: 10 minutes, 5k, 2.5M evaluations."""
    found = QUANTITY.fullmatch(text.strip())
    if found is None:
        return text
    number, multiple, unit = found.groups()
    if not multiple and not unit:
        return number
    factor = MULTIPLES.get(multiple, 1.0)
    if unit and unit not in (axis, singular(axis)):
        if axis != SECONDS or unit.lower() not in UNITS_OF_TIME:
            known = "ms, s, min, h or d" if axis == SECONDS else f"{axis}, k or M"
            raise ValueError(f"'{text}': time is counted in {axis} here; expected {known}")
        factor *= UNITS_OF_TIME[unit.lower()]
    return typed(float(number) * factor)


def _parts(data: Any, source: Source, axis: str, path: Keys) -> list[dict[str, Any]]:
    if not isinstance(data, list) or not data:
        raise source.error(path, f"expected a list of preferences, found {describe(data)}")
    parts = []
    for position, entry in enumerate(data):
        part = (
            {"weight": entry["weight"]} if isinstance(entry, Mapping) and "weight" in entry else {}
        )
        if part:
            entry = {key: value for key, value in entry.items() if key != "weight"}
        parts.append(
            {**part, "preference": parse_preference(entry, source, axis, (*path, position))}
        )
    return parts


def _from_words(text: str, source: Source, axis: str, path: Keys) -> Preference:
    text = text.strip()
    if _is_mix(text):
        parts = [_weighted(part, source, axis, path) for part in re.split(r"\s\+\s", text)]
        return validate(PREFERENCES["mix"], {"preference": "mix", "of": parts}, source, path)
    if re.fullmatch(r"[^\s{}=]+:[A-Za-z_]\w*", text):
        text = f"python {shlex.quote(text)}"
    if "(" not in text and THOUSANDS.search(text):
        raise source.error(path, f"'{text}': write numbers without a comma, 5000 for 5,000")
    name, *rest = _split(text, source, path) or [""]
    if name not in PREFERENCES:
        raise source.error(path, PREFERENCES.refusal(name))
    if name == "mix":
        raise source.error(path, "a mix is written as '0.7 * at 5000 + 0.3 * worst-case'")
    return _validated(name, _options(name, rest, source, path), source, axis, path)


def _options(name: str, words: list[str], source: Source, path: Keys) -> dict[str, Any]:
    """The options that follow a name: by key, or in the order of ``spoken``."""
    kind = PREFERENCES[name]
    order = [kind.model_fields[field].alias or field for field in kind.spoken]
    data: dict[str, Any] = {"preference": name}
    in_order: list[str] = []
    last = ""  # the key of the word before
    for word in words:
        key, equals, value = word.partition("=")
        is_unit = word.isalpha() and word not in FILLERS
        if equals and key.isidentifier():
            data[key], last = value, key
        elif last and is_unit and QUANTITY.fullmatch(data[last]):
            data[last] += f" {word}"
        elif in_order and is_unit and QUANTITY.fullmatch(in_order[-1]):
            in_order[-1] += f" {word}"
        elif word not in FILLERS:
            in_order.append(word)
            last = ""
    free = [key for key in order if key not in data]
    if len(in_order) > len(free):
        found, wanted = " ".join(words), " ".join([name, *(key.upper() for key in order)])
        raise source.error(path, f"expected '{wanted}', found more words: '{name} {found}'")
    return data | dict(zip(free, in_order, strict=False))


def _weighted(text: str, source: Source, axis: str, path: Keys) -> dict[str, Any]:
    weight, star, rest = text.partition("*")
    part = {"preference": _from_words(rest if star else text, source, axis, path)}
    return {"weight": weight.strip(), **part} if star else part


def _is_mix(text: str) -> bool:
    return bool(re.search(r"\s\+\s", text)) or bool(re.match(r"[^\s(]*\s*\*", text))


def _split(text: str, source: Source, path: Keys) -> list[str]:
    call = re.fullmatch(r"([\w-]+)\s*\((.*)\)", text)
    if call:
        text = f"{call[1]} {call[2]}"
    try:
        return shlex.split(text.replace("," if call else ", ", " "))
    except ValueError as error:
        raise source.error(path, f"cannot read '{text}': {error}") from None
