"""Posteriors for ArviZ: the same draws under the same names."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

import polarbear as pb
from polarbear.errors import ExportFailedError, MissingExtraError, SelectionError
from polarbear.formats import arviz as exporting
from polarbear.inference import posterior_draws
from polarbear.selection.posterior_source import find_basis
from polarbear.store import StoreOnDisk
from tests.formats.helpers import numbered_store


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> pb.Store:
    store = pb.open(numbered_store(tmp_path_factory.mktemp("stores") / "s").path)
    store.infer("random-walk", draws=2000)
    return store


@pytest.mark.peer
@pytest.mark.slow
def test_arviz_reads_the_draws_from_netcdf_and_xarray_from_zarr(store: pb.Store, tmp_path: Path):
    import arviz
    import xarray

    store.export("arviz", tmp_path / "p.nc", model="random-walk")
    from_netcdf = arviz.from_netcdf(tmp_path / "p.nc").posterior
    posterior = store.infer("random-walk", draws=2000)
    assert posterior.facts().from_store
    assert from_netcdf["theta"].dims == ("chain", "draw", "time", "algorithm")
    assert from_netcdf.sizes["chain"] == posterior.chains > 1
    assert from_netcdf.attrs["draws_are"] == "Markov chains"
    theta = from_netcdf["theta"].to_numpy().reshape(posterior.theta.shape)
    assert np.array_equal(theta, posterior.theta)
    assert from_netcdf["time"].to_numpy().tolist() == posterior.times.tolist()
    assert from_netcdf["algorithm"].to_numpy().tolist() == list(posterior.algorithms)
    for name, draws in posterior.hyper.items():
        assert np.array_equal(from_netcdf[name].to_numpy().ravel(), draws)
    assert from_netcdf.attrs["model"] == "random-walk"
    assert from_netcdf.attrs["axis"] == "evaluations"
    store.export("arviz", tmp_path / "p.zarr", model="random-walk")
    from_zarr = xarray.open_zarr(tmp_path / "p.zarr", group="posterior", consolidated=False)
    assert np.array_equal(from_zarr["theta"], from_netcdf["theta"])


@pytest.mark.peer
def test_arviz_reads_the_duels_of_an_empirical_posterior(tmp_path: Path):
    import arviz

    positions = np.random.default_rng(3).permuted(np.tile(np.arange(3.0), (9, 1)), axis=1)
    rows = [
        (f"i{i}", t, a, p)
        for i, row in enumerate(positions)
        for a, p in zip("ABC", row, strict=True)
        for t in (1.0, 2.0)
    ]
    lines = [",".join(map(str, row)) for row in rows]
    (tmp_path / "r.csv").write_text("\n".join(["instance,t,algorithm,position", *lines]))
    store = pb.import_data(tmp_path / "r.csv", tmp_path / "s", "rankings")
    store.infer("empirical", draws=1000)
    store.export("arviz", tmp_path / "p.nc")
    draws = arviz.from_netcdf(tmp_path / "p.nc").posterior
    wins = draws["wins"]
    assert wins.dims == ("chain", "draw", "time", "pair")
    assert wins.sizes["chain"] == 1  # draws of a bootstrap are no chains
    assert (draws.attrs["draws_are"], draws.attrs["warning"]) == ("independent", "")
    assert wins["pair"].to_numpy().tolist() == ["A vs B", "A vs C", "B vs C"]
    assert wins["first"].to_numpy().tolist() == ["A", "A", "B"]
    assert wins["second"].to_numpy().tolist() == ["B", "C", "C"]
    assert wins["time"].to_numpy().tolist() == [1, 2]
    posterior = find_basis(StoreOnDisk.open(tmp_path / "s")).posterior
    for k, (a, b) in enumerate(((0, 1), (0, 2), (1, 2))):
        wins_of_pair = wins.isel(pair=k).to_numpy().reshape(posterior.draws, 2)
        assert np.array_equal(wins_of_pair, posterior.head_to_head(a, b))
    store.export("arviz", tmp_path / "two.nc", algorithms=["A", "C"])
    of_two = arviz.from_netcdf(tmp_path / "two.nc").posterior
    assert of_two["pair"].to_numpy().tolist() == ["A vs C"]
    assert np.array_equal(of_two["wins"].to_numpy(), wins.isel(pair=[1]).to_numpy())
    store.export("arviz", tmp_path / "one.nc", algorithms=["A"])
    assert "wins" not in arviz.from_netcdf(tmp_path / "one.nc").posterior


@pytest.mark.peer
def test_the_warning_about_a_posterior_that_failed_its_checks_goes_with_it(tmp_path, monkeypatch):
    import arviz

    store = pb.open(numbered_store(tmp_path / "s").path)
    store.infer("dirichlet", draws=2000)
    monkeypatch.setattr(posterior_draws, "MIN_ESS", 1e9)
    (bulk, tail) = store.export("arviz", tmp_path / "p.nc", model="dirichlet").notes
    assert bulk.startswith("do not trust this posterior: bulk ESS is")
    assert arviz.from_netcdf(tmp_path / "p.nc").posterior.attrs["warning"] == f"{bulk}; {tail}"


@pytest.mark.peer
def test_an_export_to_arviz_that_fails_names_the_reason(store, tmp_path, monkeypatch):
    with pytest.raises(ExportFailedError, match=r"ends in \.nc or \.zarr, found 'p\.txt'"):
        store.export("arviz", tmp_path / "p.txt")
    with pytest.raises(SelectionError, match="random-walk"):
        new = pb.open(numbered_store(tmp_path / "s").path)
        new.export("arviz", tmp_path / "p.nc", model="random-walk")
    real = importlib.util.find_spec
    monkeypatch.setattr(
        exporting, "find_spec", lambda name: None if name == "h5netcdf" else real(name)
    )
    with pytest.raises(MissingExtraError, match="'h5netcdf', .* install the extra 'arviz'"):
        store.export("arviz", tmp_path / "p.nc")
