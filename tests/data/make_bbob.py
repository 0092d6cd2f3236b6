"""Writes bbob-MACHINE.json: values of ioh with which ours are compared where ioh is missing.

ioh itself differs by machine: by up to 2e-11 where a function magnifies errors of rounding.

python tests/data/make_bbob.py
"""

import json
import platform
from math import cos, sin
from pathlib import Path

SIZES = ((2, 3), (7, 71), (41, 12))  # dimension and instance


def points(dimension: int) -> list[list[float]]:
    """Two points in the box, and one that is partly outside of it."""
    numbers = range(1, dimension + 1)
    inside = [[round(4.9 * sin(1.7 * i * k + 0.3 * k), 3) for i in numbers] for k in (1, 2)]
    return [*inside, [round(7 * cos(i * 1.3), 3) for i in numbers]]


def main() -> None:
    import ioh

    rows = []
    for suite in ("bbob", "sbox"):
        for function in range(1, 25):
            for dimension, instance in SIZES:
                problem_class = ioh.ProblemClass[suite.upper()]
                problem = ioh.get_problem(function, instance, dimension, problem_class)
                rows.append(
                    {
                        "suite": suite,
                        "function": function,
                        "dimension": dimension,
                        "instance": instance,
                        "best": problem.optimum.y,
                        "place": list(problem.optimum.x)[:3],
                        "values": [problem(x) for x in points(dimension)],
                    }
                )
    text = ",\n".join(json.dumps(row) for row in rows)
    Path(__file__).with_name(f"bbob-{platform.machine()}.json").write_text(f"[\n{text}\n]\n")


if __name__ == "__main__":
    main()
