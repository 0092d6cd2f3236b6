"""Functions of a notebook or a script as files, so that other processes can import them.

The file of a function has its source, the sources of the functions and classes that it uses, their
imports, and constants. It is a plain Python file: a race can be resumed from it by the command
line, and its fingerprint is that of the code and nothing else.
"""

import ast
import builtins
import dis
import linecache
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

from polarbear.errors import ConfigError
from polarbear.settings.fingerprint import first_line
from polarbear.settings.options import as_mapping

HEAD = "# Written by PolarBear from a notebook or a script; change the function there.\n"


def with_references(config: Mapping[str, object], folder: Path) -> dict[str, object]:
    """A configuration in which functions are replaced by 'file.py:function'.

    Functions of the session (of a notebook, or of the script that runs) are written to the folder.
    """
    names: dict[object, str] = {}

    def replaced(value: object, key: str = "") -> object:
        value = as_mapping(value)
        if isinstance(value, Mapping):
            return {name: replaced(item, str(name)) for name, item in value.items()}
        if isinstance(value, list | tuple):
            return [replaced(item) for item in value]
        if key == "function" and callable(value):
            return _reference(value, folder, names)
        return value

    return {name: replaced(value, name) for name, value in config.items()}


def _reference(function: Callable[..., Any], folder: Path, names: dict[Any, str]) -> str:
    name = getattr(function, "__name__", "")
    if not name.isidentifier() or "." in function.__qualname__:
        raise ConfigError(
            f"expected a function or a class with a name, defined at top level, found {function!r}"
        )
    if not _of_session(function):
        return f"{function.__module__}:{name}"
    if function not in names:
        n_same_name = sum(other.__name__ == name for other in names)
        names[function] = f"{name}_{n_same_name + 1}" if n_same_name else name
    path = folder / f"{names[function]}.py"
    text = HEAD + "\n".join(_parts(function))
    folder.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")
    return f"{path}:{name}"


def _of_session(item: object) -> bool:
    module = sys.modules.get(getattr(item, "__module__", "") or "")
    return module is None or module.__name__ == "__main__"


def _parts(function: Callable[..., Any]) -> list[str]:
    """The parts of the file: imports, constants, and the sources in an order that can be run."""
    heads: dict[str, str] = {}
    bodies: dict[str, str] = {}

    def add(item: Any) -> None:
        source = _source(item)
        bodies[item.__name__] = ""  # so that functions which use each other are added once
        space = vars(sys.modules[item.__module__])
        for name in _global_names(compile(source, item.__name__, "exec")):
            if name in heads or name in bodies or name not in space:
                continue
            value = space[name]
            if isinstance(value, FunctionType | type) and _of_session(value):
                add(value)
            else:
                heads[name] = _head(name, value, item.__name__)
        bodies.pop(item.__name__)
        bodies[item.__name__] = source

    add(function)
    return ["from __future__ import annotations\n", *sorted(heads.values()), "", *bodies.values()]


def _head(name: str, value: Any, user: str) -> str:
    """The line that defines a global name: an import or a constant."""
    if isinstance(value, ModuleType):
        return f"import {value.__name__} as {name}"
    module = getattr(value, "__module__", None)
    if callable(value) and module and getattr(value, "__name__", None):
        return f"from {module} import {value.__name__} as {name}"
    try:
        if ast.literal_eval(repr(value)) == value:
            return f"{name} = {value!r}"
    except (ValueError, SyntaxError):
        pass
    raise ConfigError(
        f"'{user}' uses '{name}', a {type(value).__name__} of this session, which another process "
        "does not have; make it inside the function, pass it as an option, or move both to a file"
    )


def _source(item: Any) -> str:
    """The source of a function or class, with its decorators."""
    members = [item, *vars(item).values()] if isinstance(item, type) else [item]
    functions = [member for member in members if isinstance(member, FunctionType)]
    for function in functions:
        lines = linecache.getlines(function.__code__.co_filename)
        try:
            nodes = ast.parse("".join(lines)).body
        except SyntaxError:
            continue
        for node in reversed(nodes):
            if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name == item.__name__:
                source = "".join(lines[first_line(node) - 1 : node.end_lineno])
                return source.rstrip("\n") + "\n"
    raise ConfigError(
        f"the source of '{item.__name__}' is not known, so another process cannot run it: write it "
        "to a file and name it as 'file.py:function'"
    )


def _global_names(code: CodeType) -> Iterator[str]:
    """Names that code looks up in its module, those of inner code included."""
    for step in dis.get_instructions(code):
        if step.opname in ("LOAD_GLOBAL", "LOAD_NAME") and not hasattr(builtins, step.argval):
            yield step.argval
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _global_names(inner)
