"""Parts of a page: its files, templates and scripts, and data in a compact form."""

import base64
import gzip
import json
import posixpath
import re
from collections.abc import Callable
from functools import cache
from graphlib import TopologicalSorter
from importlib import resources

import numpy as np
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from polarbear.report.words import as_sentence, pieces
from polarbear.wording import counted

# Nothing else between backticks is a command, because a name may hold backticks.
COMMAND = re.compile(r"`((?:polarbear |--)[^`]*)`")
HIGHEST = 65534  # the code of 1; the code after it stands for a missing value


def source(name: str) -> str:
    """A file of the page, as text."""
    return (resources.files("polarbear.report.page") / name).read_text(encoding="utf-8")


@cache
def templates() -> Environment:
    """The page's templates, which escape all text."""
    environment = Environment(
        loader=PackageLoader("polarbear.report.page"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    for function in (sentence, counted, pieces, as_sentence, with_commands):
        environment.filters[function.__name__] = function
    return environment


def sentence(line: str) -> Markup:
    """A line with a capital at its beginning and a full stop at its end."""
    return with_commands(as_sentence(line.removesuffix(".")))


def with_commands(line: str) -> Markup:
    """A line as markup, with commands and options between backticks as code."""
    return Markup(COMMAND.sub(r"<code>\1</code>", str(escape(line))))


def packed(values: np.ndarray) -> str:
    """Shares and probabilities in two bytes each, as base64.

    They are rounded to multiples of 1 / 65534, of which one half is one.
    """
    codes = np.where(np.isnan(values), HIGHEST + 1, np.rint(np.nan_to_num(values) * HIGHEST))
    return base64.b64encode(codes.astype("<u2").tobytes()).decode("ascii")


def compressed(content: bytes) -> str:
    """Bytes as compressed text; the same bytes give the same text."""
    return base64.b64encode(gzip.compress(content, mtime=0)).decode("ascii")


def as_json(data: object) -> str:
    """Data as JSON without blanks."""
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def json_in_html(data: object) -> str:
    """JSON that may stand inside a script element: nothing in it can end the element."""
    text = as_json(data)
    for letter in "<>&\u2028\u2029":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return text


IMPORT = re.compile(r'^import \{([^}]+)\} from "([^"]+)";\n', re.MULTILINE)
EXPORT = re.compile(r"^export (?=(?:async function|function|class|const) ([\w$]+))", re.MULTILINE)


def bundle(entry: str, read: Callable[[str], str]) -> str:
    """One script that does what loading the module ``entry`` does; ``read`` gives sources.

    A page opened from disk cannot load modules: browsers refuse imports from ``file:``. A report is
    written without Node, so existing bundlers are not available. Each module becomes a function
    that is called once, after those it imports from. The scripts use only

        import { name, other } from "./module.js";
        export function name / export async function name / export class name / export const name
    """
    sources: dict[str, str] = {}
    imports: dict[str, dict[str, str]] = {}  # names that a module imports, by their module
    waiting = [entry]
    while waiting:
        name = waiting.pop()
        if name not in sources:
            sources[name] = read(name)
            imports[name] = imports_of(name, sources[name])
            waiting += imports[name]
    order = list(TopologicalSorter(imports).static_order())
    parts = ['(() => {\n"use strict";']
    for number, name in enumerate(order):
        imported = "".join(
            f"const {{{names}}} = module{order.index(module)};\n"
            for module, names in imports[name].items()
        )
        exported = ", ".join(EXPORT.findall(sources[name]))
        body = EXPORT.sub("", IMPORT.sub("", sources[name]))
        parts.append(
            f"const module{number} = (() => {{ // {name}\n"
            f"{imported}{body}return {{ {exported} }};\n}})();"
        )
    return "\n".join([*parts, "})();\n"])


def imports_of(name: str, source: str) -> dict[str, str]:
    """The names that a module imports, by the path of the module they come from."""
    folder = posixpath.dirname(name)
    return {
        posixpath.normpath(posixpath.join(folder, path)): names
        for names, path in IMPORT.findall(source)
    }
