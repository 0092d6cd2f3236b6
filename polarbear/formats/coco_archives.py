"""Archives of COCO, as its observer writes them for suites with two objectives.

A folder ``archive`` beside an .info file has a file for each problem, with the points that entered
the archive of its run, in their order:

    % instance = 2, name = bbob_f001_i03_d02__bbob_f001_i05_d02
    % function evaluation | 2 objectives | 2 variables
    1	4.786044085490457e+03	4.691667598349912e+03	1.73036654e+01	6.79369207e+01
    % evaluations = 60
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from math import isfinite
from pathlib import Path

import polars as pl

from polarbear.errors import ImportFailedError
from polarbear.formats import base, limits
from polarbear.numerics.decimal_numbers import decimal_number
from polarbear.problems.specs import DIMENSION, FUNCTION, NUMBER
from polarbear.settings.grid import EVALUATIONS

SUITE = re.compile(r"suite\s*=\s*'[^']*biobj")
ALGORITHM = re.compile(r"""(?:algorithm|algId)\s*=\s*(?:'([^']*)'|"([^"]*)")""")
ARCHIVES = "archive/*_nondom_all.adat"
FILE_NAME = re.compile(r".*_f(\d{1,6})_i(\d{1,6})_d(\d{1,6})_nondom_all")
LENGTH = re.compile(r"%\s*evaluations\s*=\s*(\d+)")
VALUE_COLUMNS = ("y1", "y2")

Row = tuple[str, str, float, float | None, float | None, str]


def has_two_objectives(description: Path) -> bool:
    """Whether an .info file describes runs with two objectives."""
    return any(SUITE.search(line) for line in base.read_lines(description))


def read_archives(source: Path, descriptions: Sequence[Path], after_end: str) -> base.Imported:
    """The runs of all archives that belong to these .info files."""
    rows: list[Row] = []
    facts: dict[str, base.SpecEntries] = {}
    n_invalid = 0
    first_invalid = ""
    files_read: set[Path] = set()
    for description in descriptions:
        algorithm = _algorithm_of(description)
        files = sorted(path for path in description.parent.glob(ARCHIVES) if path.is_file())
        if not files:
            raise ImportFailedError(
                f"{description} has two objectives, but there is no {ARCHIVES} beside it: let the "
                "observer write 'log_nondominated: all'"
            )
        limits.check_text_files(files, source)
        for file in files:
            if file in files_read:
                continue
            files_read.add(file)
            name_match = FILE_NAME.fullmatch(file.stem)
            if name_match is None:
                raise ImportFailedError(
                    f"{file} has no function, instance and dimension in its name"
                )
            function, number, dimension = map(int, name_match.groups())
            problem = f"f{function}-d{dimension}-i{number}"
            facts[problem] = {FUNCTION: function, DIMENSION: dimension, NUMBER: number}
            for line_number, line in enumerate(base.read_lines(file), 1):
                row = _row(line, algorithm, problem)
                if row is not None:
                    rows.append(row)
                elif line and not line.startswith("%"):
                    n_invalid += 1
                    first_invalid = first_invalid or f"{file}, line {line_number}"
    if not rows:
        raise ImportFailedError(f"no archive in {source} has a point")
    rejected: list[base.Rejection] = []
    if n_invalid:
        reason = "it has no evaluations and two finite values"
        rejected.append(base.Rejection(n_invalid, reason, first_invalid))
    numbers = dict.fromkeys(("t", *VALUE_COLUMNS), pl.Float64)
    schema = {"algorithm": pl.String, "instance": pl.String, **numbers, "line": pl.String}
    frame = base.reject_names(pl.DataFrame(rows, schema=schema, orient="row"), rejected)
    if not len(frame):
        raise ImportFailedError(f"no run in {source} has a valid name: {rejected[-1].words}")
    imported = base.imported_fronts(frame, VALUE_COLUMNS, facts, False, after_end)
    return replace(imported, rejected=tuple(rejected), axis=EVALUATIONS)


def _algorithm_of(description: Path) -> str:
    """The algorithm of an .info file."""
    for line in base.read_lines(description):
        algorithm_match = ALGORITHM.search(line)
        if algorithm_match is not None:
            return algorithm_match[1] or algorithm_match[2] or description.parent.name
    return description.parent.name


def _row(line: str, algorithm: str, problem: str) -> Row | None:
    """The row of a line with a point, or with the length of the run; None for another line."""
    length = LENGTH.match(line)
    if length is not None:
        return algorithm, problem, float(length[1]), None, None, line[:80]
    words = line.split()
    if line.startswith("%") or len(words) < 3:
        return None
    try:
        t, first, second = map(decimal_number, words[:3])
    except ValueError:
        return None
    if not (t >= 0 and isfinite(t) and isfinite(first) and isfinite(second)):
        return None
    return algorithm, problem, t, first, second, line[:80]
