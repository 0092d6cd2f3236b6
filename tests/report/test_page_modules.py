"""Modules put into one script: what is understood, in which order, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from polarbear.errors import ReportError
from polarbear.report.page.js_bundle import bundle, parsed
from tests.report.scripts import node

SOURCES = {
    "main.js": """\
// Starts.

import { shout, COUNT } from "./words/shout.js";
import {
  last,
} from "./last.js";

const hidden = "main";
console.log(shout(hidden), COUNT, last(), new Map([["export", 1]]).size);
""",
    "words/shout.js": """\
import { last } from "../last.js";

/** export is a word in this comment. */
const hidden = "!";
export const COUNT = 2;
export function shout(text) {
  return `${text}${hidden}${last()}`;
}
""",
    "last.js": """\
let hidden = 0;
console.log("last is read once");
export function last() {
  return (hidden += 1);
}
export async function never() {}
export class Unused {}
""",
}


def test_the_script_does_what_loading_the_modules_does(tmp_path: Path):
    for name, text in SOURCES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    script = tmp_path / "bundle.cjs"
    script.write_text(bundle("main.js", SOURCES.__getitem__))
    loaded = node(str(tmp_path / "main.js"))
    assert node(str(script)) == loaded == "last is read once\nmain!1 2 2 1\n"


def test_each_module_comes_once_and_after_those_it_imports_from():
    made = bundle("main.js", SOURCES.__getitem__)
    places = [made.index(f"// {name}\n") for name in ("last.js", "words/shout.js", "main.js")]
    assert places == sorted(places)
    assert made.count("// last.js\n") == 1


@pytest.mark.parametrize(
    "line",
    [
        'import last from "./last.js";',
        'import * as all from "./last.js";',
        'import { last as first } from "./last.js";',
        'import "./last.js";',
        'import { last } from "last";',
        'import { last } from "https://example.org/last.js";',
        'const later = await import("./last.js");',
        "const here = import.meta.url;",
        "export default function () {}",
        "export { hidden };",
        'export * from "./last.js";',
        "export let changing = 1;",
        "export var changing = 1;",
        "export function* many() {}",
        "export const { a, b } = {};",
    ],
)
def test_what_is_not_understood_is_refused_and_named(line: str):
    with pytest.raises(ReportError, match=r"^odd\.js: .* is not understood; a module may") as said:
        parsed("odd.js", f"// Odd.\n\n{line}\n")
    assert repr(line) in str(said.value)


@pytest.mark.parametrize("text", ["'</script>'", "'</SCRIPT'", "'<!-- '"])
def test_nothing_in_a_module_can_end_the_script(text: str):
    with pytest.raises(ReportError, match=r"cannot hold </script or <!--"):
        parsed("odd.js", f"const text = {text};\n")


def test_a_circle_is_named():
    sources = {
        "a.js": 'import { b } from "./b.js";\nexport const a = b;\n',
        "b.js": 'import { a } from "./a.js";\nexport const b = a;\n',
    }
    with pytest.raises(ReportError, match=r"a\.js imports b\.js imports a\.js"):
        bundle("a.js", sources.__getitem__)


def test_a_name_that_is_not_exported_cannot_be_imported():
    sources = {"a.js": 'import { b, c } from "./b.js";\n', "b.js": "export const b = 1;\n"}
    with pytest.raises(ReportError, match=r"a\.js imports c, not exported by b\.js"):
        bundle("a.js", sources.__getitem__)
