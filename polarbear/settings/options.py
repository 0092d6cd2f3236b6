"""Groups of options: frozen objects validated from mappings, with errors for users."""

import difflib
import re
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Self, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError, ValidationInfo, model_validator
from pydantic_core import PydanticCustomError

from polarbear.errors import ConfigError

OF_OTHER_VERSIONS = {"unknown_keys": "left out"}  # the context in which such options are read

Path = tuple[str | int, ...]
LONGEST_MESSAGE = 1200  # characters; quoted values may have any length


class Options(BaseModel):
    """A group of options; the documentation and `init` show the description of each field."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        populate_by_name=True,
        allow_inf_nan=False,
        defer_build=True,  # most commands use few of the groups that they import
    )
    named_by: ClassVar[str] = ""  # the key with the name of a plug-in, which is that of its class

    def __new__(cls, **options: Any) -> Self:
        """Raise the errors of a file, for example by ``Budget(grid=[])``."""
        if options:  # not while it is copied
            validate(cls, options, Source(cls.__name__))
        return super().__new__(cls)

    @model_validator(mode="before")
    @classmethod
    def _known_keys(cls, data: object, info: ValidationInfo) -> object:
        """Refuse unknown keys, and add the name of a plug-in.

        Keys that another version of PolarBear wrote are left out.
        """
        if not isinstance(data, Mapping):
            return data
        if info.context == OF_OTHER_VERSIONS:
            readable = {*cls.model_fields, *key_names(cls)}
            data = {key: data[key] for key in data if key in readable}
        for key in data:
            if key not in cls.model_fields and key not in key_names(cls):
                context = {"key": str(key), "message": unknown("key", str(key), key_names(cls))}
                raise PydanticCustomError("unknown_key", "{message}", context)
        if not cls.named_by:
            return data
        return {cls.named_by: re.sub(r"(?<!^)(?=[A-Z])", "-", cls.__name__).lower(), **data}


OptionsType = TypeVar("OptionsType", bound=Options)


def as_mapping(value: Any) -> Any:
    """The options that were given, by key; any other value unchanged."""
    if not isinstance(value, Options):
        return value
    fields, given = type(value).model_fields.items(), value.model_fields_set
    return {field.alias or name: getattr(value, name) for name, field in fields if name in given}


def key_names(model: type[BaseModel]) -> list[str]:
    """The keys of this group as written in YAML."""
    return [field.alias or name for name, field in model.model_fields.items()]


def nearest(name: str, known: Iterable[str]) -> str:
    """The known name that is most similar to a misspelt one, or an empty string."""
    return next(iter(difflib.get_close_matches(name, list(known), n=1, cutoff=0.6)), "")


def unknown(what: str, name: str, known: Iterable[str]) -> str:
    """One line on an unknown name, with the most similar known one."""
    known = sorted(known)
    guess = nearest(name, known)
    hint = f"did you mean '{guess}'?" if guess else f"known: {', '.join(known)}"
    return f"unknown {what} '{name}'; {hint}"


class Source:
    """The origin of a mapping: the name of a file and the line of each key."""

    def __init__(self, name: str, lines: Mapping[Path, int] | None = None) -> None:
        self.name = name
        self.lines = dict(lines or {})

    def error(self, path: Path, message: str) -> ConfigError:
        line = next(
            (self.lines[path[:n]] for n in range(len(path), -1, -1) if path[:n] in self.lines), None
        )
        where = self.name if line is None else f"{self.name}, line {line}"
        key = spelled(path)
        if len(message) > LONGEST_MESSAGE:
            message = f"{message[: LONGEST_MESSAGE // 2]} ... {message[-LONGEST_MESSAGE // 2 :]}"
        return ConfigError(f"{where}: {key + ': ' if key else ''}{message}")


def spelled(path: Path) -> str:
    """A path in the notation of Python: algorithms[0].sigma."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else str(part)
    return text


def validate(
    model: type[OptionsType], data: object, source: Source, path: Path = ()
) -> OptionsType:
    """Validate a mapping; raise a ConfigError with line, key and remedy."""
    if not isinstance(data, Mapping):
        raise source.error(path, f"expected a mapping of settings, found {describe(data)}")
    try:
        return model.model_validate(dict(data))
    except ValidationError as error:
        errors = error.errors(include_url=False)
        first = next((e for e in errors if e["type"] == "unknown_key"), errors[0])
        at = (*path, *(part for part in first["loc"] if _is_written(part)))
        if first["type"] == "unknown_key":
            raise source.error((*at, first["ctx"]["key"]), first["msg"]) from None
        if first["type"] == "missing":
            raise source.error(at[:-1], f"the key '{at[-1]}' is missing") from None
        message = first["msg"].removeprefix("Value error, ")
        if first["type"] in ("model_type", "dict_type"):
            message = f"expected a mapping of settings, found {describe(first['input'])}"
        elif "input" in first and first["type"] != "value_error":
            message = f"{message[0].lower()}{message[1:]}, found {describe(first['input'])}"
        raise source.error(at, message) from None


def describe(value: object) -> str:
    """A short description of a value for error messages."""
    if value is None:
        return "nothing"
    if isinstance(value, Mapping):
        return "a mapping"
    if isinstance(value, list | tuple):
        return "a list"
    if isinstance(value, int) and abs(value) >= 10**60:
        return "a whole number of more than 60 digits"
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _is_written(part: str | int) -> bool:
    """Whether users wrote this part; Pydantic adds the names of union members to locations."""
    return isinstance(part, int) or part.isidentifier() or "-" in part
