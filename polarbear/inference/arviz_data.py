"""The draws of a posterior as the data structures of xarray and ArviZ."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from polarbear.errors import MissingExtraError

if TYPE_CHECKING:
    import xarray

    from polarbear.inference.posterior_draws import Posterior

GROUP = "posterior"  # the group in which ArviZ expects draws
PAIR = "pair"  # a dimension, with the coordinates FIRST and SECOND
FIRST = "first"
SECOND = "second"


def in_groups(data: xarray.Dataset) -> Any:
    """ArviZ's InferenceData, or the DataTree that replaces it from ArviZ 1 on."""
    try:
        import arviz
        import xarray
    except ImportError as error:
        raise MissingExtraError("ArviZ's data", error.name or "arviz", "arviz") from None
    if hasattr(arviz, "InferenceData"):
        return arviz.InferenceData(posterior=data)
    return xarray.DataTree.from_dict({GROUP: data})


def as_dataset(posterior: Posterior) -> xarray.Dataset:
    """The draws as theta[chain, draw, time, algorithm], with the hyperparameters.

    If duels do not follow from theta, wins[chain, draw, time, pair] is the probability that the
    first of a pair beats the second; ``first`` and ``second`` name the two of each pair. Draws that
    are no Markov chains are stored as one chain, so that ArviZ computes no R-hat between chains.
    """
    try:
        import xarray
    except ImportError:
        raise MissingExtraError("ArviZ's data", "xarray", "arviz") from None
    chains = posterior.chains if posterior.has_chains else 1

    def by_chain(draws: np.ndarray) -> np.ndarray:
        return draws.reshape(chains, -1, *draws.shape[1:])

    dimensions = ("chain", "draw", "time")
    variables: dict[str, tuple[tuple[str, ...], np.ndarray]] = {
        "theta": ((*dimensions, "algorithm"), by_chain(posterior.theta))
    }
    coordinates: dict[str, object] = {
        "chain": np.arange(chains),
        "draw": np.arange(posterior.draws // chains),
        "time": posterior.times,
        "algorithm": list(posterior.algorithms),
    }
    if posterior.wins is not None:
        variables["wins"] = ((*dimensions, PAIR), by_chain(posterior.wins))
        pairs = list(combinations(posterior.algorithms, 2))
        coordinates[PAIR] = [f"{a} vs {b}" for a, b in pairs]
        coordinates[FIRST] = (PAIR, [a for a, _ in pairs])
        coordinates[SECOND] = (PAIR, [b for _, b in pairs])
    for name, draws in posterior.hyper.items():
        variables[name] = (("chain", "draw"), by_chain(draws))
    return xarray.Dataset(
        variables,
        coords=coordinates,
        attrs={
            "inference_library": "polarbear",
            "model": posterior.model,
            "engine": posterior.engine,
            "method": posterior.method,
            "draws_are": "Markov chains" if posterior.has_chains else "independent",
            "warning": "; ".join(posterior.diagnostics.warnings),
            "seed": posterior.seed,
            "axis": posterior.axis,
            "instances": posterior.instances,
            "evidence_weight": posterior.evidence_weight,
        },
    )
