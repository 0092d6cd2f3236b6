"""The page's scripts by themselves: linted, unit-tested in Node, and in the words of Python."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

from polarbear import wording
from polarbear.report.page.assets import EXPORT, IMPORT, bundle, imports_of
from polarbear.report.page.build import START
from tests.report.scripts import PAGE, ROOT, SCRIPTS, deno_lint, node

TESTS = sorted((Path(__file__).parent / "js").glob("*.test.js"))
MODULES = sorted((ROOT / SCRIPTS).rglob("*.js"))
RULES = "no-undef,eqeqeq,no-throw-literal,no-self-compare,no-useless-rename"
# Names of browsers and plotly.js that Deno's linter does not know.
BROWSER = {
    *("document", "matchMedia", "getSelection", "getComputedStyle", "requestAnimationFrame"),
    *("IntersectionObserver", "ResizeObserver", "Plotly"),
    *("DecompressionStream", "history"),
}


def problems(*paths: str) -> list[str]:
    """The linter's complaints, except those about names that a browser has."""
    findings = deno_lint(f"--rules-include={RULES}", *paths)
    undefined = {f"{name} is not defined" for name in BROWSER}
    return [str(error) for error in findings["errors"]] + [
        f"{Path(diagnostic['filename']).name}:{diagnostic['range']['start']['line']} "
        f"{diagnostic['code']}: {diagnostic['message']}"
        for diagnostic in findings["diagnostics"]
        if not (diagnostic["code"] == "no-undef" and diagnostic["message"] in undefined)
    ]


def read(name: str) -> str:
    return (ROOT / SCRIPTS / name).read_text()


@pytest.mark.peer
@pytest.mark.parametrize("path", TESTS, ids=lambda path: path.stem.removesuffix(".test"))
def test_what_a_module_s_own_tests_say_holds(path: Path):
    node("--test", str(path))


@pytest.mark.peer
def test_the_linter_finds_nothing_in_scripts_and_their_tests():
    assert problems(str(SCRIPTS), "tests/report/js") == []


def test_every_module_is_part_of_the_page_and_every_export_is_used():
    sources = {str(path.relative_to(ROOT / SCRIPTS)): path.read_text() for path in MODULES}
    used = {
        (module, name.strip())
        for path, text in sources.items()
        for module, names in imports_of(path, text).items()
        for name in names.split(",")
    }
    tested = " ".join(path.read_text() for path in TESTS)
    for path, text in sources.items():
        assert path == START or any(module == path for module, _ in used)
        for name in EXPORT.findall(text):
            assert (path, name) in used or re.search(rf"\b{name}\b", tested), name
        rest = EXPORT.sub("", IMPORT.sub("", text))
        assert not re.search(r"^\s*(import|export)\b|\bimport\(", rest, re.MULTILINE), path
        assert not re.search(r"</script|<!--", text, re.IGNORECASE), path  # would end the script


@pytest.mark.peer
def test_the_page_s_script_is_one_that_browsers_can_read(tmp_path: Path):
    path = tmp_path / "bundle.cjs"  # a plain script, no module
    path.write_text(bundle(START, read))
    node("--check", str(path))


MODULES_BY_NAME = {
    "main.js": """\
import { shout, COUNT } from "./words/shout.js";
import {
  last,
} from "./last.js";

const hidden = "main";
console.log(shout(hidden), COUNT, last());
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


@pytest.mark.peer
def test_the_bundle_does_what_loading_the_modules_does(tmp_path: Path):
    for name, text in MODULES_BY_NAME.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    script = tmp_path / "bundle.cjs"
    script.write_text(bundle("main.js", MODULES_BY_NAME.__getitem__))
    loaded = node(str(tmp_path / "main.js"))
    assert node(str(script)) == loaded == "last is read once\nmain!1 2 2\n"


def some_numbers() -> list[float]:
    """Numbers of every size, and those that lie half way between two digits."""
    rng = np.random.default_rng(11)
    sizes = 10 ** rng.uniform(-6, 7, 400)
    ties = rng.integers(1, 4000, 100) / 2.0 ** rng.integers(1, 8, 100)
    return [0.0, 1.0, 0.99996, 1.00004, 999.96, 1000.5, *sizes.tolist(), *ties.tolist()]


@pytest.mark.peer
@pytest.mark.parametrize(
    "how", ["time", "timed", "whole", "counted", "probability", "percent", "small"]
)
def test_the_page_says_numbers_as_python_does(how: str):
    numbers = some_numbers()
    if how in ("probability", "percent", "small"):
        numbers = [number for number in numbers if number <= 1]
    if how in ("whole", "counted"):
        numbers = [float(round(number)) for number in numbers]
    nouns = {"timed": ["evaluations"], "counted": ["instance"]}.get(how, [])
    expected = [getattr(wording, how)(number, *nouns) for number in numbers]
    questions = [[how, number, *(nouns if how == "counted" else [])] for number in numbers]
    answers = json.loads(node("tests/report/js/say.js", standard_input=json.dumps(questions)))
    assert dict(zip(numbers, answers, strict=True)) == dict(zip(numbers, expected, strict=True))


@pytest.mark.peer
@pytest.mark.parametrize("axis", ["seconds", "function evaluations", "queries", "s"])
def test_one_of_what_an_axis_counts_is_said_as_python_does(axis: str):
    page = {**PAGE, "axis": axis, "words": wording.page_words(axis)}
    answers = node(
        "tests/report/js/say.js", standard_input='[["timed", 1], ["timed", 2]]', page=page
    )
    assert json.loads(answers) == [wording.timed(1, axis), wording.timed(2, axis)]
