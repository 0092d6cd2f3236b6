"""Posteriors for ArviZ: draws with named coordinates, as NetCDF or Zarr."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from pydantic import Field

from polarbear.errors import MissingExtraError
from polarbear.formats import base
from polarbear.inference.arviz_data import FIRST, GROUP, PAIR, SECOND, as_dataset
from polarbear.selection.posterior_source import find_basis
from polarbear.store import StoreOnDisk
from polarbear.wording import counted

if TYPE_CHECKING:
    import xarray


class ArviZExport(base.Export):
    """A posterior as NetCDF (.nc) or Zarr (.zarr)."""

    endings: ClassVar[tuple[str, ...]] = (".nc", ".zarr")
    read_by: ClassVar[str] = "ArviZ, xarray"
    writes_runs: ClassVar[bool] = False

    model: str | None = Field(
        None, description="of this model; by default the race's, or that of the default model"
    )
    key: str | None = Field(None, description="the posterior of this key")

    def write(self, store: StoreOnDisk, algorithms: tuple[str, ...], path: Path) -> base.Written:
        posterior = find_basis(store, self.model, self.key).posterior
        names = [name for name in posterior.algorithms if name in algorithms]
        data = _subset(as_dataset(posterior), names)
        needed = "h5netcdf" if path.suffix == ".nc" else "zarr"
        if find_spec(needed) is None:
            raise MissingExtraError(f"writing {path.suffix}", needed, "arviz")
        if path.suffix == ".nc":
            data.to_netcdf(path, group=GROUP, engine="h5netcdf")
        else:
            data.to_zarr(path, group=GROUP, zarr_format=2)
        draws = counted(posterior.draws, "draw")
        summary = f"{draws} of the model {posterior.model} (key {posterior.key})"
        return base.Written(summary, posterior.diagnostics.warnings)


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
