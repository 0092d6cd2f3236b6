"""Groups of options: frozen objects validated from mappings, with errors for users."""

import difflib
import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError, ValidationInfo, model_validator
from pydantic_core import ErrorDetails, PydanticCustomError

from polarbear.errors import ConfigError

OF_OTHER_VERSIONS = {"unknown_keys": "left out"}  # the context in which such options are read
MAX_MESSAGE_LENGTH = 1200  # characters; quoted values may have any length
MAX_QUOTED_LENGTH = 60  # characters of a quoted value
MAX_INTEGER_DIGITS = 60  # of an integer that is quoted

KeyPath = tuple[str | int, ...]  # the keys and positions that lead to a value of a configuration

if TYPE_CHECKING:
    from pydantic._internal._model_construction import ModelMetaclass
else:
    ModelMetaclass = type(BaseModel)


class RaisesConfigErrors(ModelMetaclass):
    """The metaclass of groups of options, which replaces pydantic's errors by PolarBear's.

    An overridden ``__init__`` would also be called for every group inside another one, where
    neither the file nor the path of the key is known.
    """

    if not TYPE_CHECKING:  # which know the parameters of each group

        def __call__(self, **options: Any) -> Any:
            """Raise the errors of a file, for example by ``Budget(grid=[])``."""
            try:
                return super().__call__(**options)
            except ValidationError as error:
                raise _config_error(error, Source(self.__name__)) from None


class Options(BaseModel, metaclass=RaisesConfigErrors):
    """A group of options; the documentation and `init` show the description of each field."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        populate_by_name=True,
        allow_inf_nan=False,
        defer_build=True,  # most commands use few of the groups that they import
    )
    named_by: ClassVar[str] = ""  # the key with the name of a plug-in, which is that of its class

    @model_validator(mode="before")
    @classmethod
    def _known_keys(cls, data: object) -> object:
        """Refuse unknown keys, and add the name of a plug-in."""
        if not isinstance(data, Mapping):
            return data
        for key in data:
            if key not in cls.model_fields and key not in key_names(cls):
                context = {"key": str(key), "message": unknown("key", str(key), key_names(cls))}
                raise PydanticCustomError("unknown_key", "{message}", context)
        if not cls.named_by:
            return data
        plug_in_name = re.sub(r"(?<!^)(?=[A-Z])", "-", cls.__name__).lower()
        return {cls.named_by: plug_in_name, **data}

    @model_validator(mode="before")  # pydantic calls the last of these validators first
    @classmethod
    def _keys_of_this_version(cls, data: object, info: ValidationInfo) -> object:
        """Leave out keys that another version of PolarBear wrote, where they may occur."""
        if info.context != OF_OTHER_VERSIONS or not isinstance(data, Mapping):
            return data
        readable = {*cls.model_fields, *key_names(cls)}
        return {key: data[key] for key in data if key in readable}


OptionsType = TypeVar("OptionsType", bound=Options)


def as_mapping(value: Any) -> Any:
    """The options that were given, by key; any other value unchanged."""
    if not isinstance(value, Options):
        return value
    return {
        field.alias or name: getattr(value, name)
        for name, field in type(value).model_fields.items()
        if name in value.model_fields_set
    }


def key_names(model: type[BaseModel]) -> list[str]:
    """The keys of this group as written in YAML."""
    return [field.alias or name for name, field in model.model_fields.items()]


def nearest(name: str, valid_names: Iterable[str]) -> str:
    """The valid name that is most similar to a misspelt one, or an empty string."""
    matches = difflib.get_close_matches(name, list(valid_names), n=1, cutoff=0.6)
    return matches[0] if matches else ""


def unknown(kind: str, name: str, valid_names: Iterable[str]) -> str:
    """One line on an unknown name of a kind, with the most similar valid one."""
    known_names = sorted(valid_names)
    guess = nearest(name, known_names)
    hint = f"did you mean '{guess}'?" if guess else f"known: {', '.join(known_names)}"
    return f"unknown {kind} '{name}'; {hint}"


class Source:
    """The origin of a mapping: the name of a file and the line of each key."""

    def __init__(self, name: str, lines: Mapping[KeyPath, int] | None = None) -> None:
        self.name = name
        self.lines = dict(lines or {})

    def error(self, path: KeyPath, message: str) -> ConfigError:
        """The error about the value at a path, with its line in the file."""
        line = self._line_of(path)
        origin = self.name if line is None else f"{self.name}, line {line}"
        key = spelled(path)
        if len(message) > MAX_MESSAGE_LENGTH:
            half = MAX_MESSAGE_LENGTH // 2
            message = f"{message[:half]} ... {message[-half:]}"
        return ConfigError(f"{origin}: {key + ': ' if key else ''}{message}")

    def _line_of(self, path: KeyPath) -> int | None:
        """The line of a key, or of the innermost group around it that has one."""
        for length in range(len(path), -1, -1):
            if path[:length] in self.lines:
                return self.lines[path[:length]]
        return None


def spelled(path: KeyPath) -> str:
    """A path in the notation of Python: algorithms[0].sigma."""
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        elif text:
            text += f".{part}"
        else:
            text = str(part)
    return text


def validate(
    model: type[OptionsType], data: object, source: Source, path: KeyPath = ()
) -> OptionsType:
    """Validate a mapping; raise a ConfigError with line, key and remedy."""
    if not isinstance(data, Mapping):
        raise source.error(path, f"expected a mapping of settings, found {describe(data)}")
    try:
        return model.model_validate(dict(data))
    except ValidationError as error:
        raise _config_error(error, source, path) from None


def _config_error(error: ValidationError, source: Source, path: KeyPath = ()) -> ConfigError:
    """The first error of pydantic, an unknown key before any other, in the words for users."""
    errors = error.errors(include_url=False)
    unknown_keys = [details for details in errors if details["type"] == "unknown_key"]
    details = unknown_keys[0] if unknown_keys else errors[0]
    error_path = (*path, *(part for part in details["loc"] if _is_written(part)))
    if details["type"] == "unknown_key":
        return source.error((*error_path, details["ctx"]["key"]), details["msg"])
    if details["type"] == "missing":
        return source.error(error_path[:-1], f"the key '{error_path[-1]}' is missing")
    return source.error(error_path, _message(details))


def _message(details: ErrorDetails) -> str:
    """The message of an error of pydantic, with the value that it refuses."""
    if details["type"] in ("model_type", "dict_type"):
        return f"expected a mapping of settings, found {describe(details['input'])}"
    message = details["msg"].removeprefix("Value error, ")
    if details["type"] == "value_error" or "input" not in details:
        return message
    return f"{message[0].lower()}{message[1:]}, found {describe(details['input'])}"


def describe(value: object) -> str:
    """A short description of a value for error messages."""
    if value is None:
        return "nothing"
    if isinstance(value, Mapping):
        return "a mapping"
    if isinstance(value, list | tuple):
        return "a list"
    if isinstance(value, int) and abs(value) >= 10**MAX_INTEGER_DIGITS:
        return f"a whole number of more than {MAX_INTEGER_DIGITS} digits"
    text = repr(value)
    return text if len(text) <= MAX_QUOTED_LENGTH else text[: MAX_QUOTED_LENGTH - 3] + "..."


def _is_written(part: str | int) -> bool:
    """Whether users wrote this part; pydantic adds the names of union members to locations."""
    return isinstance(part, int) or part.isidentifier() or "-" in part
