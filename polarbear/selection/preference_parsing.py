"""A preference from words, from a mapping, or from a YAML file.

at 5000                     a name, then its options in order
between 3600 and 7200
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
from polarbear.settings.options import Path as Keys
from polarbear.settings.options import Source, describe, validate
from polarbear.settings.yaml_lines import parse_yaml, read_yaml

FILLERS = {"and", "to"}
THOUSANDS = re.compile(r"\d,\d{3}(?!\d)")


def read_preference(text: str, folder: str = ".") -> tuple[Preference, str]:
    """The preference that a text describes, and the folder of the files that it names."""
    text = text.strip()
    if Path(text).suffix in {".yaml", ".yml"} and not _is_mix(text):
        path = Path(folder) / text
        return parse_preference(*read_yaml(path)), str(path.resolve().parent)
    if text.startswith("{"):
        return parse_preference(*parse_yaml(text, "preference")), folder
    return parse_preference(text, Source("preference")), folder


def parse_preference(data: Any, source: Source, path: Keys = ()) -> Preference:
    """The preference that words or a mapping describe."""
    if isinstance(data, str):
        return _from_words(data, source, path)
    if not isinstance(data, Mapping) or "preference" not in data:
        raise source.error(
            path, f"expected words or a mapping with the key 'preference', found {describe(data)}"
        )
    name = data["preference"]
    if len(data) == 1 or not isinstance(name, str):
        return parse_preference(name, source, (*path, "preference"))
    if name == "mix":
        data = {**data, "of": _parts(data.get("of"), source, (*path, "of"))}
    elif name not in PREFERENCES:
        raise source.error((*path, "preference"), PREFERENCES.refusal(name))
    return validate(PREFERENCES[name], data, source, path)


def _parts(data: Any, source: Source, path: Keys) -> list[dict[str, Any]]:
    if not isinstance(data, list) or not data:
        raise source.error(path, f"expected a list of preferences, found {describe(data)}")
    parts = []
    for position, entry in enumerate(data):
        part = (
            {"weight": entry["weight"]} if isinstance(entry, Mapping) and "weight" in entry else {}
        )
        if part:
            entry = {key: value for key, value in entry.items() if key != "weight"}
        parts.append({**part, "preference": parse_preference(entry, source, (*path, position))})
    return parts


def _from_words(text: str, source: Source, path: Keys) -> Preference:
    text = text.strip()
    if _is_mix(text):
        parts = [_weighted(part, source, path) for part in re.split(r"\s\+\s", text)]
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
    return validate(PREFERENCES[name], _options(name, rest, source, path), source, path)


def _options(name: str, words: list[str], source: Source, path: Keys) -> dict[str, Any]:
    """The options that follow a name: by key, or in the order of ``spoken``."""
    kind = PREFERENCES[name]
    order = [kind.model_fields[field].alias or field for field in kind.spoken]
    data: dict[str, Any] = {"preference": name}
    in_order = []
    for word in words:
        key, equals, value = word.partition("=")
        if equals and key.isidentifier():
            data[key] = value
        elif word not in FILLERS:
            in_order.append(word)
    free = [key for key in order if key not in data]
    if len(in_order) > len(free):
        found, wanted = " ".join(words), " ".join([name, *(key.upper() for key in order)])
        raise source.error(path, f"expected '{wanted}', found more words: '{name} {found}'")
    return data | dict(zip(free, in_order, strict=False))


def _weighted(text: str, source: Source, path: Keys) -> dict[str, Any]:
    weight, star, rest = text.partition("*")
    part = {"preference": _from_words(rest if star else text, source, path)}
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
