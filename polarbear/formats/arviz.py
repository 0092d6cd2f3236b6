"""Posteriors for ArviZ: draws with named coordinates, as NetCDF or Zarr."""

from __future__ import annotations

from importlib.util import find_spec
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from pydantic import Field

from polarbear.errors import MissingExtraError
from polarbear.formats import base
from polarbear.inference import Posterior
from polarbear.selection.posterior_source import find_basis
from polarbear.store import StoreOnDisk
from polarbear.wording import counted

if TYPE_CHECKING:
    import xarray

GROUP = "posterior"  # the group in which ArviZ expects draws
PAIR = "pair"
FIRST = "first"
SECOND = "second"


class ArviZExport(base.Export):
    """A posterior as NetCDF (.nc) or Zarr (.zarr)."""

    endings: ClassVar[tuple[str, ...]] = (".nc", ".zarr")
    read_by: ClassVar[str] = "ArviZ, xarray"

    model: str | None = Field(
        None, description="of this model; by default the race's, or that of the default model"
    )
    key: str | None = Field(None, description="the posterior of this key")

    def write(self, store: StoreOnDisk, algorithms: tuple[str, ...], path: Path) -> base.Written:
        basis = find_basis(store, self.model, self.key)
        data = as_dataset(
            basis.posterior, basis.algorithms, basis.times, basis.axis, basis.instances
        )
        data = _subset(data, [name for name in basis.algorithms if name in algorithms])
        needed = "h5netcdf" if path.suffix == ".nc" else "zarr"
        if find_spec(needed) is None:
            raise MissingExtraError(f"writing {path.suffix}", needed, "arviz")
        if path.suffix == ".nc":
            data.to_netcdf(path, group=GROUP, engine="h5netcdf")
        else:
            data.to_zarr(path, group=GROUP, zarr_format=2)
        draws = counted(basis.posterior.n_draws, "draw")
        return base.Written(f"{draws} of the model {basis.posterior.model} (key {basis.key})")


def _subset(data: xarray.Dataset, names: list[str]) -> xarray.Dataset:
    """The same data for some algorithms and the pairs of these."""
    data = data.sel(algorithm=names)
    if PAIR not in data.dims:
        return data
    has_both = data[FIRST].isin(names) & data[SECOND].isin(names)
    kept_pairs = np.flatnonzero(has_both.values)
    if not len(kept_pairs):
        return data.drop_dims(PAIR)
    return data.isel({PAIR: kept_pairs})


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


def as_dataset(
    posterior: Posterior,
    algorithms: tuple[str, ...],
    times: np.ndarray,
    axis: str,
    instances: int | None,
) -> xarray.Dataset:
    """The draws as theta[chain, draw, time, algorithm], with the hyperparameters.

    If duels do not follow from theta, wins[chain, draw, time, pair] is the probability that the
    first of a pair beats the second; ``first`` and ``second`` name the algorithms of each pair.
    """
    try:
        import xarray
    except ImportError:
        raise MissingExtraError("ArviZ's data", "xarray", "arviz") from None
    chains = posterior.chains

    def by_chain(draws: np.ndarray) -> np.ndarray:
        return draws.reshape(chains, -1, *draws.shape[1:])

    axes = ("chain", "draw", "time")
    variables: dict[str, tuple[tuple[str, ...], np.ndarray]] = {
        "theta": ((*axes, "algorithm"), by_chain(posterior.theta))
    }
    pair_coordinates: dict[str, object] = {}
    if posterior.wins is not None:
        variables["wins"] = ((*axes, PAIR), by_chain(np.asarray(posterior.wins)))
        pairs = list(combinations(algorithms, 2))
        pair_coordinates = {
            PAIR: [f"{a} vs {b}" for a, b in pairs],
            FIRST: (PAIR, [a for a, _ in pairs]),
            SECOND: (PAIR, [b for _, b in pairs]),
        }
    for name, draws in posterior.hyper.items():
        variables[name] = (("chain", "draw"), by_chain(draws))
    attributes = {
        "inference_library": "polarbear",
        "model": posterior.model,
        "engine": posterior.engine,
        "method": posterior.method,
        "seed": posterior.seed,
        "axis": axis,
        "instances": instances,
        "evidence_weight": posterior.evidence_weight,
    }
    return xarray.Dataset(
        variables,
        coords={
            "chain": np.arange(chains),
            "draw": np.arange(posterior.n_draws // chains),
            "time": times,
            "algorithm": list(algorithms),
            **pair_coordinates,
        },
        attrs={name: value for name, value in attributes.items() if value is not None},
    )
