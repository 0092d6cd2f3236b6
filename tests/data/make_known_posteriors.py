"""Writes known-posteriors.json: long NUTS runs that every engine's posteriors are held against.

    python tests/data/make_known_posteriors.py [MODEL ...]

Of all models, or of those named beside what is there. Half an hour of work; needed again only if a
model's definition changes.
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

ALGORITHMS, TIMES, INSTANCES, DRAWS = 3, 5, 14, 8_000


def positions() -> np.ndarray:
    """Rankings whose best algorithm is worst in the end, with ties and with some absent."""
    rng = np.random.default_rng(11)
    mu = np.array([1.0, 0.2, -0.6])[:, None] * np.cos(np.linspace(0, 2.4, TIMES))
    values = -(mu + rng.gumbel(size=(INSTANCES, ALGORITHMS, TIMES)))
    values[:4] = np.round(values[:4])
    present = np.ones(values.shape, dtype=bool)
    present[-2:, 2] = False
    return rank(values, present)


def main() -> None:
    places, times = positions(), np.array([0.0, 0.2, 0.45, 0.7, 1.0])
    file = Path(__file__).with_name("known-posteriors.json")
    wanted = sys.argv[1:] or sorted(rating_models())
    kept = json.loads(file.read_text())["cases"] if sys.argv[1:] else []
    cases = [case for case in kept if case["model"] not in wanted]
    for model in wanted:
        options = ModelOptions(model=model, dependence="independent", method="mcmc", draws=DRAWS)
        posterior = infer(count_choice_sets(places), times, options, seed=1)
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
        text = json.dumps(
            {"times": times.tolist(), "positions": places.tolist(), "cases": cases}, indent=1
        )
        file.write_text(text + "\n")


if __name__ == "__main__":
    main()
