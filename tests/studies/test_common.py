"""Lines that survive an interruption, and claims that are checked."""

from __future__ import annotations

from pathlib import Path

from common import Lines, deadline, markdown, write_csv

TASKS = [{"seed": 1}, {"seed": 2}, {"seed": 3}]


def test_what_is_there_is_not_done_again_and_a_line_that_was_cut_off_is(tmp_path: Path):
    path = tmp_path / "rows.jsonl"
    done: list[int] = []

    def work(task):
        done.append(task["seed"])
        return {"found": 10 * task["seed"]}

    assert Lines(path, ["seed"]).complete(TASKS[:2], work, deadline(None)) == 0
    path.write_text(path.read_text()[:-6])
    again = Lines(path, ["seed"])
    assert again.complete(TASKS, work, deadline(None)) == 0
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
