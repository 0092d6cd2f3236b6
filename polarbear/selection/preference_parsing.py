"""A preference from words, from a mapping, or from a YAML file.

at 5000                     a name, then its options in order
between 1h and 2h           with units: of time if the axis is seconds; k and M on any axis
normal mean=5000 sd=500     or by name; normal(5000, 500) is the same
0.7 * at 5000 + 0.3 * worst-case
mine:function               a Python function
{preference: at, t: 5000}   YAML
file.yaml                   the same in a file
"""

import re
import shlex
from collections.abc import Mapping
from pathlib import Path

from polarbear.selection.preference import PREFERENCES, Preference
from polarbear.settings.grid import EVALUATIONS, TIMED_AXES
from polarbear.settings.options import KeyPath, Source, describe, validate
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
        from polarbear.settings.yaml_lines import read_yaml

        path = Path(folder) / text
        return parse_preference(*read_yaml(path), axis), str(path.resolve().parent)
    if text.startswith("{"):
        from polarbear.settings.yaml_lines import parse_yaml

        return parse_preference(*parse_yaml(text, "preference"), axis), folder
    return parse_preference(text, Source("preference"), axis), folder


def check_words(text: str) -> None:
    """Raise an error unless words name a preference; files, mappings and times are not checked."""
    if text.lstrip().startswith("{"):
        return
    if _is_mix(text):
        for part in re.split(r"\s\+\s", text):
            _from_words(_weighted(part)["preference"], Source("preference"), ())
    elif Path(text).suffix not in {".yaml", ".yml"}:
        _from_words(text, Source("preference"), ())


def parse_preference(
    data: object, source: Source, axis: str = EVALUATIONS, path: KeyPath = ()
) -> Preference:
    """The preference that words or a mapping describe, in which times may have units."""
    if isinstance(data, str):
        options = _from_words(data, source, path)
    elif not isinstance(data, Mapping) or "preference" not in data:
        raise source.error(
            path, f"expected words or a mapping with the key 'preference', found {describe(data)}"
        )
    elif len(data) == 1 or not isinstance(data["preference"], str):
        return parse_preference(data["preference"], source, axis, (*path, "preference"))
    elif data["preference"] in PREFERENCES:
        options = dict(data)
    else:
        raise source.error((*path, "preference"), PREFERENCES.refusal(data["preference"]))
    kind = PREFERENCES[str(options["preference"])]
    if options["preference"] == "mix":
        options["of"] = _parts(options.get("of"), source, axis, (*path, "of"))
    for name, field in kind.model_fields.items():
        key = field.alias or name
        text = options.get(key)
        if field.annotation is float and isinstance(text, str):
            try:
                options[key] = in_units_of(axis, text)
            except ValueError as error:
                raise source.error((*path, key), str(error)) from None
    return validate(kind, options, source, path)


def in_units_of(axis: str, text: str) -> str:
    """A number that may have a unit, as a number of the axis: 10 minutes, 5k, 2.5M evaluations."""
    quantity = QUANTITY.fullmatch(text.strip())
    if quantity is None:
        return text
    number, multiple, unit = quantity.groups()
    if not multiple and not unit:
        return number
    factor = MULTIPLES.get(multiple, 1.0)
    if unit and unit not in (axis, singular(axis)):
        if axis not in TIMED_AXES or unit.lower() not in UNITS_OF_TIME:
            units = "ms, s, min, h or d" if axis in TIMED_AXES else f"{axis}, k or M"
            raise ValueError(f"'{text}': time is counted in {axis} here; expected {units}")
        factor *= UNITS_OF_TIME[unit.lower()]
    return typed(float(number) * factor)


def _parts(data: object, source: Source, axis: str, path: KeyPath) -> list[dict[str, object]]:
    """The parts of a mix: each a preference, perhaps with a weight."""
    if not isinstance(data, list) or not data:
        raise source.error(path, f"expected a list of preferences, found {describe(data)}")
    parts = []
    for position, entry in enumerate(data):
        weight = {}
        if isinstance(entry, Mapping) and "weight" in entry:
            entry = dict(entry)
            weight = {"weight": entry.pop("weight")}
        preference = parse_preference(entry, source, axis, (*path, position))
        parts.append({**weight, "preference": preference})
    return parts


def _from_words(text: str, source: Source, path: KeyPath) -> dict[str, object]:
    """The mapping that a text describes."""
    text = text.strip()
    if _is_mix(text):
        return {"preference": "mix", "of": [_weighted(part) for part in re.split(r"\s\+\s", text)]}
    if re.fullmatch(r"[^\s{}=]+:[A-Za-z_]\w*", text):
        text = f"python {shlex.quote(text)}"
    if "(" not in text and THOUSANDS.search(text):
        raise source.error(path, f"'{text}': write numbers without a comma, 5000 for 5,000")
    name, *rest = _split(text, source, path) or [""]
    if name not in PREFERENCES:
        raise source.error(path, PREFERENCES.refusal(name))
    if name == "mix":
        raise source.error(path, "a mix is written as '0.7 * at 5000 + 0.3 * worst-case'")
    return _options(name, rest, source, path)


def _options(name: str, words: list[str], source: Source, path: KeyPath) -> dict[str, object]:
    """A name with the options that follow it: by key, or in their order."""
    settings: list[tuple[str, str]] = []  # pairs of key and value; the key may be empty
    for word in words:
        key, equals, value = word.partition("=")
        is_unit = word.isalpha() and word not in FILLERS
        if equals and key.isidentifier():
            settings.append((key, value))
        elif is_unit and settings and QUANTITY.fullmatch(settings[-1][1]):
            key_of_number, number = settings.pop()
            settings.append((key_of_number, f"{number} {word}"))
        elif word not in FILLERS:
            settings.append(("", word))
    kind = PREFERENCES[name]
    order = [kind.model_fields[option].alias or option for option in kind.ordered_options()]
    by_key = {key: value for key, value in settings if key}
    in_order = [value for key, value in settings if not key]
    free_keys = [key for key in order if key not in by_key]
    if len(in_order) > len(free_keys):
        usage = " ".join([name, *(key.upper() for key in order)])
        text = " ".join([name, *words])
        raise source.error(path, f"expected '{usage}', found more words: '{text}'")
    return {"preference": name, **by_key, **dict(zip(free_keys, in_order, strict=False))}


def _weighted(text: str) -> dict[str, str]:
    """A part of a mix: '0.7 * at 5000', or a preference without a weight."""
    weight, star, rest = text.partition("*")
    return {"weight": weight.strip(), "preference": rest} if star else {"preference": text}


def _is_mix(text: str) -> bool:
    return bool(re.search(r"\s\+\s", text)) or bool(re.match(r"[^\s(]*\s*\*", text))


def _split(text: str, source: Source, path: KeyPath) -> list[str]:
    call = re.fullmatch(r"([\w-]+)\s*\((.*)\)", text)
    if call:
        text = f"{call[1]} {call[2]}"
    try:
        return shlex.split(text.replace("," if call else ", ", " "))
    except ValueError as error:
        raise source.error(path, f"cannot read '{text}': {error}") from None
