"""Standings, figures, story, text and page give the same verdict on a pair with the same codes."""

import shutil
from pathlib import Path

import polars as pl
import pytest

from polarbear.racing import LETTERS, verdict
from polarbear.racing.verdicts import AT_A_TIME
from polarbear.report.context import ReportContext, gather
from polarbear.report.figures import FIGURES
from polarbear.report.figures.chart import Cells
from polarbear.report.findings import verdict as verdict_of
from polarbear.report.outline import Table, outline
from polarbear.report.story import story_of
from polarbear.report.words import evidence
from polarbear.store import StoreOnDisk, file_io
from polarbear.store.catalog import Catalog, json_file

ISOLATES = {0x2068: None, 0x2069: None}  # marks around names of any direction
# Six times each: codes that races usually have at their end, and some that arise only if estimates
# change between rounds.
SETTLED = [">>x===", "==xx<x", ">>xxxx", "=x=x=x", ">=>=>=", "======", ">xx<==", "xxxxxx"]


def with_codes(raced: ReportContext, folder: Path, letters: str) -> tuple[ReportContext, str, str]:
    """The same race, except that its last round settled a pair of candidates with these codes."""
    shutil.copytree(raced.store.path, folder / "store")
    catalog = Catalog(folder / "store")
    name = max(name for name in catalog.names("rounds/round-"))
    record = file_io.from_json(catalog.path / name, catalog.read(name))
    candidates = record["state"]["candidates"]
    pair = next(p for p in record["state"]["pairs"] if {p["a"], p["b"]} <= set(candidates))
    pair["settled"] = letters
    record["decisions"]["settled_pairs"] = [[pair["a"], pair["b"]]]
    catalog.commit([json_file(name, record)])
    return gather(StoreOnDisk.open(folder / "store")), pair["a"], pair["b"]


@pytest.mark.parametrize("letters", SETTLED)
def test_all_who_speak_of_a_pair_say_the_same(letters: str, raced: ReportContext, tmp_path: Path):
    context, a, b = with_codes(raced, tmp_path, letters)
    codes = [LETTERS.index(letter) for letter in letters]
    expected = verdict(codes)
    words = expected.words(a, b)
    assert verdict_of(context, a, b) == expected
    assert verdict_of(context, b, a) == expected.mirrored()
    # standings, as JSON and in words
    assert context.race is not None
    settled_pairs = [pair for pair in context.race.settled_pairs if (pair.a, pair.b) == (a, b)]
    (settled,) = settled_pairs
    assert settled.to_plain() == {"a": a, "b": b, "how": expected.kind}
    assert settled.words == words
    # the matrix, and the pairs over time
    rows = FIGURES["matrix"].data(context)
    (how,) = rows.filter((pl.col("a") == a) & (pl.col("b") == b))["verdict"]
    assert how == expected.kind
    strip = FIGURES["pairs"].data(context).filter((pl.col("a") == a) & (pl.col("b") == b))
    assert strip["settled"].to_list() == [AT_A_TIME[code] for code in codes]
    # the story's log, and the text's matrix
    story = story_of(context)
    decided = [d.words.lower() for d in story.decisions if d.round == context.race.rounds]
    assert f"{words}.".lower() in decided
    blocks = outline(context, story)
    table = next(block for block in blocks if isinstance(block, Table) and not block.columns[0])
    row = next(row for row in table.rows if row[0] == a)
    assert row[table.columns.index(f"{b}#")].split()[1] == expected.sign
    # the chart of the matrix, on paper and in the page
    matrix = FIGURES["matrix"].chart(rows, context)
    (cells,) = matrix.panels[0].series
    assert isinstance(cells, Cells)
    names = rows["a"].unique(maintain_order=True).to_list()
    i = names.index(a)
    j = names.index(b)
    assert cells.texts[i][j].startswith(f"{expected.sign}\n")
    hover = cells.hover[i][j].translate(ISOLATES).replace("\n", " ")
    assert hover.endswith(words)


def test_a_member_is_equivalent_at_every_time_only_where_that_was_shown(raced, tmp_path):
    for letters in ("======", "=x=x=x"):
        context, a, b = with_codes(raced, tmp_path / letters.replace("=", "e"), letters)
        reasons = " ".join(entry.reason for entry in story_of(context).members)
        alike = any(f"equivalent to {name} at every time" in reasons for name in (a, b))
        leads = sum("likely best" in entry.reason for entry in story_of(context).members)
        leads += sum("likely the best" in entry.reason for entry in story_of(context).members)
        assert alike == (letters == "======" and leads < len(story_of(context).members))


def test_without_a_race_the_posterior_settles_as_a_race_would(kinds):
    context = kinds["inferred"]
    estimates = context.estimates
    alpha = context.rules.alpha
    assert not context.rounds
    a, b = estimates.algorithms[:2]
    certain = {
        ">": estimates.above[:, 0, 1] >= alpha,
        "<": estimates.above[:, 1, 0] >= alpha,
        "=": estimates.alike[:, 0, 1] >= alpha,
    }
    letters = "".join(
        next((letter for letter, at in certain.items() if at[t]), ".")
        for t in range(len(estimates.times))
    )
    # If two relations are certain at different times, the pair is settled at all times.
    if len({*letters} - {"."}) > 1:
        letters = letters.replace(".", "x")
    assert verdict_of(context, a, b) == verdict([LETTERS.index(letter) for letter in letters])


def test_the_matrix_has_p_dominated_and_beside_an_elimination_its_evidence(raced):
    elimination = raced.race.eliminated[0]
    estimates = raced.estimates
    now = estimates.dominance()[
        estimates.row_of(elimination.by), estimates.row_of(elimination.algorithm)
    ]
    rows = FIGURES["matrix"].data(raced)
    pair = (pl.col("a") == elimination.by) & (pl.col("b") == elimination.algorithm)
    assert rows.filter(pair)["probability"].to_list() == [now]
    (cells,) = FIGURES["matrix"].chart(rows, raced).panels[0].series
    assert isinstance(cells, Cells)
    names = rows["a"].unique(maintain_order=True).to_list()
    i = names.index(elimination.by)
    j = names.index(elimination.algorithm)
    decided_by = evidence(elimination, raced.race.rules)
    assert decided_by in cells.hover[i][j]
    assert not any(decided_by in words for words in (*cells.hover[j], *cells.hover[i][:j]))
