"""Puts the results of the studies into README.md: their tables and claims, as they were printed.

A block between `<!-- begin SOURCE -->` and `<!-- end -->` is replaced by the content of SOURCE, a
file under results/: a CSV file as a table, `STUDY/result.md#Heading` as that part of the page. A
block of a study that was not run says so.

    python studies/tell.py
"""

from __future__ import annotations

import csv
import re
import sys
from pathlib import Path

from common import RESULTS, markdown

README = Path(__file__).parent / "README.md"
NOT_YET = "*Not run yet.*"
_BLOCK = re.compile(r"(<!-- begin (\S+) -->\n).*?(<!-- end -->)", re.DOTALL)


def content(source: str, results: Path = RESULTS) -> str:
    """The content of a table or of a part of a page, as Markdown."""
    name, _, heading = source.partition("#")
    path = results / name
    if not path.exists():
        return NOT_YET
    if path.suffix == ".csv":
        with path.open() as file:
            return markdown(list(csv.DictReader(file)))
    parts = re.split(r"^## (.*)\n", path.read_text(), flags=re.MULTILINE)
    bodies = dict(zip(parts[1::2], parts[2::2], strict=True))
    key = heading.replace("-", " ")
    return bodies[key].strip() if key in bodies else NOT_YET


def told(text: str, results: Path = RESULTS) -> str:
    """A page whose blocks have the present results."""
    return _BLOCK.sub(lambda m: f"{m[1]}\n{content(m[2], results)}\n\n{m[3]}", text)


def main() -> int:
    README.write_text(told(README.read_text()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
