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
from polarbear.settings.options import Source, describe, key_names, validate
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
    if not isinstance(data, Mapping):
        raise source.error(
            path, f"expected words or a mapping with the key 'preference', found {describe(data)}"
        )
    if "preference" not in data:
        raise source.error(path, f"the key 'preference' is missing; it is one of: {_known()}")
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
        here = (*path, position)
        weight = {}
        if isinstance(entry, Mapping) and "weight" in entry:
            weight = {"weight": entry["weight"]}
            entry = {key: value for key, value in entry.items() if key != "weight"}
        parts.append({**weight, "preference": parse_preference(entry, source, here)})
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
    words = _split(text, source, path)
    if not words:
        raise source.error(path, f"a preference is missing; it is one of: {_known()}")
    name, *rest = words
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
    found, wanted = " ".join([name, *words]), " ".join([name, *(key.upper() for key in order)])
    if len(in_order) > len(free):
        raise source.error(path, f"'{found}' has more words than expected, which is '{wanted}'")
    data |= dict(zip(free, in_order, strict=False))
    missing = [key for key in order if key not in data]
    if missing and set(data) <= {"preference", *key_names(kind)}:
        raise source.error(path, f"'{found}' lacks {missing[0].upper()}; expected '{wanted}'")
    return data


def _weighted(text: str, source: Source, path: Keys) -> dict[str, Any]:
    weight, star, rest = text.partition("*")
    if not star:
        return {"preference": _from_words(text, source, path)}
    try:
        number = float(weight)
    except ValueError:
        raise source.error(
            path, f"'{text.strip()}': expected a weight before the '*', found '{weight.strip()}'"
        ) from None
    return {"weight": number, "preference": _from_words(rest, source, path)}


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


def _known() -> str:
    return ", ".join(sorted(PREFERENCES))
