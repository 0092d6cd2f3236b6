"""Lines that survive an interruption, and the page that tells what the results say."""

from pathlib import Path

import tell
from common import Lines, deadline, markdown, write_csv

from tests.studies import STUDIES

TASKS = [{"seed": 1}, {"seed": 2}, {"seed": 3}]


def test_what_is_there_is_not_done_again_and_a_line_that_was_cut_off_is(tmp_path: Path):
    path = tmp_path / "rows.jsonl"
    done: list[int] = []

    def work(task):
        done.append(task["seed"])
        return {"found": 10 * task["seed"]}

    assert Lines(path, ["seed"]).complete(TASKS[:2], work, deadline(None)) == 0
    path.write_text(path.read_text()[:-6])
    lines = Lines(path, ["seed"])
    assert lines.complete(TASKS, work, deadline(None)) == 0
    assert done == [1, 2, 2, 3]
    assert [row["found"] for row in Lines(path, ["seed"]).rows] == [10, 20, 30]


def test_nothing_is_begun_after_the_time_is_over_and_what_is_left_is_counted(tmp_path: Path):
    lines = Lines(tmp_path / "rows.jsonl", ["seed"])
    assert lines.complete(TASKS, lambda task: {}, deadline(-1)) == 3
    assert lines.rows == []


def test_tables_are_the_same_as_csv_and_as_markdown(tmp_path: Path):
    rows = [{"a": 1, "b": 0.123456}, {"a": 2, "b": 1e9}]
    write_csv(tmp_path / "t.csv", rows)
    assert (tmp_path / "t.csv").read_text() == "a,b\n1,0.1235\n2,1e+09\n"
    assert markdown(rows).splitlines()[2:] == ["| 1 | 0.1235 |", "| 2 | 1e+09 |"]


def test_the_page_stands_as_the_results_are():
    text = (STUDIES / "README.md").read_text()
    assert tell.told(text) == text, "run `python studies/tell.py`"


def test_every_study_is_a_command_on_the_page():
    text = (STUDIES / "README.md").read_text()
    studies = [path.name for path in STUDIES.glob("*.py") if "argparse" in path.read_text()]
    assert len(studies) == 12
    assert [name for name in studies if f"python studies/{name}" not in text] == []


def test_a_block_is_a_table_a_part_of_a_page_or_says_that_it_was_not_run(tmp_path: Path):
    folder = tmp_path / "one"
    folder.mkdir()
    (folder / "t.csv").write_text("a,b\n1,2\n")
    (folder / "result.md").write_text(
        "# One\n\n## The truth\n\nso it is\n\n## Claims\n\n- holds: x\n"
    )
    page = "<!-- begin {} -->\nold\n<!-- end -->"
    told = {
        source: tell.told(page.format(source), tmp_path)
        for source in ("one/t.csv", "one/result.md#The-truth", "two/t.csv", "one/result.md#Nothing")
    }
    assert "| 1 | 2 |" in told["one/t.csv"]
    assert "so it is" in told["one/result.md#The-truth"]
    assert "holds" not in told["one/result.md#The-truth"]
    assert tell.NOT_YET in told["two/t.csv"]
    assert tell.NOT_YET in told["one/result.md#Nothing"]
    assert all("old" not in text for text in told.values())
