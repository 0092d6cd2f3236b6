"""The disk space of an installation: megabytes by package, the largest first.

    python -m venv fresh && fresh/bin/pip install .
    fresh/bin/python benchmarks/installation.py [--write benchmarks/results/installation.md]

It measures the environment in which it runs: the sizes of the files that each package lists as
installed, compiled bytecode included. Exits with 1 above the target, which is 600 MB.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
from importlib.metadata import Distribution, distributions
from pathlib import Path

TARGET = 600e6  # bytes
MIN_LISTED = 5e6  # bytes; smaller packages share a row
LOADING = "\n## What commands load"  # the heading of a section that is not measured here


def size_of(package: Distribution) -> float:
    """Bytes of all existing files of a package."""
    size = 0
    for file in package.files or ():
        path = Path(os.fspath(package.locate_file(file)))
        if path.is_file():
            size += path.stat().st_size
    return float(size)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", type=Path, metavar="FILE", help="write the table here, too")
    write = parser.parse_args().write
    sizes = {package.metadata["Name"].lower(): size_of(package) for package in distributions()}
    for tool in ("pip", "setuptools"):  # they belong to the environment, not to PolarBear
        sizes.pop(tool, None)
    total = sum(sizes.values())
    largest_first = sorted(sizes.items(), key=lambda item: -item[1])
    small = [size for size in sizes.values() if size < MIN_LISTED]
    rows = [f"| {name} | {size / 1e6:.0f} |" for name, size in largest_first if size >= MIN_LISTED]
    platform_text = f"Python {platform.python_version()}, {platform.system()} {platform.machine()}"
    text = "\n".join(
        [
            "| package | MB |",
            "|---|---|",
            *rows,
            f"| {len(small)} others | {sum(small) / 1e6:.0f} |",
            f"| all ({platform_text}) | {total / 1e6:.0f}, target {TARGET / 1e6:.0f} |",
            "",
        ]
    )
    print(text)
    if write is not None:
        command = (
            "`python benchmarks/installation.py` in a fresh environment after `pip install .`:"
        )
        previous_text = write.read_text() if write.exists() else ""
        loading = "".join(previous_text.partition(LOADING)[1:])  # measured by startup.py
        title = "# What an installation takes on the disk"
        write.write_text(f"{title}\n\n{command}\n\n{text}{loading}")
    return int(total > TARGET)


if __name__ == "__main__":
    sys.exit(main())
