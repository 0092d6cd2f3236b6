"""Writes bbob-MACHINE.json: values of ioh, with which PolarBear's are compared without ioh.

Values of ioh differ between machines by up to 2e-11, where a function magnifies rounding errors.

    python tests/data/make_bbob.py
"""

import json
import platform
from math import cos, sin
from pathlib import Path

DIMENSIONS_AND_INSTANCES = ((2, 3), (7, 71), (41, 12))


def points(dimension: int) -> list[list[float]]:
    """Two points in the box, and one with some coordinates outside."""
    coordinates = range(1, dimension + 1)
    first = [round(4.9 * sin(1.7 * i + 0.3), 3) for i in coordinates]
    second = [round(4.9 * sin(1.7 * i * 2 + 0.3 * 2), 3) for i in coordinates]
    partly_outside = [round(7 * cos(i * 1.3), 3) for i in coordinates]
    return [first, second, partly_outside]


def main() -> None:
    import ioh

    rows = []
    for suite in ("bbob", "sbox"):
        for function in range(1, 25):
            for dimension, instance in DIMENSIONS_AND_INSTANCES:
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
