"""What an installation takes on the disk: megabytes by package, the largest first.

    python -m venv fresh && fresh/bin/pip install .
    fresh/bin/python benchmarks/installation.py [--write benchmarks/results/installation.md]

Of the environment that it runs in: the sizes of the files that each package says it has installed,
compiled bytecode included. Exits with 1 above the target, which is at most 600 MB.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
from importlib.metadata import Distribution, distributions
from pathlib import Path

TARGET = 600e6  # bytes
LEAST_NAMED = 5e6  # packages below it are summed up
LOADING = "\n## What commands load"  # where the rest of the page begins


def size_of(package: Distribution) -> float:
    """Bytes of all files of a package that are there."""
    found = 0
    for file in package.files or ():
        path = Path(os.fspath(package.locate_file(file)))
        if path.is_file():
            found += path.stat().st_size
    return float(found)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", type=Path, metavar="FILE", help="write the table here, too")
    write = parser.parse_args().write
    sizes = {one.metadata["Name"].lower(): size_of(one) for one in distributions()}
    for own in ("pip", "setuptools"):  # of the environment, not of PolarBear
        sizes.pop(own, None)
    total = sum(sizes.values())
    listed = sorted(sizes.items(), key=lambda item: -item[1])
    small = [size for _, size in listed if size < LEAST_NAMED]
    rows = [f"| {name} | {size / 1e6:.0f} |" for name, size in listed if size >= LEAST_NAMED]
    where = f"Python {platform.python_version()}, {platform.system()} {platform.machine()}"
    text = "\n".join(
        [
            "| package | MB |",
            "|---|---|",
            *rows,
            f"| {len(small)} others | {sum(small) / 1e6:.0f} |",
            f"| all ({where}) | {total / 1e6:.0f}, target {TARGET / 1e6:.0f} |",
            "",
        ]
    )
    print(text)
    if write is not None:
        how = "`python benchmarks/installation.py` in a fresh environment after `pip install .`:"
        before = write.read_text() if write.exists() else ""
        loading = "".join(before.partition(LOADING)[1:])  # measured by startup.py
        write.write_text(f"# What an installation takes on the disk\n\n{how}\n\n{text}{loading}")
    return int(total > TARGET)


if __name__ == "__main__":
    sys.exit(main())
