"""The page that tells the studies says what their results say."""

from __future__ import annotations

import re
from pathlib import Path

import tell

from tests.studies import STUDIES


def test_the_page_stands_as_the_results_are():
    text = (STUDIES / "README.md").read_text()
    assert tell.told(text) == text, "run `python studies/tell.py`"


def test_every_study_is_a_command_on_the_page():
    text = (STUDIES / "README.md").read_text()
    studies = [path.name for path in STUDIES.glob("*.py") if "argparse" in path.read_text()]
    assert len(studies) == 8
    assert [name for name in studies if f"python studies/{name}" not in text] == []


def test_links_of_the_page_lead_somewhere():
    links = re.findall(r"\]\(([^)#:]+)\)", (STUDIES / "README.md").read_text())
    assert [link for link in links if not (STUDIES / link).exists()] == []


def test_a_block_is_a_table_a_part_of_a_page_or_says_that_it_was_not_run(tmp_path: Path):
    folder = tmp_path / "one"
    folder.mkdir()
    (folder / "t.csv").write_text("a,b\n1,2\n")
    (folder / "result.md").write_text(
        "# One\n\n## The truth\n\nso it is\n\n## Claims\n\n- holds: x\n"
    )
    page = "<!-- begin {} -->\nold\n<!-- end -->"
    told = {
        place: tell.told(page.format(place), tmp_path)
        for place in ("one/t.csv", "one/result.md#The-truth", "two/t.csv", "one/result.md#Nothing")
    }
    assert "| 1 | 2 |" in told["one/t.csv"]
    assert "so it is" in told["one/result.md#The-truth"]
    assert "holds" not in told["one/result.md#The-truth"]
    assert tell.NOT_YET in told["two/t.csv"]
    assert tell.NOT_YET in told["one/result.md#Nothing"]
    assert all("old" not in text for text in told.values())
