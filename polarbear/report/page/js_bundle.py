"""The page's scripts, which are ES modules, put into one script.

A page opened from disk cannot load modules: browsers refuse imports from ``file:``, and modules
inside data addresses would take a wider Content-Security-Policy. A report is written without Node,
so existing bundlers are not available. Each module becomes a function that is called once, in an
order in which imports come before their users. Names stay private to their module.

Only the forms that the page's scripts use are understood; anything else is refused:

    import { name, other } from "./module.js";      at the start of a line, may span several
    export function name / export async function name / export class name / export const name
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable
from dataclasses import dataclass

from polarbear.errors import ReportError

IMPORT = re.compile(
    r'^import \{\s*([\w$]+(?:,\s*[\w$]+)*),?\s*\} from "(\.{1,2}/[\w./-]+\.js)";[ ]*\n',
    re.MULTILINE,
)
EXPORT = re.compile(r"^export (?=(?:async function|function|class|const) ([\w$]+))", re.MULTILINE)
LEFT_OVER = re.compile(r"^(?:[ \t]*(?:import|export)\b|.*\bimport\s*[(.]).*", re.MULTILINE)
COMMENT = re.compile(r"^\s*(?://|\*|/\*).*", re.MULTILINE)
ENDS_A_SCRIPT = re.compile(r"</script|<!--", re.IGNORECASE)


@dataclass(frozen=True)
class Module:
    """A script with its imports and exports."""

    name: str
    imports: tuple[tuple[str, tuple[str, ...]], ...]  # a module, and names of it
    exports: tuple[str, ...]
    body: str


def bundle(entry: str, read: Callable[[str], str]) -> str:
    """One script that does what loading the module ``entry`` does; ``read`` gives sources."""
    ordered = _in_order(entry, read)
    places = {module.name: f"module{i}" for i, module in enumerate(ordered)}
    parts = ['"use strict";']
    for module in ordered:
        taken = "".join(
            f"const {{ {', '.join(names)} }} = {places[source]};\n"
            for source, names in module.imports
        )
        given = f"return {{ {', '.join(module.exports)} }};\n"
        parts.append(
            f"const {places[module.name]} = (() => {{ // {module.name}\n"
            f"{taken}{module.body}{given}}})();"
        )
    return "(() => {\n" + "\n".join(parts) + "\n})();\n"


def parsed(name: str, source: str) -> Module:
    """A module's imports and exports, and the rest of it as the body of a function."""
    if ENDS_A_SCRIPT.search(source):
        raise ReportError(f"{name}: a script inside a page cannot hold </script or <!--")
    imports = tuple(
        (posixpath.normpath(posixpath.join(posixpath.dirname(name), found[2])), _names(found[1]))
        for found in IMPORT.finditer(source)
    )
    exports = tuple(EXPORT.findall(source))
    body = EXPORT.sub("", IMPORT.sub("", source)).rstrip("\n") + "\n"
    left = LEFT_OVER.search(COMMENT.sub("", body))
    if left:
        raise ReportError(
            f"{name}: {left[0].strip()!r} is not understood; a module may "
            'import { name } from "./module.js"; and export a function, class or const'
        )
    return Module(name, imports, exports, body)


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(","))


def _in_order(entry: str, read: Callable[[str], str]) -> list[Module]:
    """All modules that ``entry`` needs, each after those it imports from."""
    done: dict[str, Module] = {}

    def visit(name: str, path: tuple[str, ...]) -> None:
        if name in path:
            circle = " imports ".join((*path[path.index(name) :], name))
            raise ReportError(f"modules must not import each other in a circle: {circle}")
        if name in done:
            return
        module = parsed(name, read(name))
        for needed, names in module.imports:
            visit(needed, (*path, name))
            unknown = sorted(set(names) - set(done[needed].exports))
            if unknown:
                raise ReportError(f"{name} imports {', '.join(unknown)}, not exported by {needed}")
        done[name] = module

    visit(entry, ())
    return list(done.values())
