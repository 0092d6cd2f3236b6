"""Writes known-posteriors.json: long NUTS runs, with which every engine's posteriors are compared.

    python tests/data/make_known_posteriors.py [MODEL ...]

Without arguments it runs all models, which takes half an hour. With arguments it runs the named
models and keeps the stored cases of the others. A case must be rewritten only if the definition
of its model changes.
"""

import json
import sys
from pathlib import Path

import numpy as np

from polarbear.inference import ModelOptions, infer
from polarbear.inference.models import rating_models
from polarbear.inference.relations import joint, pointwise
from polarbear.rankings import rank
from polarbear.rankings.choice_sets import count_choice_sets

ALGORITHMS = 3
TIMES = 5
INSTANCES = 14
DRAWS = 8_000


def positions() -> np.ndarray:
    """Rankings with ties and absent algorithms, in which the best algorithm becomes the worst."""
    rng = np.random.default_rng(11)
    mu = np.array([1.0, 0.2, -0.6])[:, None] * np.cos(np.linspace(0, 2.4, TIMES))
    values = -(mu + rng.gumbel(size=(INSTANCES, ALGORITHMS, TIMES)))
    values[:4] = np.round(values[:4])
    present = np.ones(values.shape, dtype=bool)
    present[-2:, 2] = False
    return rank(values, present)


def main() -> None:
    ranked_positions = positions()
    times = np.array([0.0, 0.2, 0.45, 0.7, 1.0])
    file = Path(__file__).with_name("known-posteriors.json")
    models = sys.argv[1:] or sorted(rating_models())
    stored_cases = json.loads(file.read_text())["cases"] if sys.argv[1:] else []
    cases = [case for case in stored_cases if case["model"] not in models]
    for model in models:
        options = ModelOptions(model=model, dependence="independent", method="mcmc", draws=DRAWS)
        posterior = infer(count_choice_sets(ranked_positions), times, options, seed=1)
        relations = pointwise(posterior)
        case = {
            "model": model,
            "usable": posterior.usable,
            "ess_bulk": round(posterior.diagnostics.ess_bulk),
            "mean": posterior.mean().round(5).tolist(),
            "dominance": relations.dominance.round(5).tolist(),
            "dominance_error": relations.dominance_error.round(5).tolist(),
            "equivalence": relations.equivalence.round(5).tolist(),
            "hyper": {k: float(np.log(v).mean().round(4)) for k, v in posterior.hyper.items()},
        }
        if posterior.joint:
            case["joint_dominance"] = joint(posterior).dominance.round(5).tolist()
        cases.append(case)
        print(model, round(posterior.seconds), posterior.diagnostics, flush=True)
        content = {"times": times.tolist(), "positions": ranked_positions.tolist(), "cases": cases}
        file.write_text(json.dumps(content, indent=1) + "\n")


if __name__ == "__main__":
    main()
