"""The functions under test: each accepts a case or raises a PolarBearError of one or two lines.

Functions are called, not commands: a command would print the error. Nothing that a case names is
imported or run.
"""

import json
import shutil
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from polarbear.config.configuration import parse
from polarbear.config.contradictions import contradictions
from polarbear.errors import PolarBearError
from polarbear.facts import summary
from polarbear.formats import FORMATS
from polarbear.formats.transfer import GridOptions, add_imported, budget_for
from polarbear.selection.basic_preferences import Mix, Python
from polarbear.selection.preference import Context, Preference
from polarbear.selection.preference_parsing import read_preference
from polarbear.settings.yaml_lines import parse_yaml
from polarbear.store import StoreOnDisk
from polarbear.store.catalog import Catalog, json_file
from polarbear.wording import visible
from tests.fuzz import grammars
from tests.fuzz.samples import IMPORTS, altered, anything

LONGEST_MESSAGE = 4000  # characters
IN_A_STORE = 6  # every sixth import is also stored, which takes longer
MOST_LINES = 3  # an error says what was found, what was expected and what to do
CONTEXTS = (Context(np.array([1.0, 10.0, 100.0])), Context(np.array([5.0]), joint=False))
TABLE = "algorithm,instance,t,y\nA,i,1,3\nB,i,1,2\nA,j,1,2\nB,j,4,1\n"
RANKS = "instance,t,algorithm,position\nk,1,A,1\nk,1,B,2\n"

Case = Any


@dataclass(frozen=True)
class Target:
    """A reader, the grammar of its input, and its share of four thousand cases."""

    make: Callable[[Random], Case]
    feed: Callable[[Case, Path], None]
    share: int


class Unexpected(AssertionError):
    """Something other than a PolarBearError of a few lines."""


def ends_well(target: Callable[[Case, Path], None], case: Case, folder: Path) -> bool:
    """Return True if a case was accepted, False if it was refused properly.

    A warning counts as an error.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            target(case, folder)
    except PolarBearError as error:
        text = str(error)
        short = 0 < len(text) <= LONGEST_MESSAGE and len(text.splitlines()) <= MOST_LINES
        if not short or visible(text, keep="\n") != text:
            raise Unexpected(f"not a message of a line or two: {text[:500]!r}") from error
        return False
    return True


def configuration(text: str, folder: Path) -> None:
    config = parse(*parse_yaml(text, "config.yaml"), folder=str(folder))
    plain = config.plain()
    assert json.loads(json.dumps(plain)) == plain
    assert contradictions(config.stored(), config.stored(), uses_grid=True) == []
    assert len(config.budget.times)
    assert np.all(np.isfinite(config.budget.unit_times))


def preference(text: str, folder: Path) -> None:
    parsed, _ = read_preference(text, folder=str(folder))
    if not _calls_python(parsed):
        for context in CONTEXTS:
            _value(parsed, context)


def preference_file(case: tuple[str, bytes], folder: Path) -> None:
    kind, data = case
    (folder / "numbers.csv").write_bytes(data)
    parsed, _ = read_preference(f"{kind} numbers.csv", folder=str(folder))
    _value(parsed, Context(CONTEXTS[0].times, folder=str(folder)))


def _calls_python(parsed: Preference) -> bool:
    if isinstance(parsed, Mix):
        return any(_calls_python(part.preference) for part in parsed.of)
    return isinstance(parsed, Python)


def _value(parsed: Preference, context: Context) -> None:
    values = parsed.on(context).values(np.full((4, len(context.times), 2), 0.5))
    assert values.shape == (4, 2)
    assert np.all(np.isfinite(values))
    parsed.words(context)
    assert isinstance(parsed.text, str)


def _written(files: grammars.Files, folder: Path) -> Path:
    source = folder / "source"
    shutil.rmtree(source, ignore_errors=True)
    for name, data in files.items():
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_bytes(data)
    return source if len(files) > 1 else source / next(iter(files))


def importing(name: str) -> Callable[[grammars.Files, Path], None]:
    """Read files in a format and find the grid that fits them; add some of them to a store."""

    def read(files: grammars.Files, folder: Path) -> None:
        imported = FORMATS[name]().read(_written(files, folder))
        assert len(budget_for(imported, GridOptions()).times)
        for outcome in imported.outcomes:
            assert np.all(np.isfinite(outcome.times))
            assert np.all(np.isfinite(outcome.values))
        if sum(map(len, files.values())) % IN_A_STORE == 0:
            shutil.rmtree(folder / "store", ignore_errors=True)
            add_imported(folder / "store", imported)
            read_all(StoreOnDisk.open(folder / "store"))

    return read


def read_all(store: StoreOnDisk) -> None:
    """Call all functions that read a store without a race."""
    store.runs()
    store.problems()
    store.count_compared_instances()
    summary.by_algorithm(store)
    summary.failures(store)
    summary.hosts(store)
    times = grid_of(store)
    store.on_grid(times)
    summary.first_at(store, float(times[-1]))
    store.rounds.last()
    for key in store.posteriors.stored():
        store.posteriors.read(key)
        store.posteriors.metadata(key)


def grid_of(store: StoreOnDisk) -> np.ndarray:
    return store.settings.budget.times


def store_files(folder: Path) -> grammars.Files:
    """The files of a small store; damaged ones are read in tests/faults, too."""
    (folder / "good.csv").write_text(TABLE)
    (folder / "ranks.csv").write_text(RANKS)
    for name, file in (("table", "good.csv"), ("rankings", "ranks.csv")):
        add_imported(folder / "good", FORMATS[name]().read(folder / file))
    kept = Path(__file__).parents[1] / "data" / "rounds" / "caught-up.json"
    round_ = json_file("rounds/round-0003.json", json.loads(kept.read_text()))
    Catalog(folder / "good").commit([round_])
    return {
        str(path.relative_to(folder / "good")): path.read_bytes()
        for path in sorted((folder / "good").rglob("*"))
        if path.is_file() and path.name != "lock"
    }


def all_targets(folder: Path) -> dict[str, Target]:
    """Each target by its name."""
    targets = {
        "configuration": Target(grammars.configuration, configuration, 1120),
        "preference": Target(grammars.preference, preference, 600),
        "preference file": Target(
            lambda rng: (rng.choice(["budgets", "weights"]), grammars.number_file(rng)),
            preference_file,
            120,
        ),
    }
    grammar = {**IMPORTS, "store": partial(altered, [store_files(folder)])}
    return targets | {
        f"import {name}": Target(grammar.get(name, anything), importing(name), 240)
        for name in FORMATS
    }
