"""The page's scripts, which are ES modules, put into one script.

A page opened from disk cannot load modules: browsers refuse imports from ``file:``. A report is
written without Node, so existing bundlers are not available. Each module becomes a function that is
called once, after those it imports from. Names stay private to their module. The scripts use only

    import { name, other } from "./module.js";
    export function name / export async function name / export class name / export const name
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable
from graphlib import TopologicalSorter

IMPORT = re.compile(r'^import \{([^}]+)\} from "([^"]+)";\n', re.MULTILINE)
EXPORT = re.compile(r"^export (?=(?:async function|function|class|const) ([\w$]+))", re.MULTILINE)


def bundle(entry: str, read: Callable[[str], str]) -> str:
    """One script that does what loading the module ``entry`` does; ``read`` gives sources."""
    sources: dict[str, str] = {}
    imports: dict[str, dict[str, str]] = {}  # of each module: names by the module they come from
    waiting = [entry]
    while waiting:
        name = waiting.pop()
        if name not in sources:
            sources[name] = read(name)
            imports[name] = imports_of(name, sources[name])
            waiting += imports[name]
    order = list(TopologicalSorter(imports).static_order())
    parts = ['(() => {\n"use strict";']
    for place, name in enumerate(order):
        taken = "".join(
            f"const {{{names}}} = module{order.index(module)};\n"
            for module, names in imports[name].items()
        )
        given = ", ".join(EXPORT.findall(sources[name]))
        body = EXPORT.sub("", IMPORT.sub("", sources[name]))
        parts.append(
            f"const module{place} = (() => {{ // {name}\n{taken}{body}return {{ {given} }};\n}})();"
        )
    return "\n".join([*parts, "})();\n"])


def imports_of(name: str, source: str) -> dict[str, str]:
    """The names that a module imports, by the path of the module they come from."""
    folder = posixpath.dirname(name)
    return {
        posixpath.normpath(posixpath.join(folder, path)): names
        for names, path in IMPORT.findall(source)
    }
