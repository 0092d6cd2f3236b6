"""Tools of all studies: results that survive an interruption, small tables, checked claims.

Importing this module also makes those of `benchmarks/` importable by their names, which share
truths, replays of races and the fair F-Race with the studies.
"""

from __future__ import annotations

import csv
import json
import sys
import time
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).parents[1]
RESULTS = Path(__file__).parent / "results"
sys.path.insert(0, str(ROOT / "benchmarks"))

Row = dict[str, Any]


class Lines:
    """Results as JSON lines: a task with a complete line is not done again."""

    def __init__(self, path: Path, key: Sequence[str]) -> None:
        self.path = path
        self.key = tuple(key)
        self.rows: list[Row] = []
        for line in path.read_text().splitlines() if path.exists() else ():
            try:
                self.rows.append(json.loads(line))
            except json.JSONDecodeError:
                continue

    def _named(self, row: Row) -> Hashable:
        return json.dumps([row[name] for name in self.key])

    def complete(self, tasks: Iterable[Row], work: Callable[[Row], Row], until: float) -> int:
        """Do the missing tasks one after the other; the result is the number of those left.

        No task begins after ``until``, a moment of `time.monotonic`.
        """
        done = {self._named(row) for row in self.rows}
        todo = [task for task in tasks if self._named(task) not in done]
        self.path.parent.mkdir(parents=True, exist_ok=True)
        text = self.path.read_text() if self.path.exists() else ""
        with self.path.open("a") as file:
            if text and not text.endswith("\n"):
                file.write("\n")
            for number, task in enumerate(todo):
                if time.monotonic() > until:
                    return len(todo) - number
                row = {**task, **work(task)}
                file.write(json.dumps(row) + "\n")
                file.flush()
                self.rows.append(row)
                print(f"{number + 1} of {len(todo)}: {task}", file=sys.stderr, flush=True)
        return 0


def deadline(minutes: float | None) -> float:
    """The moment after which no task begins."""
    return float("inf") if minutes is None else time.monotonic() + 60 * minutes


def write_csv(path: Path, rows: Sequence[Row]) -> None:
    """A table, its columns being the keys of its first row."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows({name: _short(value) for name, value in row.items()} for row in rows)


def markdown(rows: Sequence[Row]) -> str:
    """The same as a Markdown table."""
    names = list(rows[0])
    lines = ["| " + " | ".join(names) + " |", "|" + "---|" * len(names)]
    lines += ["| " + " | ".join(str(_short(row[name])) for name in names) + " |" for row in rows]
    return "\n".join(lines)


def _short(value: Any) -> Any:
    return f"{value:.4g}" if isinstance(value, float) else value


@dataclass
class Claims:
    """Sentences about a study's results, each with whether it holds."""

    checked: list[tuple[str, bool]] = field(default_factory=list)

    def check(self, sentence: str, holds: bool) -> None:
        self.checked.append((sentence, bool(holds)))

    @property
    def failed(self) -> list[str]:
        return [sentence for sentence, holds in self.checked if not holds]

    def markdown(self) -> str:
        return "\n".join(
            f"- {'holds' if holds else '**does not hold**'}: {sentence}"
            for sentence, holds in self.checked
        )


def told(folder: Path, title: str, parts: Sequence[tuple[str, str]], claims: Claims) -> str:
    """A study's result as one page, `result.md` in its folder."""
    text = f"# {title}\n"
    for heading, body in (*parts, ("Claims", claims.markdown())):
        text += f"\n## {heading}\n\n{body}\n"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "result.md").write_text(text)
    return text


def middle(values: Sequence[float | None]) -> str:
    """Median and quartiles of the values that are not None; 'none' if there are none."""
    known_values = [value for value in values if value is not None]
    if not known_values:
        return "none"
    low, median, high = np.quantile(known_values, [0.25, 0.5, 0.75])
    return f"{median:.4g} [{low:.4g}, {high:.4g}]"


def most_frequent(values: Sequence[Hashable]) -> tuple[Any, int]:
    """The most frequent value and its number; of equally frequent values the first."""
    counts = {value: values.count(value) for value in dict.fromkeys(values)}
    best = max(counts, key=lambda value: counts[value])
    return best, counts[best]
