"""Functions of users, named 'module:function' or 'path/to/file.py:function'."""

import hashlib
import importlib
import importlib.util
import inspect
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any

from pydantic import WrapValidator

from polarbear.errors import ConfigError
from polarbear.settings.options import unknown

USER_MODULE = "polarbear_user_"  # begins the names of modules that are files of users
_files: dict[str, Path] = {}  # of users, which this process has loaded, by the names of modules
IMPORTING_MODULE = """
import os
__file__ = os.fsdecode({path!r})
with open(__file__, "rb") as _file:
    exec(compile(_file.read(), __file__, "exec"))
"""


def _checked(reference: object, as_text: Callable[[object], str]) -> object:
    """Raise ValueError unless this names a function, or is a function, which gets a name later."""
    if callable(reference):
        return reference
    module, colon, function = as_text(reference).rpartition(":")
    if not colon or not module or not function.isidentifier():
        raise ValueError(f"expected 'module:function' or 'file.py:function', found '{reference}'")
    return reference


# The name of a function: 'module:function'. `race` writes functions of a session to files, and
# replaces them by such names.
Reference = Annotated[str, WrapValidator(_checked)]


def load_function(reference: str, folder: str) -> Callable[..., Any]:
    """Import a function; its module or file is looked for in ``folder`` first."""
    module_name, _, name = reference.rpartition(":")
    try:
        module = _load_module(module_name, folder)
    except Exception as error:  # a user's module may raise anything while it is imported
        raise ConfigError(
            f"cannot import '{module_name}' for '{reference}': {type(error).__name__}: {error}. "
            f"It is looked for in {folder} and among the installed packages"
        ) from error
    function = getattr(module, name, None)
    if function is None:
        raise ConfigError(f"'{module_name}' has no '{name}', which '{reference}' asks for")
    if not callable(function):
        raise ConfigError(f"'{reference}' is not a function but {type(function).__name__}")
    return function  # type: ignore[no-any-return]


def check_call(
    function: Callable[..., Any],
    reference: str,
    arguments: tuple[str, ...] | None,
    options: Mapping[str, Any],
) -> None:
    """Raise if the function cannot be called with these options and, unless None, arguments."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # some compiled functions have none
        return
    parameters = signature.parameters.values()
    names = [parameter.name for parameter in parameters]
    takes_any = any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters)
    for name in options:
        if name not in names and not takes_any:
            raise ConfigError(f"options of '{reference}': {unknown('argument', name, names)}")
    if arguments is None:
        return
    try:
        signature.bind(*arguments, **options)
    except TypeError as error:
        called = ", ".join([*arguments, *options])
        raise ConfigError(
            f"'{reference}' is called as {function.__name__}({called}), but is defined as "
            f"{function.__name__}{signature}: {error}"
        ) from None


def _load_module(name: str, folder: str) -> ModuleType:
    if not name.endswith(".py"):
        if folder not in sys.path:
            sys.path.insert(0, folder)
        return importlib.import_module(name)
    path = (Path(folder) / name).resolve()
    key = _module_name(path)
    if key not in sys.modules:
        spec = importlib.util.spec_from_file_location(key, path)
        if spec is None or spec.loader is None or not path.exists():
            raise FileNotFoundError(f"no file {path}")
        module = importlib.util.module_from_spec(spec)
        sys.modules[key] = module
        try:
            spec.loader.exec_module(module)
        except BaseException:
            del sys.modules[key]
            raise
        _files[key] = path
    return sys.modules[key]


def _module_name(path: Path) -> str:
    """The name of the module of a file; functions and classes are pickled by it."""
    digest = hashlib.sha256(os.fsencode(path)).hexdigest()[:16]
    return f"{USER_MODULE}{digest}"


def write_importable_modules(folder: Path) -> None:
    """Write files that import the loaded modules of users' files by their names.

    Processes that libraries start anew, as multiprocessing does by `spawn`, find those modules if
    the folder is on their path for imports.
    """
    for name, users_file in _files.items():
        file = folder / f"{name}.py"
        if not file.exists():
            folder.mkdir(exist_ok=True)
            file.write_text(IMPORTING_MODULE.format(path=os.fsencode(users_file)))
