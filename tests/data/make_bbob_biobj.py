"""Writes bbob-biobj.json: values of COCO, with which PolarBear's are compared without COCO.

python tests/data/make_bbob_biobj.py
"""

import json
from pathlib import Path

from tests.data.make_bbob import points

DIMENSIONS = (2, 5)
INSTANCES = "1-15"


def main() -> None:
    import cocoex

    rows = []
    dimensions = ",".join(map(str, DIMENSIONS))
    suite = cocoex.Suite("bbob-biobj", f"instances: {INSTANCES}", f"dimensions: {dimensions}")
    for problem in suite:
        function, dimension, instance = problem.id_triple
        # Every function, and every instance with some functions.
        if instance == 1 or function % 11 == instance % 11:
            values = [problem(x).tolist() for x in points(dimension)[1:]]
            row = {"function": function, "instance": instance, "dimension": dimension}
            rows.append({**row, "values": values})
    text = ",\n".join(json.dumps(row) for row in rows)
    Path(__file__).with_name("bbob-biobj.json").write_text(f"[\n{text}\n]\n")


if __name__ == "__main__":
    main()
